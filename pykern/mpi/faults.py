"""A rank that raises ends the run: its traceback, which rank it was, and then all of them.

Comes in: a transport. Goes out: nothing; `sys.excepthook` and `os._exit` are others from then on. A rank that is killed
is noticed by the launcher of MPI, or by those who lose their connection to it; one that leaves by `sys.exit` by those
who wait. One that leaves by ``os._exit(0)`` is not: launchers of MPI end the other ranks then, and report success.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import NoReturn

from pykern.mpi.transport import Transport

_guarded: list[Transport] = []


def end_run_on_errors(transport: Transport) -> None:
    """Let uncaught exceptions of this rank end the others, too."""
    if transport.size == 1 or _guarded:
        return
    _guarded.append(transport)
    before = sys.excepthook
    process, leave = os.getpid(), os._exit

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        before(kind, error, traceback)
        print_rank("ends the run")
        transport.abort()

    def exit_process(status: int) -> NoReturn:
        if status == 0 and os.getpid() == process and not transport.may_leave():
            print_rank("called os._exit(0) before MPI was finalised, which ends the run; leave by sys.exit()")
            transport.abort()
        leave(status)

    def print_rank(what: str) -> None:
        print(f"pykern.mpi: rank {transport.rank} of {transport.size} {what}", file=sys.stderr, flush=True)

    sys.excepthook = hook
    os._exit = exit_process
