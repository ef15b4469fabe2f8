"""What an entry checks of arguments that share bytes.

Comes in: the arrays of a call, as names of LLVM values. Goes out: checks, which lead to Python where they fail: that
no array which is written shares bytes with another, or, in code that was compiled for it, that the two are one view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pykern.data.source import ArraySpec
from pykern.types import BY_NAME


class Writer(Protocol):
    """What writes the entry."""

    def emit(self, text: str) -> str: ...
    def need(self, condition: str) -> None: ...


@dataclass(frozen=True)
class Span:
    """The bytes of an array, from `low` to before `high`; an empty one is [data, data). Views of one `kind`, which
    is dtype, rank and layout, are compared by `view`: address, lengths and strides."""

    low: str
    high: str
    writes: bool
    kind: tuple[str, int, str] | None = None
    view: tuple[str, ...] = ()


def span_of(
    entry: Writer, data: str, spec: ArraySpec, lengths: Sequence[str], strides: Sequence[str], writes: bool
) -> Span:
    """The span of an array of NumPy's; `strides` are in bytes, none where elements are dense."""
    kind, itemsize = (spec.dtype, spec.rank, spec.layout), BY_NAME[spec.dtype].itemsize
    first = entry.emit(f"ptrtoint ptr {data} to i64")
    view = (first, *lengths, *strides)
    size = str(itemsize)
    for length in lengths:
        size = entry.emit(f"mul i64 {size}, {length}")
    if spec.layout == "C":
        return Span(first, entry.emit(f"add i64 {first}, {size}"), writes, kind, view)
    low, high = first, entry.emit(f"add i64 {first}, {itemsize}")
    for length, stride in zip(lengths, strides, strict=True):
        span = entry.emit(f"mul i64 {entry.emit(f'sub i64 {length}, 1')}, {stride}")
        negative = entry.emit(f"icmp slt i64 {span}, 0")
        low = entry.emit(f"add i64 {low}, {entry.emit(f'select i1 {negative}, i64 {span}, i64 0')}")
        high = entry.emit(f"add i64 {high}, {entry.emit(f'select i1 {negative}, i64 0, i64 {span}')}")
    empty = entry.emit(f"icmp eq i64 {size}, 0")
    return Span(low, entry.emit(f"select i1 {empty}, i64 {low}, i64 {high}"), writes, kind, view)


def check_itself(entry: Writer, spec: ArraySpec, lengths: Sequence[str], strides: Sequence[str]) -> None:
    """An array that is written has one place for each position: along every axis it steps over all that the axes with
    shorter steps reach. Arrays with other strides, too, go to Python, which counts."""
    itemsize, sizes, reaches = BY_NAME[spec.dtype].itemsize, [], []
    for length, stride in zip(lengths, strides, strict=True):
        back = entry.emit(f"sub i64 0, {stride}")
        size = entry.emit(f"select i1 {entry.emit(f'icmp slt i64 {stride}, 0')}, i64 {back}, i64 {stride}")
        sizes.append(size)
        reaches.append(entry.emit(f"mul i64 {size}, {entry.emit(f'sub i64 {length}, 1')}"))
    for axis, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
        extent = str(itemsize)
        for other, (shorter, reach) in enumerate(zip(sizes, reaches, strict=True)):
            if other != axis:
                inside = entry.emit(f"icmp sle i64 {shorter}, {size}")
                extent = entry.emit(
                    f"add i64 {extent}, {entry.emit(f'select i1 {inside}, i64 {reach}, i64 0')}"
                )
        apart = entry.emit(f"icmp sge i64 {size}, {extent}")
        entry.need(entry.emit(f"or i1 {apart}, {entry.emit(f'icmp sle i64 {length}, 1')}"))


def check_overlap(entry: Writer, spans: Sequence[Span], same_views: bool) -> None:
    """No written array shares bytes with another argument; with `same_views` it may be the very same view."""
    for i, a in enumerate(spans):
        for b in spans[i + 1 :]:
            if a.writes or b.writes:
                before = entry.emit(f"icmp ule i64 {a.high}, {b.low}")
                after = entry.emit(f"icmp ule i64 {b.high}, {a.low}")
                good = entry.emit(f"or i1 {before}, {after}")
                if same_views and a.kind == b.kind:
                    alike = "true"
                    for x, y in zip(a.view, b.view, strict=True):
                        alike = entry.emit(f"and i1 {alike}, {entry.emit(f'icmp eq i64 {x}, {y}')}")
                    good = entry.emit(f"or i1 {good}, {alike}")
                entry.need(good)
