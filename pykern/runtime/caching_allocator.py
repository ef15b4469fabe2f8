"""Large results and scratch on the CPU in memory that is kept when it is let go, and given out again.

Comes in: the shared object of `pykern.lowering.llvm.caching_allocator`, once a process. Goes out: its functions in the
table of `pykern.data.abi`, and NumPy arrays that own such memory as any array owns its own (NEP 49): views and other
libraries hold the array, and where the last of them lets go the block is free. Fresh memory costs a page fault a
page, and the system clears it: half of the time of a program that writes 64 MiB.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.data.abi import KEPT_BLOCKS, KEPT_LEAST, KEPT_STATE, TABLE_INDEX
from pykern.environment.machine import memory_bytes
from pykern.environment.settings import settings
from pykern.runtime import numpy_api
from pykern.runtime.cpu_table import table
from pykern.runtime.loader import Library, open_library
from pykern.runtime.pool import MemoryStats

SHARE = 8
"""Of the machine's memory, or what this process may have of it, one part in so many may be kept."""
MILLISECONDS = 10_000
"""A block that nobody took for so long goes when the next one comes or goes."""
SUPPORTED = sys.platform.startswith("linux")
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"


class _Handler(ctypes.Structure):
    """NumPy's `PyDataMem_Handler`."""

    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p), ("free", ctypes.c_void_p),
    )  # fmt: skip


class CachingAllocator:
    """That of this process; until it is loaded arrays have NumPy's own memory."""

    def __init__(self) -> None:
        self.loaded = False
        self._kept: list[Any] = []
        self._state: Any = None
        self._library: Any = None
        self._set_handler: Any = None
        self._handler: Any = None

    def load(self, binary: bytes) -> bool:
        """Let compiled code use it. False where NumPy does not take it. Raises OSError where it does not load."""
        library = open_library(binary)
        words = len(KEPT_STATE) + 3 * KEPT_BLOCKS
        state = (ctypes.c_int64 * words).from_address(library.function("pk_state", ctypes.c_void_p)())
        cell = KEPT_STATE.index
        state[cell("limit")], state[cell("milliseconds")] = limit(), MILLISECONDS
        state[cell("huge")], state[cell("page")] = has_huge_pages(), mmap.PAGESIZE
        self._library, self._state = library, state
        self._handler = self._made_handler(library)
        self._set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(
            numpy_api.address(numpy_api.SET_HANDLER)
        )
        if not self._takes():
            return False
        self._publish(library)
        os.register_at_fork(after_in_child=library.function("pk_forked"))
        self.loaded = True
        return True

    def made(self, nbytes: int, make: Callable[..., np.ndarray], *args: Any, **keywords: Any) -> np.ndarray:
        """What a function of NumPy's makes, in kept memory where it is large, unless the user has a handler."""
        if not self.loaded or nbytes < KEPT_LEAST:
            return make(*args, **keywords)
        return self._made(make, *args, **keywords)

    def stats(self) -> MemoryStats:
        """What is given out and what is kept; pieces below 1 MiB are not counted."""
        if not self.loaded:
            return MemoryStats(0, 0, 0, 0, 0, 0)
        return MemoryStats(*(self._state[KEPT_STATE.index(name)] for name in MemoryStats.__annotations__))

    def empty(self) -> None:
        """Give what is free back to the system."""
        if self.loaded:
            self._library.function("pk_empty")()

    def _made(self, make: Callable[..., np.ndarray], *args: Any, **keywords: Any) -> np.ndarray:
        before = self._set_handler(self._handler)
        try:
            if id(before) != default_handler():
                self._set_handler(before)
            return make(*args, **keywords)
        finally:
            self._set_handler(before)

    def _made_handler(self, library: Library) -> Any:
        """The capsule; arrays hold it, and the process ends with it."""
        functions = (library.address(f"pk_{name}") for name in ("malloc", "calloc", "realloc", "free"))
        handler = _Handler(b"pykern", 1, None, *functions)
        name = ctypes.create_string_buffer(b"mem_handler")
        self._kept += [handler, name]
        address = ctypes.cast(name, ctypes.c_void_p)
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi)
        )
        capsule = make(ctypes.addressof(handler), address, None)
        self._kept.append(capsule)
        return capsule

    def _takes(self) -> bool:
        """Whether an array made so says that it is ours."""
        sample = self._made(np.empty, KEPT_LEAST, np.uint8)
        return numpy_api.handler_name(sample) == "pykern"

    def _publish(self, library: Library) -> None:
        cells = table()
        cells[TABLE_INDEX["default_handler"]] = default_handler()
        cells[TABLE_INDEX["PyDataMem_SetHandler"]] = numpy_api.address(numpy_api.SET_HANDLER)
        for name in ("pk_give", "pk_take"):  # who finds the second one may use the first
            cells[TABLE_INDEX[name]] = library.address(name)
        cells[TABLE_INDEX["handler"]] = id(self._handler)


def default_handler() -> int:
    """The address of NumPy's own capsule."""
    return ctypes.c_void_p.from_address(numpy_api.address(numpy_api.DEFAULT_HANDLER)).value or 0


def limit() -> int:
    """Bytes that may be kept: ``PYKERN_KEPT_MEMORY``, else a part of the memory there is."""
    chosen = settings().caching_allocator_bytes
    return memory_bytes() // SHARE if chosen is None else chosen


def has_huge_pages() -> bool:
    """Whether this system gives huge pages to who asks."""
    try:
        with open(_HUGE_PAGES) as file:
            return "[never]" not in file.read()
    except OSError:
        return False


caching_allocator = CachingAllocator()
