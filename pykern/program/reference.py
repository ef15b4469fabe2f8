"""An array program on the reference device: the function itself, over NumPy; kernels inside run work-item by work-item.

Comes in: the function, the values of a call. Goes out: what the compiled program would give: fresh arrays, tuples.
Breakpoints, prints and exceptions are where the user wrote them. What differs, because it is Python that
computes: Python's own numbers stay Python's (ints do not wrap, ``1 / 0`` raises), a run-time index outside
raises IndexError, a slice is cut off at the end, an assert over numbers is tested, and nothing is donated.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.data.source import Parameter, ScalarSpec
from pykern.errors import DeviceError, KernelTypeError, LaunchError
from pykern.launching.arguments import on_host
from pykern.program.results import out_arrays
from pykern.runtime import reference
from pykern.runtime.devices import device
from pykern.runtime.reference_place import span_of
from pykern.runtime.reference_program import inside_program
from pykern.runtime.written import note_write, owner_of
from pykern.types import BY_NAME, from_numpy

_READ_ONLY = ("assignment destination is read-only", "output array is read-only")
"""What NumPy says."""


def run(
    function: Callable,
    values: list[tuple[str, Any]],
    parameters: list[Parameter],
    out: Any,
    derived: bool,
    debug: bool = False,
) -> Any:
    """Run a call. `parameters` tell what scalar annotations make of numbers."""
    if derived:
        raise DeviceError(
            "the reference device runs programs, not their derivatives",
            hint="compare with pk.check_grads, or differentiate on the CPU",
        )
    given = {name: _given(v, p) for (name, v), p in zip(values, parameters, strict=True)}
    views = [
        a for v in given.values() for a in _leaves(v) if isinstance(a, np.ndarray) and owner_of(a) is not None
    ]
    before = [view.tobytes() for view in views]
    try:
        with inside_program(debug), device("python"), np.errstate(all="ignore"):  # launches inside, too
            result = function(**given)
    except OverflowError as error:
        raise _of_integer(error) or error from None
    except ValueError as error:
        if str(error) not in _READ_ONLY:
            raise
        raise LaunchError(
            "an array that the program writes is read-only",
            span_of(error.__traceback__),
            "pass a copy: np.array(x)",
        ) from None
    finally:
        for view, bytes_before in zip(views, before, strict=True):
            if view.tobytes() != bytes_before:
                note_write(view)
    return _taken(result, [v for v in given.values() if isinstance(v, np.ndarray)], out)


def _of_integer(error: OverflowError) -> KernelTypeError | None:
    """NumPy's refusal of a Python integer that a type does not hold, as compiled programs tell it of constants."""
    found = re.fullmatch(r"Python integer (-?\d+) out of bounds for (\w+)", str(error))
    dtype = from_numpy(np.dtype(found[2])) if found is not None else None
    if found is None or dtype is None:
        return None
    low, high = int(np.iinfo(dtype.numpy).min), int(np.iinfo(dtype.numpy).max)
    made = reference.unfit(int(found[1]), dtype.name, low, high)
    made.span = span_of(error.__traceback__)
    return made


def _given(value: Any, parameter: Parameter) -> Any:
    """An argument as the program sees it."""
    if parameter.converts and isinstance(parameter.spec, ScalarSpec):
        return BY_NAME[parameter.spec.dtype].numpy.type(value)
    return on_host(parameter.name, value, trees=True)


def _taken(result: Any, arguments: list[np.ndarray], out: Any) -> Any:
    """The result as a compiled program gives it: no array shares memory with another one."""
    arrays = [leaf for leaf in _leaves(result) if isinstance(leaf, np.ndarray)]
    if out is None:
        known = list(arguments)
        made = [_fresh(array, known) for array in arrays]
        return _rebuilt(result, iter(made))
    count, dtypes = len(arrays), [array.dtype for array in arrays]
    targets = out_arrays(out, count, [array.shape for array in arrays], dtypes)
    for target, copied in zip(targets, [array.copy() for array in arrays], strict=True):
        np.copyto(target, copied)
    return _rebuilt(result, iter(targets))


def _fresh(array: np.ndarray, known: list[np.ndarray]) -> np.ndarray:
    owned = array.base is None and array.flags.c_contiguous and not any(array is other for other in known)
    made = array if owned else np.array(array, order="C")
    known.append(made)
    return made


def _items(value: Any) -> list[Any] | None:
    """The parts of a result that has parts."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, tuple | list):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return None


def _leaves(value: Any) -> list[Any]:
    items = _items(value)
    return [value] if items is None else [leaf for item in items for leaf in _leaves(item)]


def arrays_of(result: Any) -> list[np.ndarray]:
    """The arrays of a result, its numbers as arrays without dimensions."""
    return [np.asarray(leaf) for leaf in _leaves(result) if isinstance(leaf, ARRAY_LIKE)]


def with_arrays(result: Any, arrays: list[Any]) -> Any:
    """The result with other `arrays`, also for its numbers."""
    return _rebuilt(result, iter(arrays), ARRAY_LIKE)


ARRAY_LIKE = (np.ndarray, np.generic, float, int)


def _rebuilt(value: Any, arrays: Any, kinds: Any = np.ndarray) -> Any:
    """The result with other arrays; what has fields becomes a named tuple, as compiled programs return it."""
    items = _items(value)
    if items is None:
        return next(arrays) if isinstance(value, kinds) else value
    made = [_rebuilt(item, arrays, kinds) for item in items]
    if isinstance(value, dict):
        return dict(zip(value, made, strict=True))
    if isinstance(value, tuple | list):
        return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
    names = [field.name for field in dataclasses.fields(value)]
    return collections.namedtuple(type(value).__name__, names)(*made)
