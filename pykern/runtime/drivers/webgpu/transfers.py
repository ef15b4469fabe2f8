"""Copies of bytes from, to and on a device of WebGPU, which copies multiples of four bytes alone.

Comes in: places in buffers and host memory. Goes out: the bytes copied. Where a copy begins or ends inside of four
bytes, those around it are read first and put back. Copies to the host wait for the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import wgpu

from pykern.runtime.drivers.webgpu.queue import Queue

GRAIN = 4
LARGEST = 16 << 20
"""Bytes that are copied at a time by way of the host."""


class Transfers:
    """All methods are called by those who hold the driver's lock."""

    def __init__(self, device: Any, queue: Queue) -> None:
        self._device, self._queue = device, queue
        self._staging: Any = None

    def copy_in(self, buffer: Any, offset: int, data: np.ndarray) -> None:
        """Put bytes into a buffer."""
        begin, end = offset // GRAIN * GRAIN, -(-(offset + data.size) // GRAIN) * GRAIN
        if (begin, end) != (offset, offset + data.size):
            around = np.empty(end - begin, np.uint8)
            self.copy_out(buffer, begin, around)
            around[offset - begin : offset - begin + data.size] = data
            data = around
        self._queue.submit()  # what is recorded comes before
        self._device.queue.write_buffer(buffer, begin, data)

    def copy_out(self, buffer: Any, offset: int, data: np.ndarray) -> None:
        """Fill host memory with bytes of a buffer; they are there when this returns."""
        for first in range(0, data.size, LARGEST):
            part = data[first : first + LARGEST]
            begin = (offset + first) // GRAIN * GRAIN
            end = -(-(offset + first + part.size) // GRAIN) * GRAIN
            staging = self._staging_of(end - begin)
            self._queue.commands().copy(buffer, begin, staging, 0, end - begin)
            self._queue.submit()
            staging.map_async("READ_NOSYNC", 0, end - begin).sync_wait()
            seen = np.frombuffer(staging.read_mapped(0, end - begin, copy=False), np.uint8)
            part[:] = seen[offset + first - begin :][: part.size]
            del seen
            staging.unmap()

    def copy(self, to: Any, to_offset: int, source: Any, offset: int, nbytes: int) -> None:
        """Copy on the device; where WebGPU cannot, through a buffer in between, or through the host."""
        if (to_offset | offset | nbytes) % GRAIN:
            data = np.empty(nbytes, np.uint8)
            self.copy_out(source, offset, data)
            self.copy_in(to, to_offset, data)
            return
        if to is source:
            usage = wgpu.BufferUsage
            between = self._device.create_buffer(size=nbytes, usage=usage.COPY_SRC | usage.COPY_DST)
            self._queue.commands().copy(source, offset, between, 0, nbytes)
            source, offset = between, 0
        self._queue.commands().copy(source, offset, to, to_offset, nbytes)

    def fill(self, buffer: Any, offset: int, pattern: bytes, nbytes: int) -> None:
        """Repeat a pattern; WebGPU itself fills with zeros alone."""
        if not any(pattern) and not (offset | nbytes) % GRAIN:
            self._queue.commands().clear(buffer, offset, nbytes)
            return
        whole = np.tile(np.frombuffer(pattern, np.uint8), min(nbytes, LARGEST) // len(pattern))
        for first in range(0, nbytes, LARGEST):
            self.copy_in(buffer, offset + first, whole[: nbytes - first])

    def _staging_of(self, nbytes: int) -> Any:
        """A buffer that the host may see, of at least so many bytes; the last one is kept."""
        if self._staging is None or self._staging.size < nbytes:
            size = max(1 << 16, 1 << (nbytes - 1).bit_length())
            usage = wgpu.BufferUsage
            self._staging = self._device.create_buffer(size=size, usage=usage.MAP_READ | usage.COPY_DST)
        return self._staging
