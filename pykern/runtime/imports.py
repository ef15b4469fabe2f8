"""Addresses of what compiled code calls by name: Python's C API, libm, the C library. Each is looked up once.

Comes in: a name. Goes out: where it is in this process, as dlopen would find it.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

_found: dict[str, int] = {}


def address_of(name: str) -> int:
    """Where a function is. Raises OSError where this process has none of the name."""
    address = _found.get(name)
    if address is None:
        address = _found[name] = _looked_up(name)
    return address


def _looked_up(name: str) -> int:
    for library in (None, "libgcc_s.so.1"):  # the second has what compilers call for want of an instruction
        handle = _handle(library)
        address = 0 if handle is None else _dlsym()(handle._handle, name.encode())
        if address:
            return address
    raise OSError(f"compiled code calls `{name}`, which this process does not have")


@functools.cache
def _dlsym() -> Any:
    function = ctypes.CDLL(None).dlsym
    function.restype, function.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
    return function


@functools.cache
def _handle(library: str | None) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(library)
    except OSError:
        return None


@functools.cache
def load_libm() -> None:
    """Math that is not inlined is found by name in the process."""
    if sys.platform.startswith("linux"):
        try:
            ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
        except OSError:  # C libraries other than glibc have it inside
            return
