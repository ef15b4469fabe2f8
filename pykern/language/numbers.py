"""Functions of numbers, which work element by element on arrays."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from pykern.language.builtin import builtin
from pykern.runtime import reference, reference_mathematics
from pykern.runtime.reference_elementwise import on_arrays
from pykern.types import DType


def _counts(function: Callable) -> Callable:
    """Arrays of counts of bits hold bytes, as NumPy's."""
    return on_arrays(function, "u1")


@builtin
@on_arrays
def cast(x: Any, dtype: DType) -> Any:
    """`x` as `dtype`: float to integer truncates, saturates, NaN gives 0; integers wrap."""
    return reference.cast(x, dtype)


@builtin
@on_arrays
def bitcast(x: Any, dtype: DType) -> Any:
    """The bits of `x` read as a `dtype` of the same size: ``pk.bitcast(x, pk.u32)`` of an f32, as ``x.view(np.uint32)``
    in NumPy. Raises `KernelTypeError` for types of different sizes, for bool, and for Python's numbers, which have no
    size. A float read as its bits has no derivative.
    """
    return reference.bitcast(x, dtype)


@builtin
@on_arrays
def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where `condition` holds, else `b`, both in their common type."""
    return reference.where(condition, a, b)


@builtin
@on_arrays
def minimum(*values: Any) -> Any:
    """The least of two or more numbers, in their common type; NaN wins. Arrays: element by element."""
    return reference.extremum(values, "minimum")


@builtin
@on_arrays
def maximum(*values: Any) -> Any:
    """The greatest of two or more numbers, in their common type; NaN wins. Arrays: element by element."""
    return reference.extremum(values, "maximum")


@builtin
def clamp(x: Any, low: Any, high: Any) -> Any:
    """`x` brought into `low` .. `high`, in their common type; NaN stays."""
    return minimum(maximum(x, low), high)


@builtin
def cdiv(a: Any, b: Any) -> Any:
    """``a / b`` of integers, rounded up, in their common type."""
    return a // b + (a % b != 0)


@builtin
@_counts
def popcount(x: Any) -> int:
    """Number of bits set in an integer, as an integer."""
    return (builtins.int(x) & ((1 << reference.bits_of(x)) - 1)).bit_count()


@builtin
@_counts
def clz(x: Any) -> int:
    """Number of zero bits before the first one of an integer; its width for 0."""
    width = reference.bits_of(x)
    return width - (builtins.int(x) & ((1 << width) - 1)).bit_length()


def _define_mathematics() -> None:
    for name, text in reference_mathematics.MATHEMATICS.items():

        def function(*args: Any, _name: str = name) -> Any:
            return reference_mathematics.apply(_name, args)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = text
        globals()[name] = builtin(on_arrays(function))


_define_mathematics()
