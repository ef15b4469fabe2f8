"""The code of kept memory: from the disk cache, or from the compiler, as that of the programs' entry.

Comes in: large results and scratch. Goes out: `pykern.runtime.caching_allocator`, loaded. Nobody waits for
it: until it is there arrays have NumPy's memory.
"""

from __future__ import annotations

import math

import numpy as np

from pykern.data.runtime_source import MEMORY
from pykern.obtain.entry_code import EntryCode
from pykern.runtime import caching_allocator
from pykern.runtime.launchable import SUPPORTED


class MemoryCode(EntryCode):
    """Of this process; `address` is 1 once memory is kept."""

    source = MEMORY
    waits = False

    def __init__(self) -> None:
        super().__init__()
        if not (SUPPORTED and caching_allocator.SUPPORTED):
            self.address = 0

    def _obtain(self, calls: int) -> None:
        if caching_allocator.limit():
            super()._obtain(calls)
        else:
            self.address = 0

    def _load(self, binary: bytes) -> None:
        try:
            self.address = int(caching_allocator.caching_allocator.load(binary))
        except OSError:  # made for another machine
            self.address = 0


memory_code = MemoryCode()


def empty_from_allocator(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """NumPy's `empty` of something large, in kept memory."""
    memory_code.wanted()
    nbytes = math.prod(shape) * dtype.itemsize
    return caching_allocator.caching_allocator.made(nbytes, np.empty, shape, dtype)
