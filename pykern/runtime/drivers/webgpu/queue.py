"""The one queue of a device: what is recorded and not yet submitted, and how it is known to be done.

Comes in: launches and copies, in order. Goes out: submissions. WebGPU has one queue a device, so all streams share its
order. Work is recorded until somebody wants to know of it, or until the numbers of its launches fill their buffer; the
end of a submission is told by a small buffer that it copies to, and that is mapped then. Read next: `driver`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import wgpu
from wgpu.backends.wgpu_native import extras

STEP = 256
"""Bytes between the words of two launches: offsets of uniform buffers are multiples of it everywhere."""
WORDS_BYTES = 64 << 10
STAMPS = 64
"""Submissions whose times lie on the device before they are copied to the host: those that may be under way at once."""
MARK_BYTES = 16


@dataclass(eq=False)
class Mark:
    """The end of a submission. `stamp` is the device's time in nanoseconds once it is done, -1 where it keeps none."""

    buffer: Any
    promise: Any
    done: bool = False
    stamp: int = -1


class Queue:
    """All methods are called by those who hold the driver's lock."""

    def __init__(self, device: Any, stamps: bool) -> None:
        self._device = device
        usage = wgpu.BufferUsage
        self.words = device.create_buffer(
            size=WORDS_BYTES, usage=usage.UNIFORM | usage.COPY_DST | usage.COPY_SRC
        )
        self._packed, self._used = bytearray(WORDS_BYTES), 0
        self._encoder: Any = None
        self._pass: Any = None
        self._spare: list[Any] = []
        self.under_way: deque[Mark] = deque()
        self.last: Mark | None = None
        self._stamps = None
        if stamps:
            self._stamps = device.create_query_set(type="timestamp", count=STAMPS)
            size = STEP * STAMPS  # queries are resolved to multiples of 256
            self._times = device.create_buffer(size=size, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
        self._submitted = 0

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
            return self.last
        encoder = self.encoder()
        buffer = self._spare.pop() if self._spare else self._new_buffer()
        self._stamp(encoder, buffer)
        if self._used:
            self._device.queue.write_buffer(self.words, 0, self._packed, 0, self._used)
        self._encoder, self._used = None, 0
        self._device.queue.submit([encoder.finish()])
        self._submitted += 1
        mark = self.last = Mark(buffer, buffer.map_async("READ_NOSYNC"))
        self.under_way.append(mark)
        if len(self.under_way) >= STAMPS:
            self.under_way[0].promise.sync_wait()
        self.reap()
        return mark

    def _stamp(self, encoder: Any, buffer: Any) -> None:
        """Copy something to the buffer at the end of a submission: the time, where the device keeps it."""
        if self._stamps is None:
            encoder.copy_buffer_to_buffer(self.words, 0, buffer, 0, 8)
            return
        number = self._submitted % STAMPS
        extras.write_timestamp(encoder, self._stamps, number)
        encoder.resolve_query_set(self._stamps, number, 1, self._times, STEP * number)
        encoder.copy_buffer_to_buffer(self._times, STEP * number, buffer, 0, 8)

    def _new_buffer(self) -> Any:
        usage = wgpu.BufferUsage
        return self._device.create_buffer(size=MARK_BYTES, usage=usage.MAP_READ | usage.COPY_DST)

    def reap(self, until: Mark | None = None) -> None:
        """See which submissions have ended, and wait for those up to one; their buffers are used again."""
        while self.under_way and (_is_over(self.under_way[0].promise) or (until and not until.done)):
            mark = self.under_way.popleft()
            mark.promise.sync_wait()
            if self._stamps is not None:
                mark.stamp = int(np.frombuffer(mark.buffer.read_mapped(), np.uint64)[0])
            mark.buffer.unmap()
            self._spare.append(mark.buffer)
            mark.buffer, mark.done = None, True


def _is_over(promise: Any) -> bool:
    """Whether waiting for it would not block; wgpu has no name of its own for that."""
    return promise._state != "pending"
