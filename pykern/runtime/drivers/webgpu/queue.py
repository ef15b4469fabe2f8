"""The one queue of a device: what is recorded and not yet submitted, and how it is known to be done.

Comes in: launches and copies, in order. Goes out: submissions. WebGPU has one queue a device, so all streams share its
order. Work is recorded until somebody wants to know of it, until the numbers of its launches fill their buffer, or
until there are many marks in it. The device tells when each submission is done. Read next: `native`, which submits and
asks, and `driver`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import wgpu

from pykern.runtime.drivers.waiting import wait
from pykern.runtime.drivers.webgpu.native import Commands, Submissions

STEP = 256
"""Bytes between the words of two launches: offsets of uniform buffers are multiples of it everywhere."""
WORDS_BYTES = 64 << 10
MARKS = 64
"""Marks in a submission, at most: the device is given work while the host records more."""
STAMPS = 2048
"""Times that one query set holds; a mark keeps the set that its time is in."""
TIME_BYTES = 8


@dataclass(eq=False)
class Mark:
    """A point in the work of the submission `number`, and the `slot` of its time in a query set, where there is one."""

    number: int
    stamps: Any
    slot: int


class Queue:
    """All methods are called by those who hold the driver's lock."""

    def __init__(self, device: Any, stamps: bool) -> None:
        self._device = device
        usage = wgpu.BufferUsage
        self.words = device.create_buffer(
            size=WORDS_BYTES, usage=usage.UNIFORM | usage.COPY_DST | usage.COPY_SRC
        )
        self._packed, self._used = bytearray(WORDS_BYTES), 0
        self._sent = b""
        """What stands at the beginning of `words`."""
        self._commands: Commands | None = None
        self._submissions = Submissions(device)
        self._number, self._marks = 1, 0
        """Of the submission that is recorded, and the marks in it."""
        self._last: Mark | None = None
        """The mark behind which nothing is recorded, or else an older one."""
        self._marked = True
        self.stamps = stamps
        self._stamps: Any = None
        self._stamped = STAMPS
        self._time = device.create_buffer(size=TIME_BYTES, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)

    @property
    def completed(self) -> int:
        """The number of the last submission that is known to be done; those before it are, too."""
        return self._submissions.completed

    # -- recording -------------------------------------------------------------------------------

    def commands(self) -> Commands:
        """What launches and copies are recorded by."""
        self._marked = False
        return self._open()

    def _open(self) -> Commands:
        if self._commands is None:
            self._commands = Commands(self._device)
        return self._commands

    def put_words(self, packed: bytes) -> int:
        """Where the numbers of a launch will lie. What was recorded is submitted where there is no room for more."""
        size = -(-len(packed) // STEP) * STEP
        if self._used + size > WORDS_BYTES:
            self.submit()
        place, self._used = self._used, self._used + size
        self._packed[place : place + len(packed)] = packed
        return place

    def mark(self) -> Mark | None:
        """The end of all that was recorded so far, None where that is nothing."""
        self._put_mark()
        if self._marks == MARKS:
            self.submit()
        return self._last

    def _put_mark(self) -> None:
        if not self._marked:
            if self.stamps:
                if self._stamped == STAMPS:
                    self._stamps = self._device.create_query_set(type="timestamp", count=STAMPS)
                    self._stamped = 0
                self._open().stamp(self._stamps, self._stamped)
            self._last, self._marked = Mark(self._number, self._stamps, self._stamped), True
            self._stamped += self.stamps
            self._marks += 1

    # -- submitting ------------------------------------------------------------------------------

    def submit(self) -> None:
        """Submit what is recorded."""
        if self._commands is None:
            return
        self._put_mark()
        commands, number = self._commands, self._number
        if self._used and not self._sent.startswith(self._packed[: self._used]):
            self._sent = bytes(self._packed[: self._used])
            self._device.queue.write_buffer(self.words, 0, self._sent)
        self._commands, self._used = None, 0
        self._number, self._marks = number + 1, 0
        self._submissions.submit(commands, number)

    # -- waiting ---------------------------------------------------------------------------------

    def ask(self, mark: Mark) -> bool:
        """Whether the work before a mark is done, without waiting for it."""
        self._submit_before(mark)
        return self._submissions.is_done(mark.number)

    def settle(self, mark: Mark) -> None:
        """Wait for the work before a mark."""
        self._submit_before(mark)
        number = mark.number
        wait(lambda: self._submissions.is_done(number), lambda: self._submissions.wait(number))

    def _submit_before(self, mark: Mark) -> None:
        if mark.number == self._number:
            self.submit()

    def nanoseconds(self, mark: Mark) -> int:
        """The device's time at a mark."""
        self._submit_before(mark)
        self.commands().resolve(mark.stamps, mark.slot, self._time)
        self.submit()
        return int(np.frombuffer(self._device.queue.read_buffer(self._time), np.uint64)[0])
