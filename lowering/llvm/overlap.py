"""What an entry checks of arguments that share bytes.

Comes in: the arrays of a call. Goes out: checks, which lead to Python where they fail: that no array which is written
shares bytes with another, or, in code that was compiled for it, that the two are one view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from pykern.data.source import ArraySpec
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.function import Block
from pykern.lowering.llvm.text_ir.values import I1, I64, Operand, Value
from pykern.types import BY_NAME


@dataclass(frozen=True)
class Span:
    """The bytes of an array, from `low` to before `high`; an empty one is [data, data). Views of one `kind`, which
    is dtype, rank and layout, are compared by `view`: address, lengths and strides."""

    low: Value
    high: Value
    writes: bool
    kind: tuple[str, int, str] | None = None
    view: tuple[Value, ...] = ()


def span_of(
    f: Body, data: Value, spec: ArraySpec, lengths: Sequence[Value], strides: Sequence[Value], writes: bool
) -> Span:
    """The span of an array of NumPy's; `strides` are in bytes, none where elements are dense."""
    kind, itemsize = (spec.dtype, spec.rank, spec.strided), BY_NAME[spec.dtype].itemsize
    first = f.cast("ptrtoint", data, I64)
    view = (first, *lengths, *strides)
    size = I64(itemsize)
    for length in lengths:
        size = f.mul(size, length)
    if not spec.strided:
        return Span(first, f.add(first, size), writes, kind, view)
    low, high = first, f.add(first, itemsize)
    for length, stride in zip(lengths, strides, strict=True):
        reach = f.mul(f.sub(length, 1), stride)
        down = f.is_(reach, "<", 0)
        low = f.add(low, f.select(down, reach, 0))
        high = f.add(high, f.select(down, 0, reach))
    return Span(low, f.select(f.is_(size, "==", 0), low, high), writes, kind, view)


def check_itself(
    f: Body, spec: ArraySpec, lengths: Sequence[Value], strides: Sequence[Value], otherwise: Operand | Block
) -> None:
    """An array that is written has one place for each position: along every axis it steps over all that the axes with
    shorter steps reach. Arrays with other strides, too, go to Python, which counts."""
    itemsize = BY_NAME[spec.dtype].itemsize
    sizes = [f.select(f.is_(stride, "<", 0), f.neg(stride), stride) for stride in strides]
    reaches = [f.mul(size, f.sub(length, 1)) for size, length in zip(sizes, lengths, strict=True)]
    for axis, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
        extent = I64(itemsize)
        for other, (shorter, reach) in enumerate(zip(sizes, reaches, strict=True)):
            if other != axis:
                extent = f.add(extent, f.select(f.is_(shorter, "<=", size), reach, 0))
        f.need(f.or_(f.is_(size, ">=", extent), f.is_(length, "<=", 1)), otherwise)


def check_overlap(f: Body, spans: Sequence[Span], same_views: bool, otherwise: Operand | Block) -> None:
    """No written array shares bytes with another argument; with `same_views` one is the very same view as another:
    arrays that share nothing have code of their own, which is faster."""
    is_shared: Operand = I1(0)
    for a, b in combinations(spans, 2):
        if a.writes or b.writes:
            good = f.or_(f.is_(a.high, "u<=", b.low), f.is_(b.high, "u<=", a.low))
            if same_views and a.kind == b.kind:
                alike = I1(1)
                for x, y in zip(a.view, b.view, strict=True):
                    alike = f.and_(alike, f.is_(x, "==", y))
                good = f.or_(good, alike)
                is_shared = f.or_(is_shared, alike)
            f.need(good, otherwise)
    if same_views:
        f.need(is_shared, otherwise)
