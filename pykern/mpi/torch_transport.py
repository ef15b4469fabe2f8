"""Messages by `torch.distributed`: a process group, over gloo or any backend that sends memory of the host.

Comes in: a group, or ``torch.distributed.group.WORLD``. Goes out: a `Transport`.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NoReturn

import numpy as np

from pykern.mpi.transport import Message

torch: Any = importlib.import_module("torch")  # untyped: type checkers need none
distributed: Any = importlib.import_module("torch.distributed")


class Batch:
    """Messages that are posted together."""

    def __init__(self, operations: list[tuple[Any, Any, int, int]], group: Any) -> None:
        self._operations = operations
        self._group = group
        self._works: list[Any] = []

    def start(self) -> None:
        self._works = [begin(t, peer, group=self._group, tag=tag) for begin, t, peer, tag in self._operations]

    def wait(self, limit: float) -> bool:
        return _waited(self._works, limit)


class Once:
    """A sum of all ranks that runs already."""

    def __init__(self, work: Any) -> None:
        self._work = work

    def start(self) -> None:
        """It was started when it was made."""

    def wait(self, limit: float) -> bool:
        return _waited([self._work], limit)


def _waited(works: Sequence[Any], limit: float) -> bool:
    """Until all are complete; false after so many seconds, or where a connection was lost."""
    end = time.monotonic() + limit
    try:
        for work in works:
            work.wait(timedelta(seconds=max(0.001, end - time.monotonic())))
    except RuntimeError as error:
        print(f"pykern.mpi: {error}", file=sys.stderr)
        return False
    return True


class TorchDistributed:
    """The ranks of a process group."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self.rank = distributed.get_rank(group)
        self.size = distributed.get_world_size(group)
        hosts: list[Any] = [None] * self.size
        distributed.all_gather_object(hosts, socket.gethostname(), group)
        self.local_rank = hosts[: self.rank].count(hosts[self.rank])
        self.local_size = hosts.count(hosts[self.rank])
        self.machines = len(set(hosts))

    def reaches(self, device: str) -> bool:
        return False

    def requests(self, sent: Sequence[Message], received: Sequence[Message]) -> Batch:
        peers = distributed.get_process_group_ranks(self._group)
        return Batch(
            [
                (begin, torch.from_numpy(message.buffer), peers[message.peer], message.tag)
                for begin, messages in ((distributed.irecv, received), (distributed.isend, sent))
                for message in messages
            ],
            self._group,
        )

    def allreduce(self, values: np.ndarray, operation: str) -> Once:
        kind = getattr(distributed.ReduceOp, operation.upper())
        return Once(distributed.all_reduce(torch.from_numpy(values), kind, self._group, async_op=True))

    def may_leave(self) -> bool:
        return True  # the others lose their connections

    def abort(self) -> NoReturn:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # the others lose their connections, and end
