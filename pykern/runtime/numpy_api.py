"""Functions of NumPy's C API: their addresses, for compiled code and ctypes.

Places in its table never change (numpy/_core/code_generators/numpy_api.py).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

FROM_FUNCTIONS = 1
"""The place of PyUFunc_FromFuncAndData in the table of universal functions."""
SCALAR, NEW_FROM_DESCR, SET_HANDLER, DEFAULT_HANDLER = 60, 94, 304, 306


def address(place: int) -> int:
    """What stands at a place: the address of a function, or of a variable; 0 where there is nothing."""
    return _table()[place] or 0


@functools.cache
def _table() -> ctypes.Array:
    return _cells("_ARRAY_API", DEFAULT_HANDLER + 1)


def _cells(name: str, count: int) -> ctypes.Array:
    """The first cells of one of NumPy's tables."""
    core = getattr(np, "_core", None) or getattr(np, "core")  # noqa: B009 - a deprecated name in NumPy 2
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return (ctypes.c_void_p * count).from_address(pointer(getattr(core._multiarray_umath, name), None))


_kept: list[tuple[Any, ...]] = []
"""What ufuncs point to: NumPy copies none of it, and nobody knows when a ufunc is the last of its kind."""


def new_ufunc(
    loops: Sequence[tuple[int, Any]], types: bytes, operands: int, identity: int, name: str, doc: str
) -> np.ufunc:
    """A universal function with one result. `loops` are addresses of inner loops with the ctypes objects whose
    addresses these are given; `types` are numbers of NumPy's dtypes, operands and result of one loop after those of
    another."""
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *[ctypes.c_void_p] * 3,
        *[ctypes.c_int] * 4,
        *[ctypes.c_char_p] * 2,
        ctypes.c_int,
    )(_cells("_UFUNC_API", FROM_FUNCTIONS + 1)[FROM_FUNCTIONS])
    functions = (ctypes.c_void_p * len(loops))(*(address for address, _ in loops))
    data = (ctypes.c_void_p * len(loops))(*(ctypes.addressof(given) for _, given in loops))
    kinds = ctypes.create_string_buffer(types, len(types))
    texts = ctypes.c_char_p(name.encode()), ctypes.c_char_p(doc.encode())
    _kept.append((functions, data, kinds, texts, loops))
    places = [ctypes.addressof(one) for one in (functions, data, kinds)]
    return make(*places, len(loops), operands, 1, identity, *texts, 0)


def handler_name(array: np.ndarray) -> str:
    """Whose memory an array has."""
    core = getattr(np, "_core", None) or getattr(np, "core")  # noqa: B009
    return core.multiarray.get_handler_name(array)
