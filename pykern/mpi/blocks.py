"""Which part of a global index space each rank has: numbers alone, nothing of MPI.

Comes in: the global shape, the number of ranks, the width of the halo. Goes out: a `Block`, and for each neighbour the
slices that are sent to it and received from it. Along an axis a rank owns the global indices ``begin`` to ``end``; its
arrays hold ``low`` to ``high``, which has the halo, too, except at a physical edge.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from pykern.data.records import record
from pykern.errors import ARGUMENTS, LaunchError

Direction = tuple[int, ...]
"""Where a neighbour is: -1, 0 or 1 along each axis."""
Region = tuple[slice, ...]
"""A part of a rank's array."""


@record
class Span:
    """What a rank has along one axis of `length` global indices that `parts` ranks share; it is the `place`-th."""

    length: int
    parts: int
    place: int
    halo: int
    periodic: bool

    @property
    def begin(self) -> int:
        """The first index that it owns. The first ranks own one more where the length does not divide."""
        share, left = divmod(self.length, self.parts)
        return self.place * share + min(self.place, left)

    @property
    def end(self) -> int:
        """The first index behind those that it owns."""
        share, left = divmod(self.length, self.parts)
        return self.begin + share + (self.place < left)

    @property
    def low(self) -> int:
        """The first index that its arrays hold; negative where the axis is periodic."""
        return self.begin - self.halo if self.has(-1) else 0

    @property
    def high(self) -> int:
        """The first index behind those that its arrays hold."""
        return self.end + self.halo if self.has(1) else self.length

    def has(self, side: int) -> bool:
        """Whether there is a neighbour on that side (-1 or 1)."""
        return self.periodic or 0 <= self.place + side < self.parts

    def owned(self, extra: int) -> tuple[int, int]:
        """The global indices that it owns of a field that is longer by `extra`: the last rank has those."""
        return self.begin, self.end + (0 if self.has(1) else extra)

    def part(self, side: int, extra: int, sent: bool) -> tuple[int, int]:
        """The global indices that are sent to the neighbour on a side, or received from it."""
        if side < 0:
            return (self.begin, self.begin + self.halo + extra) if sent else (self.low, self.begin)
        if side > 0:
            return (self.end - self.halo, self.end) if sent else (self.end, self.high + extra)
        return self.owned(extra)


@record
class Block:
    """What a rank has of the whole index space."""

    spans: tuple[Span, ...]

    @property
    def local(self) -> tuple[int, ...]:
        """The shape of its arrays."""
        return tuple(span.high - span.low for span in self.spans)

    @property
    def neighbours(self) -> Iterator[Direction]:
        """The directions in which there are others, or, where an axis is periodic, itself."""
        for direction in itertools.product((-1, 0, 1), repeat=len(self.spans)):
            if any(direction) and all(s.has(d) for s, d in zip(self.spans, direction, strict=True) if d):
                yield direction

    def rank_of(self, direction: Direction) -> int:
        """Whose rank the neighbour in a direction is."""
        rank = 0
        for span, side in zip(self.spans, direction, strict=True):
            rank = rank * span.parts + (span.place + side) % span.parts
        return rank

    def region(self, direction: Direction, extra: Sequence[int], sent: bool) -> Region:
        """What of an array is sent in a direction, or received from there."""
        ranges = [s.part(d, e, sent) for s, d, e in zip(self.spans, direction, extra, strict=True)]
        return self._local(ranges)

    def owned(self, extra: Sequence[int]) -> Region:
        """What of an array is its own."""
        return self._local([span.owned(e) for span, e in zip(self.spans, extra, strict=True)])

    def owned_globally(self, extra: Sequence[int]) -> Region:
        """The same as a part of the global array."""
        return tuple(slice(*span.owned(e)) for span, e in zip(self.spans, extra, strict=True))

    def held_globally(self, extra: Sequence[int]) -> list[range]:
        """The indices of the global array that stand along each axis of an array of this rank."""
        return [range(span.low, span.high + e) for span, e in zip(self.spans, extra, strict=True)]

    def _local(self, ranges: Sequence[tuple[int, int]]) -> Region:
        return tuple(slice(a - s.low, b - s.low) for (a, b), s in zip(ranges, self.spans, strict=True))


def block_of(
    rank: int, shape: Sequence[int], parts: Sequence[int], halo: Sequence[int], periodic: Sequence[bool]
) -> Block:
    """The block of a rank; ranks are counted along the last axis first."""
    places = []
    for count in reversed(parts):
        rank, place = divmod(rank, count)
        places.append(place)
    return Block(tuple(map(Span, shape, parts, reversed(places), halo, periodic)))


def partition(size: int, shape: Sequence[int], halo: Sequence[int]) -> tuple[int, ...]:
    """How many ranks stand along each axis: such that halos are quickly exchanged (`_cost`). Raises `LaunchError` where
    each rank would own less than the halo."""
    found = [parts for parts in _factors(size, len(shape)) if _fits(parts, shape, halo)]
    if not found:
        raise LaunchError(
            f"{size} ranks are too many for a grid of {tuple(shape)} with a halo of {tuple(halo)}",
            hint="each rank owns at least as many elements along an axis as the halo is wide: take fewer ranks",
            code=ARGUMENTS,
        )
    return min(found, key=lambda parts: (_cost(parts, shape, halo), [-p for p in parts]))


def check_parts(parts: Sequence[int], size: int, shape: Sequence[int], halo: Sequence[int]) -> None:
    """Raises `LaunchError` where so many ranks along each axis are not what there is."""
    if len(parts) != len(shape) or math.prod(parts) != size or not _fits(parts, shape, halo):
        raise LaunchError(
            f"ranks={tuple(parts)!r} does not share a grid of {tuple(shape)} among {size} ranks",
            hint=f"give one number an axis with the product {size}, or leave it out",
            code=ARGUMENTS,
        )


def _factors(size: int, axes: int) -> Iterator[tuple[int, ...]]:
    if axes == 1:
        yield (size,)
        return
    for first in (n for n in range(1, size + 1) if size % n == 0):
        for rest in _factors(size // first, axes - 1):
            yield (first, *rest)


def _fits(parts: Sequence[int], shape: Sequence[int], halo: Sequence[int]) -> bool:
    return all(n // p >= max(h, 1) for n, p, h in zip(shape, parts, halo, strict=True))


APART = 8
"""What an element of a halo costs that lies apart from the next one, where others cost 1."""


def _cost(parts: Sequence[int], shape: Sequence[int], halo: Sequence[int]) -> int:
    """Elements of the halos between all ranks. Those along the last axis lie apart in memory; and while that axis is
    whole, each element stands at the same place of a vector, and is rounded alike, however many ranks there are."""
    whole, last = math.prod(shape), len(shape) - 1
    return sum(
        (p - 1) * max(h, 1) * (whole // n) * (APART if axis == last > 0 else 1)
        for axis, (n, p, h) in enumerate(zip(shape, parts, halo, strict=True))
    )
