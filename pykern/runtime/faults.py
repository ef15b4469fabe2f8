"""Which code of this process is whose: what a segmentation fault is told from.

Comes in: code that was loaded, with a sentence about it. Goes out: the table that the compiled handler looks at
(`pykern.lowering.llvm.fault_handler`): the number of entries, then of each where the code begins, its bytes, and the
sentence's address and length. Entries are added behind the others, and never change.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading

from pykern.environment.settings import settings
from pykern.runtime.loader import TAKES_SLOTS, LoadedKernel, open_library

MOST = 16_384
"""Pieces of code that are known; of later ones nothing is said."""
SUPPORTED = sys.platform.startswith("linux") and os.uname().machine in ("x86_64", "aarch64")


class Faults:
    """The table of this process, and whether its handler is set."""

    def __init__(self) -> None:
        self._cells = (ctypes.c_int64 * (1 + 4 * MOST))() if SUPPORTED else None
        self._kept: list[bytes] = []
        self._lock = threading.Lock()
        self._library: object = None

    @property
    def wanted(self) -> bool:
        """Whether a handler is to be set, and is not."""
        return self._cells is not None and self._library is None and settings().fault_handler

    def watch(self, binary: bytes) -> None:
        """Set the handler. Raises OSError where its code does not load."""
        with self._lock:
            if self.wanted:
                library = open_library(binary)
                TAKES_SLOTS(library.address("pk_watch"))(self._cells)
                self._library = library

    def name(self, code: LoadedKernel, kernel: str, place: str) -> None:
        """Say whose code this is."""
        begin, size = code.library.code
        if self._cells is None or not size or not settings().fault_handler:
            return
        where = f" ({place})" if place else ""
        text = (
            f"pykern: `{kernel}`{where} touched memory that is not its arrays'. "
            "PYKERN_DEBUG=1 finds the access.\n"
        ).encode()
        with self._lock:
            count = len(self._kept)
            if count < MOST:
                self._kept.append(text)
                address = ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value or 0
                self._cells[1 + 4 * count : 5 + 4 * count] = (begin, size, address, len(text))
                self._cells[0] = count + 1


faults = Faults()
