"""The team of threads that launches on the CPU share, in this process.

Comes in: the image of `pykern.lowering.llvm.team`, once a process. Goes out: its functions in the table
(`pykern.data.abi`). Short launches have no use for it, the first long one gets it (`awaited_team`). Where it is not
for this system, launches run in the thread that makes them, and Ctrl-C waits for their end.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import threading
from typing import Any

from pykern.data.abi import TABLE_INDEX
from pykern.runtime.awaited_team import await_no_more
from pykern.runtime.cpu_table import table
from pykern.runtime.loader import TAKES_SLOTS, open_library

SUPPORTED = sys.platform.startswith("linux") and platform.machine() in ("x86_64", "aarch64")
AWAKE_NS = 100_000
"""How long a worker waits awake for the next launch: a loop of launches finds it there, and it does not take the
processor from the next library for long."""
SLICE_NS = 100_000
"""After so long the scheduler may take the processor from a worker that is awake."""
PERIOD_NS = 100_000_000
"""How long the main thread may be in a launch until it is interrupted to ask Python for signals."""
FACTS = {"workers": 32, "main": 35, "spin": 36, "slice": 37, "forks": 38,
         "answers": 42, "thread": 44, "period": 46}  # fmt: skip
"""Words of the image's memory (`pykern.lowering.llvm.team.state`)."""


class Team:
    """That of this process."""

    def __init__(self) -> None:
        self.loaded = False
        self._library: Any = None
        self._facts: Any = None

    def load(self, binary: bytes) -> None:
        """Let launches use it from now on. Raises OSError where it does not load."""
        library = open_library(binary)
        cells = table()
        TAKES_SLOTS(library.address("pk_init"))(cells)
        facts = (ctypes.c_int64 * (max(FACTS.values()) + 1)).from_address(
            library.function("pk_state", ctypes.c_void_p)()
        )
        facts[FACTS["spin"]], facts[FACTS["slice"]] = AWAKE_NS, SLICE_NS
        facts[FACTS["period"]] = PERIOD_NS
        main = threading.main_thread()
        facts[FACTS["main"]], facts[FACTS["thread"]] = _signed(main.ident or 0), main.native_id or 0
        self._library, self._facts = library, facts
        _at_fork(library.address("pk_forked"))
        for name in (
            "pk_allocate",
            "pk_resize",
            "pk_release",
            "pk_call_python",
            "pk_fork",
            "pk_share",
            "pk_call",
        ):
            cells[TABLE_INDEX[name]] = library.address(name)
        self.loaded = True
        await_no_more()

    @property
    def workers(self) -> int:
        """Threads besides those that launch."""
        return int(self._facts[FACTS["workers"]]) if self.loaded else 0

    def stop(self) -> None:
        """Let the launch that this thread works for end before its next chunk."""
        if self.loaded:
            self._library.function("pk_stop")()

    @property
    def forks(self) -> int:
        """Launches that were shared so far."""
        return int(self._facts[FACTS["forks"]]) if self.loaded else 0

    @property
    def answers(self) -> int:
        """How often launches of the main thread have asked Python for signals."""
        return int(self._facts[FACTS["answers"]]) if self.loaded else 0


def _at_fork(child: int) -> None:
    """Call a function in every child, also of a fork that is not Python's."""
    c_library = ctypes.CDLL(None)
    nothing, child_address = ctypes.c_void_p(None), ctypes.c_void_p(child)
    if hasattr(c_library, "__register_atfork"):  # glibc, whose `pthread_atfork` is in no shared library
        c_library.__register_atfork(nothing, nothing, child_address, nothing)
    else:
        c_library.pthread_atfork(nothing, nothing, child_address)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


team = Team()
