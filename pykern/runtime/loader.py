"""Compiled CPU code into the process.

Comes in: a shared object. Goes out: `LoadedKernel`. Nothing is ever unloaded: a call may be inside.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from pykern.runtime.cpu_table import table
from pykern.runtime.launchable import SUPPORTED


@dataclass(frozen=True)
class LoadedKernel:
    """Code that is there: `entry_address` is the compiled CPython entry, or 0."""

    library: Any
    entry_address: int

    def run(self, cells: list[int]) -> None:
        """Run a launch from its cells; the GIL is free meanwhile."""
        self.library.pk_run((ctypes.c_int64 * len(cells))(*cells))


def load(binary: bytes, entry: str = "pk_entry") -> LoadedKernel:
    """Load a shared object. Raises OSError where it does not load."""
    _load_libm()
    library = open_library(binary)
    library.pk_init(table())
    library.pk_run.restype = None
    address = 0
    if entry and SUPPORTED:
        address = ctypes.cast(getattr(library, entry), ctypes.c_void_p).value or 0
    return LoadedKernel(library, address)


@dataclass(frozen=True)
class LoadedEntry:
    """The compiled entry of launches on a device."""

    library: Any
    address: int

    def bind(self, cells: ctypes.Array) -> None:
        """Say whom it calls; `cells` stay where they are."""
        self.library.pk_bind(cells)


def load_entry(binary: bytes) -> LoadedEntry:
    """Load what `pykern.lowering.gpu.host_entry` made. Raises OSError where it does not load."""
    library = open_library(binary)
    library.pk_init(table())
    return LoadedEntry(library, ctypes.cast(library.pk_entry, ctypes.c_void_p).value or 0)


def open_library(binary: bytes) -> ctypes.CDLL:
    """dlopen wants a file, and takes two files of one name for the same library: each name is new."""
    descriptor, path = tempfile.mkstemp(prefix="pykern-", suffix=".so")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(binary)
        return ctypes.CDLL(path)
    finally:
        os.unlink(path)


@functools.cache
def _load_libm() -> None:
    """Math that is not inlined is found by name in the process."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
