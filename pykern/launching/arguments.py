"""What a call passes, as specs for the compiler and slots for the code.

Comes in: the values of a call and the annotations of the kernel. Goes out: `Passed`, one a parameter.
Arrays are NumPy's, or anything that gives a NumPy view through DLPack without a copy.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

import numpy as np

from pykern.arrays.foreign import as_numpy, by_buffer, check_foreign, check_numpy, element_type, place
from pykern.data.records import record
from pykern.data.source import (
    COMPLEX,
    DICT,
    LIST,
    ArgSpec,
    ArraySpec,
    Constant,
    Parameter,
    ScalarSpec,
    StaticSpec,
    StructSpec,
    TypeName,
)
from pykern.errors import ARGUMENT_TYPE, ARRAY_MEMORY, DeviceError, KernelTypeError, LaunchError
from pykern.launching.complex_arguments import is_foreign_complex, number_parts, parts_of, refuse_annotated
from pykern.launching.foreign_kinds import learn
from pykern.launching.scalar_arguments import scalar
from pykern.runtime.graph import current_graph
from pykern.runtime.other_libraries import is_opencl_array, is_opencl_memory
from pykern.types import (
    ArrayAnnotation,
    DType,
    IntentAnnotation,
    from_numpy,
    named_type,
    static,
)

MAX_RANK = 8

Places = Callable[[str, Any], "np.ndarray | None"]
"""Gives the array that stands for a value of a call, None for what is no array."""


@record
class Passed:
    """A parameter with its value: the spec, the arrays in it, and the slots they and scalars fill."""

    parameter: Parameter
    slots: tuple[int, ...]
    arrays: tuple[np.ndarray, ...] = field(compare=False, default=())


def pass_value(
    name: str,
    value: Any,
    annotation: Any,
    places: Places | None = None,
    aligned: bool = True,
    trees: bool = False,
) -> Passed:
    """Describe one argument; `places` finds arrays for another device than the CPU. Elements have to be `aligned`
    where the code takes arrays as they are. `trees`: lists and dicts of arrays are taken, too.

    Raises `KernelTypeError`, `LaunchError` or `DeviceError`.
    """
    reads = writes = True
    if isinstance(annotation, IntentAnnotation):
        reads, writes, annotation = annotation.reads, annotation.writes, annotation.of
    if annotation is static:
        return Passed(Parameter(name, StaticSpec(_static_value(name, value))), ())
    spec, slots, arrays = _describe(name, value, annotation, places or is_on_cpu, aligned, trees)
    converts = isinstance(spec, ScalarSpec) and isinstance(annotation, DType)
    lengths = annotation.shape if isinstance(annotation, ArrayAnnotation) else ()
    if not any(isinstance(length, int) for length in lengths):
        lengths = ()
    return Passed(Parameter(name, spec, reads, writes, converts, lengths), tuple(slots), tuple(arrays))


def _describe(
    name: str, value: Any, annotation: Any, places: Places, aligned: bool, trees: bool
) -> tuple[ArgSpec, list[int], list[np.ndarray]]:
    if is_foreign_complex(value):
        value = is_array(name, value)
    parts = parts_of(value)
    array = places(name, parts)
    if array is not None and parts is not value:
        refuse_annotated(name, annotation)
        spec = _array_spec(name, array, None, aligned)
        return StructSpec(COMPLEX, (("parts", spec),)), _array_slots(array, spec), [array]
    if array is not None:
        spec = _array_spec(name, array, annotation, aligned)
        return spec, _array_slots(array, spec), [array]
    if isinstance(annotation, ArrayAnnotation):
        raise KernelTypeError(
            f"`{name}` is annotated {annotation!r}, and {_kind(value)} is passed",
            hint=f"pass an array: np.asarray({name}, np.{annotation.dtype.numpy.name})",
            code=ARGUMENT_TYPE,
        )
    if (numbers := number_parts(value)) is not None:
        refuse_annotated(name, annotation)
        found = [(n, scalar(name, part, None)) for n, part in zip(("real", "imag"), numbers, strict=True)]
        known = [(n, number) for n, number in found if number is not None]
        specs = tuple((n, ScalarSpec(dtype.name)) for n, (dtype, _) in known)
        return StructSpec(COMPLEX, specs), [bits for _, (_, bits) in known], []
    number = scalar(name, value, annotation)
    if number is not None:
        return ScalarSpec(number[0].name), [number[1]], []
    fields = fields_of(value, trees)
    if fields is None:
        raise KernelTypeError(
            f"`{name}` is {_kind(value)}, which {'an array program' if trees else 'a kernel'} cannot take",
            hint=_instead(name, value, trees),
            code=ARGUMENT_TYPE,
        )
    specs, slots, arrays = [], [], []
    for field_name, item in fields:
        inner, inner_slots, inner_arrays = _describe(
            f"{name}.{field_name}", item, None, places, aligned, trees
        )
        specs.append((field_name, inner))
        slots += inner_slots
        arrays += inner_arrays
    return StructSpec(struct_name(value), tuple(specs)), slots, arrays


# -- arrays -----------------------------------------------------------------------------------


def is_array(name: str, value: Any) -> Any | None:
    """The NumPy array that a value is or gives a view as; itself where it lies elsewhere; None for others."""
    if isinstance(value, np.ndarray):
        check_numpy(name, value)
        if type(value) is not np.ndarray:
            learn(value)
        return value
    if isinstance(value, _NO_ARRAYS):
        return None
    if getattr(value, "__pykern_array__", False):
        return _in_memory(value) if value.device_name == "cpu" else value
    if hasattr(value, "__dlpack__"):
        if place(name, value)[0] != _DLPACK_CPU:
            return value
        array = as_numpy(name, value)
    elif hasattr(type(value), "__cuda_array_interface__"):
        check_foreign(name, value)
        return value
    elif is_opencl_array(value) or is_opencl_memory(value):
        return value
    else:
        array = by_buffer(name, value)
    if array is not None:
        learn(value)
    return array


def _in_memory(array: Any) -> np.ndarray:
    """A `pk.Array` on the CPU as NumPy's. Where launches are recorded nothing is read, and so nothing waited for."""
    memory = array.host if current_graph() is not None else None
    return array.numpy() if memory is None else memory


_NO_ARRAYS = (np.generic, int, float, str, tuple, list, dict, type(None))


def is_on_cpu(name: str, value: Any) -> np.ndarray | None:
    """The array of a launch on the CPU. Raises `DeviceError` for one that lies elsewhere."""
    array = is_array(name, value)
    if array is None or isinstance(array, np.ndarray):
        return array
    home = homes([(name, value)])
    place = f"on {home[name]}" if name in home else "outside of the CPU's memory"
    raise DeviceError(
        f"`{name}` lies {place}, and this launch runs on the CPU", hint="copy it to the host first"
    )


_DLPACK_CPU = 1
_DLPACK_DEVICES = {2: "cuda", 10: "rocm"}


def homes(values: list[tuple[str, Any]]) -> dict[str, str]:
    """The devices, other than the CPU, that the arrays of a call live on, by the names of their parameters."""
    found: dict[str, str] = {}
    for name, value in values:
        kind = type(value)
        if kind is np.ndarray or kind is float or kind is int or isinstance(value, np.ndarray):
            continue
        if getattr(value, "__pykern_array__", False):
            if value.device_name != "cpu":
                found[name] = value.device_name
        elif hasattr(value, "__dlpack_device__"):
            where, number = place(name, value)
            if where in _DLPACK_DEVICES:
                found[name] = f"{_DLPACK_DEVICES[where]}:{number}"
        elif hasattr(kind, "__cuda_array_interface__"):  # of the type: asking the value may raise
            check_foreign(name, value)
            found[name] = "cuda:0"
        elif is_opencl_array(value) or is_opencl_memory(value):
            from pykern.arrays.opencl import opencl_home  # here: seldom

            found[name] = opencl_home(name, value)
        elif (fields := fields_of(value, trees=True)) is not None:
            found |= homes([(f"{name}.{inner}", item) for inner, item in fields])
    return found


def _array_spec(name: str, array: np.ndarray, annotation: Any, aligned: bool) -> ArraySpec:
    dtype = element_type(name, array.dtype)
    if array.ndim > MAX_RANK:
        raise KernelTypeError(
            f"`{name}` has {array.ndim} dimensions; kernels take up to {MAX_RANK}",
            hint="reshape it: neighbouring dimensions can be one",
            code=ARGUMENT_TYPE,
        )
    _check_annotation(name, array, dtype, annotation)
    if aligned and (any(stride % array.itemsize for stride in array.strides) or not array.flags.aligned):
        raise LaunchError(
            f"`{name}` has elements that are not aligned to {array.itemsize} bytes (strides {array.strides})",
            hint=f"copy it: np.ascontiguousarray({name})",
            code=ARRAY_MEMORY,
        )
    return ArraySpec(dtype.name, (None,) * array.ndim, not array.flags.c_contiguous)


def _check_annotation(name: str, array: np.ndarray, dtype: DType, annotation: Any) -> None:
    if annotation is None:
        return
    if not isinstance(annotation, ArrayAnnotation):
        raise KernelTypeError(
            f"`{name}` is annotated {getattr(annotation, '__name__', annotation)}, and an array is passed",
            hint=f"pass a number, or annotate it as an array, as in pk.{dtype.name}[:]",
            code=ARGUMENT_TYPE,
        )
    passed = f"{dtype.name}{list(array.shape)}"
    if dtype != annotation.dtype:
        raise KernelTypeError(
            f"`{name}` is annotated {annotation!r}, and {passed} is passed",
            hint=f"pass an array of that type: {name} = {name}.astype(np.{annotation.dtype.numpy.name})",
            code=ARGUMENT_TYPE,
        )
    if array.ndim != len(annotation.shape):
        raise KernelTypeError(
            f"`{name}` is annotated {annotation!r}, and {passed} has {array.ndim} dimension{'s' * (array.ndim != 1)}",
            hint="pass an array of as many dimensions, or change the annotation",
            code=ARGUMENT_TYPE,
        )
    if any(
        want is not None and want != have for want, have in zip(annotation.shape, array.shape, strict=True)
    ):
        raise KernelTypeError(
            f"`{name}` is annotated {annotation!r}, and {passed} is passed",
            hint="pass an array of these lengths, or write `:` where any length will do",
            code=ARGUMENT_TYPE,
        )


def _array_slots(array: np.ndarray, spec: ArraySpec) -> list[int]:
    slots = [array.ctypes.data, *array.shape]
    if spec.strided:
        slots += [stride // array.itemsize for stride in array.strides]
    return slots


def on_host(name: str, value: Any, trees: bool = False) -> Any:
    """The value with the arrays in it as NumPy sees them; itself where there is nothing to change."""
    array = is_array(name, value)
    if array is not None:
        return array
    fields = fields_of(value, trees)
    made = [on_host(f"{name}.{inner}", item, trees) for inner, item in fields or ()]
    if fields is None or all(a is b for a, (_, b) in zip(made, fields, strict=True)):
        return value
    if dataclasses.is_dataclass(value):
        changed = copy.copy(value)
        for (inner, _), item in zip(fields, made, strict=True):
            object.__setattr__(changed, inner, item)
        return changed
    if isinstance(value, dict):
        return dict(zip(value, made, strict=True))
    return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)


# -- structs and statics ------------------------------------------------------------------------


def fields_of(value: Any, trees: bool) -> list[tuple[str, Any]] | None:
    """The parts of a tuple or a dataclass, with their names; `trees`: also of a list or a dict. Else None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or tuple(str(n) for n in range(len(value)))
        return list(zip(names, value, strict=True))
    return _tree(value) if trees else None


def struct_name(value: Any) -> str:
    """What a `StructSpec` calls a tuple, a dataclass, a list or a dict."""
    return {list: LIST, dict: DICT}.get(type(value), type(value).__name__)


def _tree(value: Any) -> list[tuple[str, Any]] | None:
    """The parts of a list or a dict; a list of mere numbers, or of such lists, was meant as an array."""
    if type(value) is list and not _was_array(value):
        return [(str(n), item) for n, item in enumerate(value)]
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return list(value.items())
    return None


def _was_array(value: list) -> bool:
    return all(isinstance(v, int | float | str) or (type(v) is list and _was_array(v)) for v in value)


def _static_value(name: str, value: Any) -> object:
    if isinstance(value, np.generic):
        dtype = from_numpy(value.dtype)
        return Constant(value.item(), dtype.name if dtype else "")
    if isinstance(value, tuple):
        return tuple(_static_value(name, item) for item in value)
    if value is None or type(value) in (bool, int, float, str):
        return value
    if (dtype := named_type(value)) is not None:
        return TypeName(dtype.name)
    raise KernelTypeError(
        f"`{name}` is static, and {_kind(value)} is passed",
        hint="pass a number, a string, a type of numbers or a tuple",
        code=ARGUMENT_TYPE,
    )


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, list | dict | set):
        return f"a {type(value).__name__}"
    if isinstance(value, str):
        return f"the string {value!r}"
    return f"a value of type {type(value).__name__}"


def _instead(name: str, value: Any, trees: bool) -> str:
    if isinstance(value, list):
        is_whole = bool(value) and all(isinstance(item, int) for item in value)
        return f"pass an array: np.array({name}, np.{'int64' if is_whole else 'float32'})"
    if isinstance(value, (complex, np.complexfloating)):
        return f"pass {name}.real and {name}.imag"
    if isinstance(value, np.floating):
        return f"pass float({name}), which has 53 of its bits"
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return f"pass its number: {name}.astype(np.int64)"
    if "." in name:  # a field of a dataclass
        return "pass what holds arrays and numbers alone"
    if isinstance(value, str) or value is None:
        return f"pass a number, or annotate it as known when compiling: {name}: pk.static"
    if trees and isinstance(value, dict):
        return "let its keys be strings"
    more = ", lists and dicts" if trees else ""
    return f"pass NumPy arrays (np.asarray), numbers, or named tuples and dataclasses{more} of them"


# -- overlap ----------------------------------------------------------------------------------


def arrays_of(passed: list[Passed]) -> Iterator[tuple[str, np.ndarray]]:
    """Every array with the name of its parameter, in the order of the flattened arguments."""
    for item in passed:
        for array in item.arrays:
            yield item.parameter.name, array
