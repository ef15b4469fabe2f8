"""Updates of an array that nothing comes between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykern.errors import KernelTypeError
from pykern.language.builtin import builtin
from pykern.language.numbers import maximum, minimum
from pykern.runtime import reference
from pykern.runtime.reference_elementwise import update_each
from pykern.types import DType


def _update(x: Any, index: Any, value: Any, change: Callable[[Any, Any], Any], bits: bool = False) -> Any:
    """One work-item runs at a time on the reference device: reading and writing is atomic.

    `value` takes the type of the elements first. Raises `KernelTypeError` for bool, and for floats where
    `bits` are combined.
    """
    import numpy as np

    dtype = x.dtype
    if dtype.kind == "b" or (bits and dtype.is_float):
        raise KernelTypeError(f"this atomic is not available for {dtype.name}")
    if isinstance(x, np.ndarray):
        return update_each(x, index, value, change)
    with np.errstate(all="ignore"):
        given = reference.fitted(value, dtype)
        return x.update(index, lambda old: change(old, given))


@builtin
def atomic_add(x: Any, index: Any, value: Any) -> Any:
    """``x[index] += value`` as one; gives the old value.

    `x` is an array argument or shared memory of integers or floats, `index` an int or a tuple; `value` is converted
    to the type of the elements. Integers wrap. There is no order among work-items, so float sums differ in their last
    bits. In array programs and tile kernels `index` and `value` are arrays, each element of which takes part, and
    nothing is given back; there `index` may also have tiles, and ``...`` for all axes that are left. Raises
    `KernelTypeError` for bool and fp8. The same holds for the other atomics.
    """
    return _update(x, index, value, lambda old, new: old + new)


@builtin
def atomic_sub(x: Any, index: Any, value: Any) -> Any:
    """``x[index] -= value``; gives the old value."""
    return _update(x, index, value, lambda old, new: old - new)


@builtin
def atomic_min(x: Any, index: Any, value: Any) -> Any:
    """``x[index] = min(x[index], value)``; gives the old value."""
    return _update(x, index, value, lambda old, new: minimum(old, new))


@builtin
def atomic_max(x: Any, index: Any, value: Any) -> Any:
    """``x[index] = max(x[index], value)``; gives the old value."""
    return _update(x, index, value, lambda old, new: maximum(old, new))


@builtin
def atomic_and_(x: Any, index: Any, value: Any) -> Any:
    """``x[index] &= value``; gives the old value. Integers only."""
    return _update(x, index, value, lambda old, new: old & new, bits=True)


@builtin
def atomic_or_(x: Any, index: Any, value: Any) -> Any:
    """``x[index] |= value``; gives the old value. Integers only."""
    return _update(x, index, value, lambda old, new: old | new, bits=True)


@builtin
def atomic_xor(x: Any, index: Any, value: Any) -> Any:
    """``x[index] ^= value``; gives the old value. Integers only."""
    return _update(x, index, value, lambda old, new: old ^ new, bits=True)


@builtin
def atomic_exchange(x: Any, index: Any, value: Any) -> Any:
    """``x[index] = value``; gives the old value."""
    return _update(x, index, value, lambda old, new: new)


@builtin
def atomic_compare_exchange(x: Any, index: Any, expected: Any, value: Any) -> Any:
    """Put `value` where `expected` stands (floats are compared by their bits); gives the old value."""
    return _update(x, index, value, lambda old, new: new if _same_bits(old, expected, x.dtype) else old)


def _same_bits(old: Any, expected: Any, dtype: DType) -> bool:
    return old.tobytes() == reference.fitted(expected, dtype).tobytes()
