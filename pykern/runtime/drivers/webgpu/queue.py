"""The one queue of a device: what is recorded and not yet submitted, and how it is known to be done.

Comes in: launches and copies, in order. Goes out: submissions. WebGPU has one queue a device, so all streams share its
order. Work is recorded until somebody wants to know of it, or until the numbers of its launches fill their buffer. Each
submission ends with a copy to a small buffer: who waits for it maps that. Read next: `driver`.
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
MARK_BYTES = 16


@dataclass(eq=False)
class Mark:
    """The end of a submission, `number` of the queue. `buffer` holds the device's time then, where it keeps one, until
    somebody has read it."""

    number: int
    buffer: Any
    promise: Any = None
    nanoseconds: int = 0


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
        self._last: Mark | None = None
        self.completed = 0
        """The number of the last submission that is known to be done; those before it are, too."""
        self._asked: Mark | None = None
        self.stamps = stamps
        self._stamps = device.create_query_set(type="timestamp", count=1) if stamps else None
        self._time = device.create_buffer(size=8, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)

    # -- recording -------------------------------------------------------------------------------

    def encoder(self) -> Any:
        """What copies are recorded by."""
        if self._pass is not None:
            self._pass.end()
            self._pass = None
        if self._encoder is None:
            self._encoder = self._device.create_command_encoder()
        return self._encoder

    def compute(self) -> Any:
        """What launches are recorded by."""
        if self._pass is None:
            self._pass = self.encoder().begin_compute_pass()
        return self._pass

    def put_words(self, packed: bytes) -> int:
        """Where the numbers of a launch will lie. What was recorded is submitted where there is no room for more."""
        size = -(-len(packed) // STEP) * STEP
        if self._used + size > WORDS_BYTES:
            self.submit()
        place, self._used = self._used, self._used + size
        self._packed[place : place + len(packed)] = packed
        return place

    # -- submitting ------------------------------------------------------------------------------

    def submit(self) -> Mark | None:
        """Submit what is recorded; gives the end of all that was submitted so far, None where that is nothing."""
        if self._encoder is None:
            return self._last
        if self._asked is not None:
            self.settle(self._asked)
        encoder, usage = self.encoder(), wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
        number = 1 if self._last is None else self._last.number + 1
        mark = Mark(number, self._device.create_buffer(size=MARK_BYTES, usage=usage))
        self._stamp(encoder, mark.buffer)
        if self._used:
            self._device.queue.write_buffer(self.words, 0, self._packed, 0, self._used)
        self._encoder, self._used, self._last = None, 0, mark
        self._device.queue.submit([encoder.finish()])
        return mark

    def _stamp(self, encoder: Any, buffer: Any) -> None:
        """Copy something to the buffer at the end of a submission: the time, where the device keeps it."""
        if self._stamps is not None:
            extras.write_timestamp(encoder, self._stamps, 0)
            encoder.resolve_query_set(self._stamps, 0, 1, self._time, 0)
        encoder.copy_buffer_to_buffer(self._time, 0, buffer, 0, 8)

    # -- waiting ---------------------------------------------------------------------------------

    def ask(self, mark: Mark) -> bool:
        """Whether a submission is done, without waiting for it."""
        if self._asked is not None and _is_over(self._asked.promise):
            self.settle(self._asked)
        if mark.number > self.completed and self._asked is None:
            mark.promise, self._asked = mark.buffer.map_async("READ_NOSYNC"), mark
            if _is_over(mark.promise):
                self.settle(mark)
        return mark.number <= self.completed

    def settle(self, mark: Mark) -> None:
        """Wait for the end of a submission."""
        if self._asked is not None and self._asked is not mark:
            self.settle(self._asked)
        if mark.buffer is None:
            return
        (mark.promise or mark.buffer.map_async("READ_NOSYNC")).sync_wait()
        mark.nanoseconds = int(np.frombuffer(mark.buffer.read_mapped(), np.uint64)[0])
        mark.buffer.unmap()
        mark.buffer = mark.promise = None
        self.completed = max(self.completed, mark.number)
        if self._asked is mark:
            self._asked = None


def _is_over(promise: Any) -> bool:
    """Whether waiting for it would not block; wgpu has no name of its own for that."""
    return promise._state != "pending"
