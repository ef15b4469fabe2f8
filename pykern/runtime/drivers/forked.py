"""A driver belongs to the process that opened it: a child of `os.fork` has its memory, but none of its threads.

Comes in: the name of a device, when it is opened. Goes out: `ProcessLock`, the driver's lock, which raises
`DeviceError` in a child, where a call of the driver would wait for ever or answer with an error of its own.
"""

from __future__ import annotations

import os
import threading

from pykern.errors import DeviceError


class ProcessLock:
    """A re-entrant lock that can be taken in the process that made it alone."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._process = os.getpid()
        self._lock = threading.RLock()

    @property
    def inherited(self) -> bool:
        """Whether this process is a child of the one that opened the device."""
        return os.getpid() != self._process

    def check(self) -> None:
        """Raises `DeviceError` in a child of a fork."""
        if self.inherited:
            raise DeviceError(
                f"{self._device} was opened by the process {self._process}, and this process is a fork of it: "
                "the driver's threads are not here",
                hint="start processes with multiprocessing.get_context('spawn'), or fork before the device is used",
            )

    def __enter__(self) -> None:
        self.check()  # first: another thread may have held the lock when the process was forked
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()
