"""One process: there is nobody to send anything to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from pykern.mpi.transport import Message


class Nothing:
    """No messages."""

    def start(self) -> None:
        """There is nothing to do."""

    def wait(self, limit: float) -> bool:
        return True


class Alone:
    """The one rank there is."""

    rank, size, local_rank, local_size, machines = 0, 1, 0, 1, 1

    def reaches(self, device: str) -> bool:
        return False

    def requests(self, sent: Sequence[Message], received: Sequence[Message]) -> Nothing:
        return Nothing()

    def allreduce(self, values: np.ndarray, operation: str) -> Nothing:
        return Nothing()

    def may_leave(self) -> bool:
        return True

    def abort(self) -> NoReturn:
        sys.exit(1)
