"""The code of the handler of segmentation faults: from the disk cache, or the compiler, as that of programs' entry.

Comes in: code that was loaded. Goes out: the handler, set once a process (`pykern.runtime.faults`).
"""

from __future__ import annotations

from pykern.data.runtime_source import FAULTS
from pykern.data.source import FunctionSource
from pykern.obtain.entry_code import EntryCode
from pykern.runtime.faults import faults
from pykern.runtime.loader import LoadedKernel


class FaultCode(EntryCode):
    """Of this process; `address` is 1 once the handler is set."""

    source = FAULTS

    def __init__(self) -> None:
        super().__init__()
        self.address = None
        self._loaded = 0

    def record(self, code: LoadedKernel, function: FunctionSource) -> None:
        """A function's code is there."""
        faults.name(code, function.name, f"{function.file}:{function.first_line}" if function.file else "")
        if self.address is None:
            if not faults.wanted:
                self.address = 0
                return
            self._loaded += 1
            self.obtain(self._loaded)

    def _load(self, binary: bytes) -> None:
        try:
            faults.watch(binary)
            self.address = 1
        except OSError:  # made for another machine
            self.address = 0


fault_code = FaultCode()
