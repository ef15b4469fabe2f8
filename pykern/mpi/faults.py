"""A rank that raises ends the run: its traceback, which rank it was, and then all of them.

Comes in: a transport. Goes out: nothing; `sys.excepthook` is another one from then on. A rank that is killed is
noticed by the launcher of MPI, or by those who lose their connection to it; one that leaves without an error by
those who wait.
"""

from __future__ import annotations

import sys
from types import TracebackType

from pykern.mpi.transport import Transport

_guarded: list[Transport] = []


def end_run_on_errors(transport: Transport) -> None:
    """Let uncaught exceptions of this rank end the others, too."""
    if transport.size == 1 or _guarded:
        return
    _guarded.append(transport)
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        before(kind, error, traceback)
        print(
            f"pykern.mpi: rank {transport.rank} of {transport.size} ends the run", file=sys.stderr, flush=True
        )
        transport.abort()

    sys.excepthook = hook
