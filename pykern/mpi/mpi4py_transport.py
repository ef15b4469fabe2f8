"""Messages by MPI: persistent requests of mpi4py.

Comes in: a communicator, or None for that of all ranks. Goes out: a `Transport` over a duplicate of it, so that no
other message is taken for one of these.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from pykern.arrays.array import Array
from pykern.mpi.transport import Message, polled

MPI: Any = importlib.import_module("mpi4py.MPI")
"""Untyped: type checkers need none. Importing it starts MPI."""

_OPERATIONS = {"sum": MPI.SUM, "max": MPI.MAX, "min": MPI.MIN}


_QUERIES = {
    "cuda": ("MPIX_Query_cuda_support",),
    "rocm": ("MPIX_Query_rocm_support", "MPIX_Query_hip_support"),
}
"""Functions of Open MPI and MPICH that tell whether messages may lie in a GPU's memory."""


@functools.cache
def _reaches(kind: str, is_emulated: bool) -> bool:
    if is_emulated:
        return kind in _QUERIES
    library = ctypes.CDLL(MPI.__file__)  # its own libraries are looked through, too
    return any(bool(getattr(library, name)()) for name in _QUERIES.get(kind, ()) if hasattr(library, name))


def _memory(buffer: Any) -> Any:
    """What mpi4py takes: addresses of a device are passed on as they are."""
    if not isinstance(buffer, Array):
        return buffer
    return MPI.memory.fromaddress(buffer.memory.address + buffer.offset, buffer.nbytes)


class Persistent:
    """Requests that are started again and again."""

    def __init__(self, requests: list[Any]) -> None:
        self._requests = requests

    def start(self) -> None:
        MPI.Prequest.Startall(self._requests)

    def wait(self, limit: float) -> bool:
        return polled(lambda: MPI.Request.Testall(self._requests), limit)

    def __del__(self) -> None:
        if not MPI.Is_finalized():
            for request in self._requests:
                request.Free()


class Once:
    """A request that runs already."""

    def __init__(self, request: Any) -> None:
        self._request = request

    def start(self) -> None:
        """It was started when it was made."""

    def wait(self, limit: float) -> bool:
        return polled(self._request.Test, limit)


class Mpi:
    """The ranks of a communicator."""

    def __init__(self, communicator: Any) -> None:
        self._communicator: Any = (communicator or MPI.COMM_WORLD).Dup()
        self.rank = self._communicator.Get_rank()
        self.size = self._communicator.Get_size()
        here = self._communicator.Split_type(MPI.COMM_TYPE_SHARED)
        self.local_rank = here.Get_rank()
        self.local_size = here.Get_size()
        self.machines = self._communicator.allreduce(self.local_rank == 0)
        here.Free()

    def reaches(self, device: str) -> bool:
        """Where MPI says so of the kind of device; emulated ones have the host's memory."""
        return _reaches(device.partition(":")[0], ":emulated" in device)

    def requests(self, sent: Sequence[Message], received: Sequence[Message]) -> Persistent:
        made = [
            begin([_memory(message.buffer), MPI.BYTE], message.peer, message.tag)
            for begin, messages in (
                (self._communicator.Recv_init, received),
                (self._communicator.Send_init, sent),
            )
            for message in messages
        ]
        return Persistent(made)

    def allreduce(self, values: np.ndarray, operation: str) -> Once:
        return Once(self._communicator.Iallreduce(MPI.IN_PLACE, values, _OPERATIONS[operation]))

    def may_leave(self) -> bool:
        return MPI.Is_finalized()

    def abort(self) -> NoReturn:
        self._communicator.Abort(1)
        raise SystemExit(1)
