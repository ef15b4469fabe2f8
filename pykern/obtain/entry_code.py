"""The code of the array programs' entry: from the disk cache, or from the compiler; and what it needs of the process.

Comes in: calls of programs that could use it. Goes out: its address. It is compiled once for an installation, with the
compiler process where that runs, else behind the program's back: starting the process takes a second or two.
"""

from __future__ import annotations

import ctypes
import os
import threading

import numpy as np

from pykern.compiler.cache import shared_cache
from pykern.compiler.service import service
from pykern.compiler.versions import versions
from pykern.data.abi import TABLE_INDEX
from pykern.data.runtime_source import PROGRAM
from pykern.errors import KernelError
from pykern.runtime import launchable, numpy_api
from pykern.runtime.cpu_table import table
from pykern.runtime.loader import load_entry

MANY = 32
"""Calls of one kind after which the compiler process is started for the entry alone."""


class EntryCode:
    """Of this process: `address` is None as long as it is not there, and 0 where there can be none."""

    source = PROGRAM
    waits = True
    """Whether a call that finds the compiler running waits for it: entries are made once, for all programs."""

    def __init__(self) -> None:
        self.address: int | None = None if launchable.SUPPORTED else 0
        self._wanted = 0
        self._looked = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def obtain(self, calls: int) -> int | None:
        """The address, having done about it what is worth it for so many `calls`."""
        if self.address is None:
            with self._lock:
                self._obtain(calls)
        return self.address

    def wanted(self) -> None:
        """A call would have used it."""
        if self.address is None:
            self._wanted += 1
            self.obtain(self._wanted)

    def _obtain(self, calls: int) -> None:
        if self.address is not None or (self._thread is not None and self._thread.is_alive()):
            return
        if not self._looked:
            self._looked = True
            known = shared_cache().get(self.source.key(versions()))
            if known is not None:
                self._load(known.artifact.binary)
                return
        running = service().worker_pid is not None
        if service().in_place or (running and self.waits):
            self._compile()
        elif running or calls >= MANY:
            self._thread = threading.Thread(target=self._compile, name="pykern-entry", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # a limit of threads: later, perhaps
                self._thread = None

    def _after_fork(self) -> None:
        """In a child: the thread that was at it is the parent's."""
        self._lock = threading.Lock()
        self._thread = None

    def _compile(self) -> None:
        try:
            made = service().compile(self.source)
        except KernelError:  # without a compiler calls go through Python
            self.address = 0
            return
        shared_cache().put(self.source.key(versions()), made)
        self._load(made.binary)

    def _load(self, binary: bytes) -> None:
        functions = numpy_functions()
        if functions is None:
            self.address = 0
            return
        cells = table()
        cells[TABLE_INDEX["program_offset"]] = launchable.OFFSETS["Program"]
        cells[TABLE_INDEX["PyArray_NewFromDescr"]], cells[TABLE_INDEX["PyArray_Scalar"]] = functions
        try:
            self.address = load_entry(binary).address
        except OSError:  # made for another machine
            self.address = 0


entry_code = EntryCode()


def numpy_functions() -> tuple[int, int] | None:
    """Addresses of `PyArray_NewFromDescr` and `PyArray_Scalar`, having tried the first."""
    new, scalar = numpy_api.address(numpy_api.NEW_FROM_DESCR), numpy_api.address(numpy_api.SCALAR)
    if not new or not scalar:
        return None
    value, address = ctypes.py_object, ctypes.c_void_p
    kinds = (value, value, ctypes.c_int, address, address, address, ctypes.c_int, address)
    make = ctypes.PYFUNCTYPE(value, *kinds)(new)
    dtype = np.dtype(np.float32)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # its reference is taken
    made = make(np.ndarray, dtype, 2, (ctypes.c_int64 * 2)(3, 5), None, None, 0, None)
    return (new, scalar) if made.shape == (3, 5) and made.dtype is dtype else None
