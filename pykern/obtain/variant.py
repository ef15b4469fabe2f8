"""A kernel's code for one kind of call on the CPU, ready to run.

Comes in: a source. Goes out: a `Variant`.
"""

from __future__ import annotations

import threading

from pykern.data.artifact import Artifact
from pykern.data.records import record
from pykern.data.source import KernelSource
from pykern.obtain.code import loaded
from pykern.runtime.launch_report import LaunchReport
from pykern.runtime.loader import LoadedKernel


@record
class Variant:
    """Loaded code and what the launch has to check for it."""

    source: KernelSource
    artifact: Artifact
    code: LoadedKernel

    @property
    def entry_address(self) -> int:
        """The compiled CPython entry, 0 where the kernel reports and so goes the long way."""
        return self.code.entry_address

    def run(self, cells: list[int], timeout: float | None = None) -> None:
        """Run one launch, for at most `timeout` seconds; raises what the kernel reports."""
        if not self.artifact.sites:
            self.code.run([*cells, 0])
            return
        report = LaunchReport(self.artifact.sites)
        stop = threading.Timer(timeout or 0, report.stop)
        if timeout is not None:
            stop.start()
        try:
            self.code.run([*cells, report.address])
        finally:
            stop.cancel()
        report.check()


def obtain(source: KernelSource) -> Variant:
    """The variant of a source. Raises what the compiler raises."""
    return Variant(source, *loaded(source))
