"""Code of the run time as something to compile, and everything else that can be: `Source`.

Comes in: nothing; `pykern.obtain` and `pykern.launching` ask for it. Goes out: picklable values that cross to the
compiler as sources of kernels and programs do, and whose hash is a key of the disk cache too.
"""

from __future__ import annotations

from typing import Union

from pykern.data.program_source import ProgramSource
from pykern.data.records import record
from pykern.data.source import FunctionSource, KernelSource, digest


@record
class RuntimeSource:
    """A part of the run time that is the same for all kernels and programs: it is compiled once for an installation.

    `part` is "program" (calls of array programs), "memory" (the caching allocator), "faults" (the handler of
    segmentation faults), "team" (threads) or "adapt" (calls in another form than entries know). `symbol` is the
    function that it is known by.
    """

    part: str
    symbol: str

    @property
    def function(self) -> FunctionSource:
        """What messages name; it has no text."""
        return FunctionSource(self.symbol, "", 0, "")

    @property
    def target(self) -> str:
        return f"entry:{self.part}"

    def key(self, versions: str) -> str:
        """As that of a kernel."""
        return digest(f"{versions}\n", self, self.symbol)


@record
class DeviceEntrySource:
    """The host's part of a launch of `kernel` on a device: what takes a call without Python.

    `form` is how the driver is called ("addresses" as CUDA and HIP are, "handles" as OpenCL is), `keywords`
    are those of the call; `facts` are what the kernel's code relies on (`pykern.data.target.Target`).
    """

    kernel: KernelSource
    form: str
    keywords: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def function(self) -> FunctionSource:
        """The kernel's."""
        return self.kernel.function

    @property
    def target(self) -> str:
        return f"entry:{self.form}"

    def key(self, versions: str) -> str:
        """As that of a kernel."""
        return digest(f"{versions}\n", self, self.function.name)


Source = Union[KernelSource, ProgramSource, RuntimeSource, DeviceEntrySource]

PROGRAM, MEMORY = RuntimeSource("program", "pk_entry"), RuntimeSource("memory", "pk_take")
FAULTS, TEAM = RuntimeSource("faults", "pk_watch"), RuntimeSource("team", "pk_fork")
ADAPTER = RuntimeSource("adapt", "pk_adapt")
