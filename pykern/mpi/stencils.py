"""Launches while halos are on their way: which part of a launch needs none.

Comes in: a kernel, the arguments of a call, and the arrays whose halos travel. Goes out: the two parts of the launch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pykern.api.kernel import KernelBase
from pykern.api.reach import accesses
from pykern.data.access_offsets import width
from pykern.data.records import record
from pykern.errors import ARGUMENTS, LaunchError
from pykern.mpi.blocks import Block

Space = tuple[range, ...]


@record
class Split:
    """A launch in two parts: what needs no halo, and the rest, the rim."""

    interior: Space
    rim: tuple[Space, ...]

    @property
    def elements(self) -> int:
        """Work-items of the interior."""
        return math.prod(map(len, self.interior))


def split(
    kernel: KernelBase,
    values: Sequence[tuple[str, Any]],
    space: tuple[int, ...],
    block: Block,
    exchanged: Sequence[Any],
) -> Split | None:
    """The two parts of a launch that reads arrays whose halos are on their way; None where it cannot be told apart.

    Raises `LaunchError` where the kernel looks further than the halo reaches.
    """
    alone, arrays = accesses(kernel, values, len(space))
    begin, end = [0] * len(space), list(space)
    for array in arrays:
        if not any(array.value is one for one in exchanged):
            if any(overlap(array.value, one) for one in exchanged):
                return None
            continue
        reads = width(array.reads)
        if not alone or array.writes != () or tuple(array.value.shape) != space or reads is None:
            return None
        for axis, offset in enumerate(array.reads or ()):
            span = block.spans[axis]
            extra = space[axis] - (span.high - span.low)
            _check_width(kernel, array.name, max(-offset.least, offset.most), span.halo + max(0, extra))
            if span.has(-1):
                begin[axis] = max(begin[axis], span.begin - span.low - offset.least)
            if span.has(1):
                end[axis] = min(end[axis], span.end - span.low - offset.most)
    if any(b >= e for b, e in zip(begin, end, strict=True)):
        return None
    interior = tuple(map(range, begin, end))
    return Split(interior, tuple(_rim(interior, space)))


def _check_width(kernel: KernelBase, name: str, wanted: int, there: int) -> None:
    if wanted > there:
        raise LaunchError(
            f"`{kernel.__name__}` reads `{name}` {wanted} elements away, and the grid's halo has {there}",
            hint=f"make it wider: pk.mpi.Grid(shape, halo={wanted})",
            code=ARGUMENTS,
        )


def _rim(interior: Space, space: tuple[int, ...]) -> Iterable[Space]:
    """What is left of an index space, in boxes that do not overlap."""
    for axis, inside in enumerate(interior):
        before, behind = interior[:axis], tuple(map(range, space[axis + 1 :]))
        for side in (range(inside.start), range(inside.stop, space[axis])):
            if len(side):
                yield (*before, side, *behind)


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays share memory, as far as their ends tell."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    return getattr(a, "_allocation", a) is getattr(b, "_allocation", b)
