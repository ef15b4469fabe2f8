"""The code of the team of threads: from the disk cache, or from the compiler, as that of the programs' entry.

Comes in: the first launch on the CPU. Goes out: `pykern.runtime.team`, loaded. Where the compiler runs, which has just
made the kernel, it is waited for; else launches run alone until it is there.
"""

from __future__ import annotations

from pykern.program.entry_code import MANY, EntryCode
from pykern.runtime import team
from pykern.source import FunctionSource, KernelSource, LaunchSpec


class TeamCode(EntryCode):
    """Of this process; `address` is 1 once there is a team."""

    source = KernelSource(FunctionSource("pk_fork", "", 0, ""), (), LaunchSpec(0), target="entry:team")

    def __init__(self) -> None:
        super().__init__()
        self.address = None if team.SUPPORTED else 0

    def wanted(self) -> None:
        """Somebody is going to launch something."""
        if self.address is None:
            self.obtain(MANY)

    def _load(self, binary: bytes) -> None:
        try:
            team.team.load(binary)
            self.address = 1
        except OSError:  # made for another machine
            self.address = 0


team_code = TeamCode()
