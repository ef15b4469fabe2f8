"""The one queue of a device: what is recorded and not yet submitted, and how it is known to be done.

Comes in: launches and copies, in order. Goes out: submissions. WebGPU has one queue a device, so all streams share its
order. Work is recorded until somebody wants to know of it, until the numbers of its launches fill their buffer, or
until there are many marks in it. Each submission ends with a copy to a small buffer: who waits for it maps that. Read
next: `driver`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import wgpu
from wgpu.backends.wgpu_native import extras

STEP = 256
"""Bytes between the words of two launches: offsets of uniform buffers are multiples of it everywhere."""
WORDS_BYTES = 64 << 10
MARKS = 64
"""Marks in a submission, at most: the device is given work while the host records more."""
MARK_BYTES = 8 * MARKS


@dataclass(eq=False)
class Batch:
    """What is submitted at once, the one of this `number`. `buffer` holds the device's times then, where it keeps any,
    until somebody has read them."""

    number: int
    buffer: Any = None
    promise: Any = None
    times: Any = None


@dataclass(eq=False)
class Mark:
    """A point in the work of a batch, and the `slot` of its time."""

    batch: Batch
    slot: int

    @property
    def number(self) -> int:
        """The number of the batch."""
        return self.batch.number

    @property
    def nanoseconds(self) -> int:
        """The device's time there, of a batch that is settled."""
        return int(self.batch.times[self.slot])


class Queue:
    """All methods are called by those who hold the driver's lock: while wgpu waits in a thread of its own, nothing else
    may be submitted."""

    def __init__(self, device: Any, stamps: bool) -> None:
        self._device = device
        usage = wgpu.BufferUsage
        self.words = device.create_buffer(
            size=WORDS_BYTES, usage=usage.UNIFORM | usage.COPY_DST | usage.COPY_SRC
        )
        self._packed, self._used = bytearray(WORDS_BYTES), 0
        self._encoder: Any = None
        self._pass: Any = None
        self._batch, self._marks = Batch(1), 0
        self._last: Mark | None = None
        """The mark behind which nothing is recorded, or else an older one."""
        self._marked = True
        self.completed = 0
        """The number of the last submission that is known to be done; those before it are, too."""
        self._asked: Batch | None = None
        self._spare: list[Any] = []
        """Buffers of batches that are settled."""
        self.stamps = stamps
        self._stamps = device.create_query_set(type="timestamp", count=MARKS) if stamps else None
        self._time = device.create_buffer(size=MARK_BYTES, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)

    # -- recording -------------------------------------------------------------------------------

    def encoder(self) -> Any:
        """What copies are recorded by."""
        self._marked = False
        return self._open()

    def _open(self) -> Any:
        if self._pass is not None:
            self._pass.end()
            self._pass = None
        if self._encoder is None:
            self._encoder = self._device.create_command_encoder()
        return self._encoder

    def compute(self) -> Any:
        """What launches are recorded by."""
        self._marked = False
        if self._pass is None:
            self._pass = self._open().begin_compute_pass()
        return self._pass

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
            if self._stamps is not None:
                extras.write_timestamp(self._open(), self._stamps, self._marks)
            self._last, self._marked = Mark(self._batch, self._marks), True
            self._marks += 1

    # -- submitting ------------------------------------------------------------------------------

    def submit(self) -> None:
        """Submit what is recorded."""
        if self._encoder is None:
            return
        if self._asked is not None:
            self._settle(self._asked)
        self._put_mark()
        encoder, batch = self._open(), self._batch
        batch.buffer = self._spare.pop() if self._spare else self._reader()
        if self._stamps is not None:
            encoder.resolve_query_set(self._stamps, 0, self._marks, self._time, 0)
        encoder.copy_buffer_to_buffer(self._time, 0, batch.buffer, 0, 8 * self._marks)
        if self._used:
            self._device.queue.write_buffer(self.words, 0, self._packed, 0, self._used)
        self._encoder, self._used = None, 0
        self._batch, self._marks = Batch(batch.number + 1), 0
        self._device.queue.submit([encoder.finish()])

    def _reader(self) -> Any:
        usage = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
        return self._device.create_buffer(size=MARK_BYTES, usage=usage)

    # -- waiting ---------------------------------------------------------------------------------

    def ask(self, mark: Mark) -> bool:
        """Whether the work before a mark is done, without waiting for it."""
        batch = mark.batch
        if batch is self._batch:
            self.submit()
        if self._asked is not None and _is_over(self._asked.promise):
            self._settle(self._asked)
        if batch.number > self.completed and self._asked is None:
            batch.promise, self._asked = batch.buffer.map_async("READ_NOSYNC"), batch
            if _is_over(batch.promise):
                self._settle(batch)
        return batch.number <= self.completed

    def settle(self, mark: Mark) -> None:
        """Wait for the work before a mark."""
        if mark.batch is self._batch:
            self.submit()
        self._settle(mark.batch)

    def _settle(self, batch: Batch) -> None:
        """Wait for the end of a submission."""
        if self._asked is not None and self._asked is not batch:
            self._settle(self._asked)
        if batch.buffer is None:
            return
        (batch.promise or batch.buffer.map_async("READ_NOSYNC")).sync_wait()
        batch.times = np.frombuffer(batch.buffer.read_mapped(), np.uint64).copy()
        batch.buffer.unmap()
        self._spare.append(batch.buffer)
        batch.buffer = batch.promise = None
        self.completed = max(self.completed, batch.number)
        if self._asked is batch:
            self._asked = None


def _is_over(promise: Any) -> bool:
    """Whether waiting for it would not block; wgpu has no name of its own for that."""
    return promise._state != "pending"
