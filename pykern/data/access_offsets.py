"""How far from its own index a work-item accesses arrays, as plain data.

Comes in: `pykern.passes.kernel.access_offsets` finds it. Goes out: what shares a launch between ranks asks here.
"""

from __future__ import annotations

from typing import Union

from pykern.data.records import record


@record
class Offset:
    """An index: the work-item's own along `axis` and `least` to `most` beside it; without an axis those alone."""

    axis: int | None
    least: int
    most: int


Offsets = Union[tuple[Offset, ...], None]
"""One for each dimension of an array; () where it is not accessed, None where an index is something else."""


@record
class AccessOffsets:
    """Those of a kernel. `alone`: its work-items know nothing of one another, nor of the index space that they run
    in, so that they may run in several launches."""

    alone: bool
    reads: tuple[Offsets, ...]
    writes: tuple[Offsets, ...]


def width(offsets: Offsets) -> tuple[int, ...] | None:
    """How many neighbours are read along each axis, where the axes of array and index space are the same; None where
    that is not known."""
    if offsets is None or any(o.axis != axis for axis, o in enumerate(offsets)):
        return None
    return tuple(max(0, -o.least, o.most) for o in offsets)
