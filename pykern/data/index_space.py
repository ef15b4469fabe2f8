"""What ``ndrange=`` may be, and what it means.

An int, a range, or a tuple of ints and ranges, one a dimension; a list of tuples and ranges launches
each in turn. Goes out: `Extent`s, plain data, and `LaunchShape`: one index space with the size of its groups.
"""

from __future__ import annotations

import operator
from functools import cached_property
from typing import Any

from pykern.data.records import record
from pykern.errors import NDRANGE, WORKGROUP, LaunchError

MAX_DIMENSIONS = 8
_WORDS = range(-(1 << 63), 1 << 63)
"""What a launch's slots hold: lengths, starts and steps."""


@record
class Extent:
    """One dimension of an index space: `count` coordinates from `start` by `step`."""

    start: int
    step: int
    count: int


@record
class LaunchShape:
    """What a launch is besides its arguments: `workgroup` is () where the launch leaves it open, `shared` the bytes
    of shared memory that it asks for, None where it asks for none."""

    space: tuple[Extent, ...]
    workgroup: tuple[int, ...] = ()
    shared: int | None = None

    @cached_property
    def plain(self) -> bool:
        """Whether every dimension counts 0, 1, 2, ..."""
        return is_plain(self.space)

    @cached_property
    def unit(self) -> bool:
        """Whether the coordinates of every dimension follow one another, though not all begin at 0."""
        return is_unit(self.space)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Work-items along each dimension."""
        return tuple(extent.count for extent in self.space)

    @property
    def empty(self) -> bool:
        """Whether there are no work-items."""
        return 0 in self.counts

    @property
    def slots(self) -> list[int]:
        """The index space as code takes it."""
        if self.plain:
            return list(self.counts)
        return [slot for e in self.space for slot in (e.count, e.start, e.step)]


def launches(ndrange: Any) -> list[tuple[Extent, ...]]:
    """The index spaces an ``ndrange=`` asks for. Raises `LaunchError` for anything else."""
    if isinstance(ndrange, list):
        if ndrange and all(_length(item) is not None for item in ndrange):
            each = ", ".join(f"({item},)" for item in ndrange)
            raise LaunchError(
                f"ndrange={ndrange!r} is a list, which is for several launches in turn",
                hint=f"write ndrange={tuple(ndrange)!r} for its dimensions; launches in turn are ndrange=[{each}]",
                code=NDRANGE,
            )
        return [index_space(item) for item in ndrange]
    return [index_space(ndrange)]


def index_space(ndrange: Any) -> tuple[Extent, ...]:
    """One index space."""
    dims = ndrange if isinstance(ndrange, tuple) else (ndrange,)
    if not 1 <= len(dims) <= MAX_DIMENSIONS:
        raise LaunchError(
            f"ndrange={ndrange!r} has {len(dims)} dimensions",
            hint=f"an ndrange has 1 to {MAX_DIMENSIONS}",
            code=NDRANGE,
        )
    return tuple(_extent(dim, ndrange) for dim in dims)


def _extent(dim: Any, ndrange: Any) -> Extent:
    if isinstance(dim, range):
        try:
            extent = Extent(dim.start, dim.step, len(dim))
        except OverflowError:
            raise _too_large(ndrange) from None
        end = dim.start + len(dim) if dim.step == 1 else dim.start
        if not all(number in _WORDS for number in (dim.start, dim.step, end)):
            raise _too_large(ndrange)
        return extent
    count = _length(dim)
    if count is None:
        raise LaunchError(
            f"ndrange={_short(ndrange)}: {'it' if dim is ndrange else _short(dim)} is neither an integer nor a range",
            hint=_meant(dim) or "write ndrange=n, ndrange=(n, m), or ndrange=(range(1, n - 1), m)",
            code=NDRANGE,
        )
    if count < 0:
        raise LaunchError(
            f"ndrange={ndrange!r}: a length must not be negative", hint="use max(0, n)", code=NDRANGE
        )
    if count not in _WORDS:
        raise _too_large(ndrange)
    return Extent(0, 1, count)


def _too_large(ndrange: Any) -> LaunchError:
    return LaunchError(
        f"ndrange={ndrange!r}: a length needs more than 64 bits", hint="work in parts", code=NDRANGE
    )


def _short(value: Any) -> str:
    """Arrays by their shapes, all else as it is."""
    shape = getattr(value, "shape", None)
    return f"an array of shape {shape}" if shape else repr(value)


def _meant(dim: Any) -> str | None:
    if getattr(dim, "ndim", 0) == 1 and dim.dtype.kind in "iu" and dim.size <= MAX_DIMENSIONS:
        return f"make a tuple of it: ndrange={tuple(dim.tolist())}"
    if getattr(dim, "shape", None):
        return "write ndrange=x.shape for one work-item an element, or ndrange=x.size"
    if isinstance(dim, float):
        return f"write ndrange={int(dim)}; n // 2 is an integer, n / 2 is not"
    if isinstance(dim, list):
        return f"write a tuple: ndrange={tuple(dim)!r}"
    return None


def is_plain(space: tuple[Extent, ...]) -> bool:
    """Whether every dimension counts 0, 1, 2, ..."""
    return all(e.start == 0 and e.step == 1 for e in space)


def is_unit(space: tuple[Extent, ...]) -> bool:
    """Whether the space is not plain, and every step is 1."""
    return not is_plain(space) and all(e.step == 1 for e in space)


def is_alone(derivatives: tuple, space: tuple[Extent, ...]) -> bool:
    """A derivative launched over one work-item: that no other one writes is worth a variant of its own."""
    return bool(derivatives) and all(e.count == 1 for e in space)


def group_size(workgroup: Any, rank: int) -> tuple[int, ...]:
    """``workgroup=`` as a tuple with one size a dimension."""
    sizes = workgroup if isinstance(workgroup, tuple) else (workgroup,)
    lengths = [_length(size) for size in sizes]
    if not sizes or any(n is None or n < 1 for n in lengths):
        raise LaunchError(
            f"workgroup={workgroup!r}: sizes are integers of at least 1",
            hint="write workgroup=64, workgroup=(8, 8), or leave it out",
            code=WORKGROUP,
        )
    if len(sizes) > rank:
        raise LaunchError(
            f"workgroup={workgroup!r} has {len(sizes)} dimensions and the ndrange {rank}",
            hint="give one size a dimension of the ndrange",
            code=WORKGROUP,
        )
    return (*(int(n) for n in lengths if n is not None), *(1,) * (rank - len(sizes)))


def _length(value: Any) -> int | None:
    """An integer (also NumPy's), but no bool and no float."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
