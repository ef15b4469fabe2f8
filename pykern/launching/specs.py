"""Arguments that are only described: `pk.spec`, dtypes, and structures of these.

Comes in: what is given to `lower` in place of arrays and numbers. Goes out: parameters as real values have them
(`pykern.launching.arguments`). Nothing here needs a device or data.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.arrays.creation import from_dlpack
from pykern.data.source import COMPLEX, ArgSpec, ArraySpec, Parameter, ScalarSpec, StructSpec
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import KernelTypeError
from pykern.launching.arguments import fields_of, is_array, pass_value, struct_name
from pykern.types import ArrayAnnotation, DType, IntentAnnotation, complex_type, named_type

LONGEST = 2**63 - 1
"""Elements of a dimension: an index counts them."""


@dataclass(frozen=True)
class Spec:
    """An array that is only described: element type and lengths; a name or None is a length known at launch."""

    shape: tuple[int | str | None, ...]
    dtype: DType
    layout: str = "C"

    def __repr__(self) -> str:
        kind = f"np.complex{self.dtype.bits}" if self.dtype.kind == "c" else f"pk.{self.dtype.name}"
        return f"pk.spec({self.shape!r}, {kind})"


@at_users_line
def spec(shape: int | str | tuple[int | str | None, ...] | None, dtype: Any, layout: str = "C") -> Spec:
    """Describe an array argument for `Kernel.lower`: ``pk.spec((n, m), pk.f32)``, or with a dtype of NumPy.

    `layout` is ``"C"`` or ``"strided"``. Lengths given as integers are facts the compiler may use.
    """
    named = named_type(dtype) or complex_type(dtype)
    if named is None:
        raise KernelTypeError(f"pk.spec takes a dtype such as pk.f32, not {dtype!r}")
    if layout not in ("C", "strided"):
        raise KernelTypeError(f"a layout is 'C' or 'strided', not {layout!r}")
    lengths = shape if isinstance(shape, tuple) else (shape,)
    for length in lengths:
        if length is None or isinstance(length, str):
            continue
        if isinstance(length, bool) or not hasattr(type(length), "__index__"):
            raise KernelTypeError(
                f"{length!r} is no length", hint="a length is an integer, a name, or None where it is open"
            )
        if not 0 <= operator.index(length) <= LONGEST:
            raise KernelTypeError(f"a length is an integer in 0..{LONGEST}, not {length!r}")
    return Spec(lengths, named, layout)


def parameter(name: str, value: Any, annotation: Any) -> Parameter:
    """A parameter from a spec, a dtype (a scalar of that type) or a real value."""
    if not isinstance(value, Spec | DType):
        if holds_specs(value):
            return Parameter(name, spec_of(name, value, lambda n, v: parameter(n, v, None).spec))
        return pass_value(name, value, annotation, _only_described).parameter
    if isinstance(value, DType):
        return Parameter(name, spec_of(name, value, _no_leaf))
    inner = annotation.of if isinstance(annotation, IntentAnnotation) else annotation
    if isinstance(inner, ArrayAnnotation) and (
        inner.dtype != value.dtype or len(inner.shape) != len(value.shape)
    ):
        raise KernelTypeError(f"`{name}` is annotated {inner!r}, and {value!r} is given")
    reads = annotation.reads if isinstance(annotation, IntentAnnotation) else True
    writes = annotation.writes if isinstance(annotation, IntentAnnotation) else True
    return Parameter(name, spec_of(name, value, _no_leaf), reads, writes)


def holds_specs(value: Any, trees: bool = False) -> bool:
    """Whether a tuple or dataclass (`trees`: list or dict, too) has `pk.spec`s or dtypes somewhere in it."""
    if isinstance(value, Spec | DType):
        return True
    return any(holds_specs(item, trees) for _, item in fields_of(value, trees) or ())


def spec_of(name: str, value: Any, leaf: Callable[[str, Any], ArgSpec], trees: bool = False) -> ArgSpec:
    """What the compiler is told of `pk.spec`s, dtypes, and structures of these; `leaf` tells it of values."""
    if isinstance(value, Spec | DType) and value_type(value).kind == "c":
        return _complex_spec(value)
    if isinstance(value, DType):
        return ScalarSpec(value.name)
    if isinstance(value, Spec):
        shape = tuple(n if isinstance(n, int) else None for n in value.shape)
        return ArraySpec(value.dtype.name, shape, value.layout == "strided")
    fields = fields_of(value, trees)
    if fields is None:
        return leaf(name, value)
    inner = tuple((n, spec_of(f"{name}.{n}", item, leaf, trees)) for n, item in fields)
    return StructSpec(struct_name(value), inner)


def value_type(value: Spec | DType) -> DType:
    """The type of the elements, or of the number."""
    return value.dtype if isinstance(value, Spec) else value


def _complex_spec(value: Spec | DType) -> StructSpec:
    """A complex array as the array of its parts, a complex number as two numbers."""
    part = value_type(value).part
    if isinstance(value, DType):
        return StructSpec(COMPLEX, tuple((n, ScalarSpec(part.name)) for n in ("real", "imag")))
    shape = (*(n if isinstance(n, int) else None for n in value.shape), 2)
    return StructSpec(COMPLEX, (("parts", ArraySpec(part.name, shape, value.layout == "strided")),))


def _no_leaf(name: str, value: Any) -> ArgSpec:
    raise AssertionError(f"`{name}` is a pk.spec")


def _only_described(name: str, value: Any) -> Any:
    """An array of any device as NumPy describes it: nothing is read."""
    array = is_array(name, value)
    if array is None or isinstance(array, np.ndarray):
        return array
    return from_dlpack(array).geometry()
