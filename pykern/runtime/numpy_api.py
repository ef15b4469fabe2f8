"""Functions of NumPy's C API: their addresses, for compiled code and ctypes.

Places in its table never change (numpy/_core/code_generators/numpy_api.py).
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

SCALAR, NEW_FROM_DESCR, SET_HANDLER, DEFAULT_HANDLER = 60, 94, 304, 306


def address(place: int) -> int:
    """What stands at a place: the address of a function, or of a variable; 0 where there is nothing."""
    return _table()[place] or 0


@functools.cache
def _table() -> ctypes.Array:
    core = getattr(np, "_core", None) or getattr(np, "core")  # noqa: B009 - a deprecated name in NumPy 2
    capsule = core._multiarray_umath._ARRAY_API
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return (ctypes.c_void_p * (DEFAULT_HANDLER + 1)).from_address(pointer(capsule, None))


def handler_name(array: np.ndarray) -> str:
    """Whose memory an array has."""
    core = getattr(np, "_core", None) or getattr(np, "core")  # noqa: B009
    return core.multiarray.get_handler_name(array)
