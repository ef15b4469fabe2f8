"""What tells calls of an array program apart, without describing their arguments.

Comes in: an argument of a call. Goes out: a key, the same for arguments that the same code takes, and the arrays and
slots that the code is given. Read next: `pykern.program.arguments`, the long way, which a kind goes once.
"""

from __future__ import annotations

import dataclasses
import functools
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from pykern.errors import LaunchError
from pykern.launching.complex_arguments import parts_of


def kind_of(value: Any) -> Any:
    """What the code depends on of an argument; None where the long way has to look at it."""
    kind = type(value)
    if kind is np.ndarray:
        order = order_of(value)
        return (value.dtype, value.shape) if order is None else (value.dtype, value.shape, order)
    if kind is int and not -(2**63) <= value < 2**63:
        return None
    if kind in (float, int, bool):
        return kind
    if getattr(kind, "__pykern_array__", False) and value.device_name != "cpu":
        return (value.dtype, value.shape, value.device_name, value.contiguous, value._facts or _facts(value))
    items = _items_of(kind)
    if items is None:
        return None
    inner = [kind_of(item) for item in items(value)]
    if None in inner:
        return None
    return (kind, *value, None, *inner) if kind is dict else (kind, *inner)


def leaf_values(args: Iterable[Any]) -> Iterator[Any]:
    """The arrays, and the bits of the Python numbers, in the order of the flattened arguments."""
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            yield value if value.dtype.kind != "c" else parts_of(value)
        elif getattr(kind, "__pykern_array__", False):
            yield value
        elif kind is float:
            yield _AS_INTEGER(_AS_BYTES(value))[0]
        elif (items := _items_of(kind)) is not None:
            yield from leaf_values(items(value))
        elif not -(2**63) <= value < 2**63:
            raise LaunchError(f"the argument {value} needs more than 64 bits", hint="pass a float")
        else:
            yield int(value)


def order_of(array: np.ndarray) -> tuple[int, ...] | None:
    """The axes of an array whose elements lie densely in another order than C's, the fastest last; None for others."""
    if array.flags.c_contiguous or not array.flags.aligned:
        return None
    strides, shape = array.strides, array.shape
    order = tuple(sorted(range(array.ndim), key=lambda axis: (shape[axis] != 1, -strides[axis])))
    step = array.itemsize
    for axis in reversed(order):
        if shape[axis] != 1:
            if strides[axis] != step:
                return None
            step *= shape[axis]
    return order


@functools.lru_cache(256)
def _items_of(kind: type) -> Callable[[Any], Iterable[Any]] | None:
    """What gives the parts of a tuple, list, dict or dataclass; None for other types."""
    if kind is dict:
        return dict.values
    if kind is list or issubclass(kind, tuple):
        return iter
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        return lambda value: [getattr(value, name) for name in names]
    return None


def _facts(array: Any) -> Any:
    from pykern.launching.device_kinds import facts

    return facts(array)


_AS_BYTES, _AS_INTEGER = struct.Struct("<d").pack, struct.Struct("<q").unpack
