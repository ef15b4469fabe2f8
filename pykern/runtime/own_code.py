"""Where the code of kernels and programs lies: a launch may be left at any place of it (`pykern.lowering.llvm.team`).

Comes in: code that was loaded. Goes out: the table's cell "own_code", the address of the number of ranges, then where
each begins and ends. Signal handlers read it at any time: what is there is never moved, and counts when it is complete.
"""

from __future__ import annotations

import ctypes
import os
import threading

from pykern.data.abi import TABLE_INDEX
from pykern.runtime.cpu_table import table

FIRST = 64
"""Ranges that there is room for at first. Neighbours are one, and nearly all code is loaded next to other code."""


class OwnCode:
    """That of this process."""

    def __init__(self) -> None:
        self._kept: list[ctypes.Array] = []
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._after_fork)

    def add(self, begin: int, size: int) -> None:
        """Code of a kernel or program from now on."""
        if not size:
            return
        with self._lock:
            cells = self._kept[-1] if self._kept else self._room(FIRST, [])
            count = cells[0]
            if count and cells[2 * count] == begin:
                cells[2 * count] = begin + size
                return
            if 2 * count + 2 >= len(cells):
                cells = self._room(4 * count, cells[: 2 * count + 1])
            cells[2 * count + 1], cells[2 * count + 2] = begin, begin + size
            cells[0] = count + 1

    def _room(self, ranges: int, known: list[int]) -> ctypes.Array:
        """For so many; a handler may still be reading what there was before."""
        cells = (ctypes.c_int64 * (1 + 2 * ranges))(*known)
        self._kept.append(cells)
        table()[TABLE_INDEX["own_code"]] = ctypes.addressof(cells)
        return cells

    def _after_fork(self) -> None:
        """In a child: a thread of the parent may have held the lock, and what it wrote does not count."""
        self._lock = threading.Lock()


own_code = OwnCode()
