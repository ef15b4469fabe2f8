"""The code of the team of threads: from the disk cache, or from the compiler, as that of the programs' entry.

Comes in: code that is going to be launched on the CPU. Goes out: `pykern.runtime.team`, loaded before the first long
launch. The compiler makes it beside the first launches where it runs, and a long one waits for that; where it does not
run, it is started, and launches run alone until the team is there.
"""

from __future__ import annotations

from pykern.compiler.service import service
from pykern.data.runtime_source import TEAM
from pykern.obtain.entry_code import MANY, EntryCode
from pykern.runtime import team
from pykern.runtime.awaited_team import await_no_more, await_team


class TeamCode(EntryCode):
    """Of this process; `address` is 1 once there is a team."""

    source = TEAM
    waits = False

    def __init__(self) -> None:
        super().__init__()
        self.address = None if team.SUPPORTED else 0
        self._expected = False

    def expected(self) -> None:
        """Somebody is going to launch something."""
        if self.address is not None:
            return
        if not self._expected:
            self._expected = True
            await_team(self.wanted)
        if not service().in_place and service().worker_pid is not None:
            self.obtain(1)

    def wanted(self) -> None:
        """Somebody launches something long: the compiler is waited for if it runs already."""
        running = service().worker_pid is not None
        self.obtain(MANY)
        thread = self._thread
        if running and self.address is None and thread is not None:
            thread.join()
        if self.address is not None or (thread is not None and thread.is_alive()):
            await_no_more()

    def _load(self, binary: bytes) -> None:
        try:
            team.team.load(binary)
            self.address = 1
        except OSError:  # made for another machine
            self.address = 0

    def _after_fork(self) -> None:
        super()._after_fork()
        if self.address is None and self._expected:
            await_team(self.wanted)


team_code = TeamCode()
