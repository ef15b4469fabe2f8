"""What compiled kernels print: values that come through a callback, written to `sys.stdout`."""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Any

from pykern.artifact import Site
from pykern.types import BY_NAME

PrintCallback = Any
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))


def printer(sites: tuple[Site, ...]) -> PrintCallback:
    """A callback ``(site, report, values)``; keep it alive while the kernel runs."""

    def show(site: int, _report: int, values: Any) -> None:
        sys.stdout.write(printed(sites[site], values))

    return _CALLBACK(show)


def printed(site: Site, values: Any) -> str:
    """What a print writes; `values` are cells."""
    return site.template.format(*(_value(values[n], dtype) for n, dtype in enumerate(site.dtypes)))


def _value(bits: int, name: str) -> str:
    """A value from its cell, as Python or NumPy writes it."""
    dtype = BY_NAME[name]
    if dtype.is_float:
        number = struct.unpack("<d", struct.pack("<q", bits))[0]
        return str(number) if dtype.bits == 64 else str(dtype.numpy.type(number))
    if dtype.kind == "b":
        return str(bool(bits))
    return str(bits % 2**64 if dtype.kind == "u" else bits)
