"""The free parts of one block of memory: arithmetic only, no API.

Comes in: sizes and offsets in bytes, all multiples of one grain that the caller chose. Goes out: the
offset of a part that fits best, or None. Neighbours that are both free become one part.
"""

from __future__ import annotations

from bisect import bisect_left


class FreeList:
    """Parts of ``[0, size)`` that nobody uses."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.free = size
        self._parts: list[tuple[int, int]] = [(0, size)] if size else []  # (offset, size), by offset

    @property
    def whole(self) -> bool:
        """Whether nobody uses anything."""
        return self.free == self.size

    @property
    def largest(self) -> int:
        return max((size for _, size in self._parts), default=0)

    def take(self, size: int) -> int | None:
        """The smallest part that holds `size` bytes, or None."""
        best = -1
        for place, (_, there) in enumerate(self._parts):
            if there >= size and (best < 0 or there < self._parts[best][1]):
                best = place
                if there == size:
                    break
        if best < 0:
            return None
        offset, there = self._parts[best]
        if there == size:
            del self._parts[best]
        else:
            self._parts[best] = (offset + size, there - size)
        self.free -= size
        return offset

    def give(self, offset: int, size: int) -> None:
        """Bytes that `take` gave are free again."""
        place = bisect_left(self._parts, (offset, 0))
        end = offset + size
        self.free += size
        if place < len(self._parts) and self._parts[place][0] == end:
            end += self._parts.pop(place)[1]
        if place and sum(self._parts[place - 1]) == offset:
            place -= 1
            offset = self._parts.pop(place)[0]
        self._parts.insert(place, (offset, end - offset))
