"""The slots of launches: a ring of memory that the host writes and kernels read, one for each stream.

Comes in: the 8-byte slots of a launch. Goes out: the offset they were written at. What a launch under
way still reads is not written over.
"""

from __future__ import annotations

import functools
import struct
from collections import deque
from typing import TYPE_CHECKING

from pykern.errors import DeviceError
from pykern.runtime.drivers.vulkan.api import ffi

if TYPE_CHECKING:
    from pykern.runtime.drivers.vulkan.memory import Part
    from pykern.runtime.drivers.vulkan.stream import Batch, Stream

RING_BYTES = 256 << 10
_MASK = (1 << 64) - 1


@functools.cache
def _format(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}Q")


class SlotRing:
    """A ring. `part` is where it lies; it is mapped."""

    def __init__(self, part: Part, alignment: int) -> None:
        self.part = part
        self._bytes = ffi.buffer(ffi.cast("char*", part.block.mapped + part.offset), part.size)
        self._alignment = alignment
        self._head = 0  # positions count on; modulo the ring's size they are offsets
        self._used: deque[tuple[int, Batch]] = deque()  # (position, who reads it), oldest first

    def write(self, stream: Stream, batch: Batch, slots: list[int]) -> int:
        """The offset in the ring's part."""
        ring = self.part.size
        size = max(-(-8 * len(slots) // self._alignment), 1) * self._alignment
        if size > ring:
            raise DeviceError(f"a launch takes at most {ring // 8} slots, not {len(slots)}")
        start = self._head
        if start % ring + size > ring:  # in one piece, so not around the end
            start += ring - start % ring
        while self._used and (self._used[0][1].done or start + size - self._used[0][0] > ring):
            oldest = self._used.popleft()[1]
            if not oldest.done:
                stream.block(oldest.number)
        _format(len(slots)).pack_into(self._bytes, start % ring, *[slot & _MASK for slot in slots])
        self._used.append((start, batch))
        self._head = start + size
        return start % ring
