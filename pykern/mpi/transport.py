"""How ranks reach one another: messages between two, and sums of all. What there is of it: `alone` (one process),
`mpi4py_transport` and `torch_transport`.

Comes in: buffers of bytes. Goes out: `Requests`, which can be started any number of times. Nobody waits without looking
at the clock: a rank that does not answer is an error that names it, never a hang.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np

from pykern.data.records import record

SPINS = 200
"""How often a request is asked at once before other processes get the processor."""


@record
class Message:
    """Bytes for a rank, or from it. `tag` tells messages of two ranks from one another."""

    peer: int
    tag: int
    buffer: Any
    """NumPy's array, or one of the device, where the transport `reaches` that."""


class Requests(Protocol):
    """Messages that are sent and received together, as often as they are started."""

    def start(self) -> None:
        """Begin: what is sent must not be written, what is received not be read, until `wait`."""

    def wait(self, limit: float) -> bool:
        """Until all have come, or so many seconds are over: whether they have."""
        ...


class Transport(Protocol):
    """The ranks of a run, and which this one is."""

    rank: int
    size: int
    local_rank: int
    """Among the ranks of this machine."""
    local_size: int
    """How many ranks this machine has."""
    machines: int
    """How many machines there are, at least."""

    def reaches(self, device: str) -> bool:
        """Whether messages may lie in the memory of a device."""
        ...

    def requests(self, sent: Sequence[Message], received: Sequence[Message]) -> Requests:
        """Messages of this rank, none to or from itself."""
        ...

    def allreduce(self, values: np.ndarray, operation: str) -> Requests:
        """Started: the values of all ranks, combined in place (``"sum"``, ``"max"`` or ``"min"``)."""
        ...

    def may_leave(self) -> bool:
        """Whether the process may end at once, and the others that wait for it still tell of it."""
        ...

    def abort(self) -> NoReturn:
        """End the whole run."""
        ...


def polled(is_done: Callable[[], bool], limit: float) -> bool:
    """Ask until it is done or the time is over; whether it is done. Signals are handled meanwhile."""
    for _ in range(SPINS):
        if is_done():
            return True
    end = time.monotonic() + limit
    while not is_done():
        os.sched_yield()
        if time.monotonic() > end:
            return False
    return True
