"""Guards of places that are a few steps apart compare the steps, in 32 bits.

Comes in: `first + k * 256 < n` where a launch may be so large that the sum needs 64 bits. Goes out:
`k * 256 < rest`, and `rest`, which is `n - first` as far as 32 bits tell it, once for all. Read next: `narrow_indices`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes.analysis.integer_ranges import I32, Interval, Ranges, width
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.ir.predicates import predicate_of
from pykern.passes.ir.values import is_inside, made_by, parent_of
from pykern.passes.kernels import named

FAR = 1 << 30
_EXACT, _NEAR = Interval(-(1 << 61), 1 << 61), Interval(1 - FAR, FAR - 1)


@dataclass(frozen=True)
class CompareOffsets(Pass):
    """Compare what is added to a base with what is left behind the base.

    In:  `arith.cmpi` of a sum of a base and an offset with a limit, in 64 bits, in order, where the ranges of all are
         known: the sum does not fit in 32 bits, the offset does. There are several of the same base and limit, or it is
         in a loop that only changes the offset.
    Out: `limit - base`, kept within 32 bits, and comparisons of offsets with it.
    """

    name: ClassVar[str] = "kern-compare-offsets"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.cmpi",)

    def run(self, module: ir.Module) -> None:
        ranges = Ranges()
        found: dict[tuple[ir.Value, ir.Value], list[tuple[ir.Operation, ir.Value | None]]] = defaultdict(list)
        for op in named(module.operation, "arith.cmpi"):
            value, limit = op.operands
            is_wide = width(value.type) == 64 and not ranges.of(value).inside(I32)
            if is_wide and predicate_of(op).startswith("s"):
                base, offset = _split(value, ranges)
                if ranges.of(base).inside(_EXACT) and ranges.of(limit).inside(_EXACT):
                    found[base, limit].append((op, offset))
        for (base, limit), compares in found.items():
            shares = len(compares) > 1 and any(offset is not None for _, offset in compares)
            if shares or _only_offset_changes(*compares[0], base, limit):
                for op, offset in compares:
                    _compare(op, base, limit, offset)


def _split(value: ir.Value, ranges: Ranges) -> tuple[ir.Value, ir.Value | None]:
    """A value as a base, and an offset that is small where it is a sum with one."""
    total = made_by(value, "arith.addi")
    if total is not None:
        left, right = total.operands
        if ranges.of(right).inside(_NEAR):
            return left, right
        if ranges.of(left).inside(_NEAR):
            return right, left
    return value, None


def _only_offset_changes(op: ir.Operation, offset: ir.Value | None, base: ir.Value, limit: ir.Value) -> bool:
    """Whether the op's loop, if it is in one, makes the offset, and has nothing to do with base and limit."""
    loop = op
    while loop.parent is not None and loop.name not in ("scf.for", "scf.while"):
        loop = parent_of(loop)
    return (
        offset is not None
        and loop.parent is not None
        and is_inside(offset, loop)
        and not is_inside(base, loop)
        and not is_inside(limit, loop)
    )


def _compare(op: ir.Operation, base: ir.Value, limit: ir.Value, offset: ir.Value | None) -> None:
    with ir.InsertionPoint(op), op.location:
        rest = arith.SubIOp(limit, base).result
        rest = arith.MaxSIOp(rest, constant(rest.type, -FAR)).result
        rest = arith.MinSIOp(rest, constant(rest.type, FAR)).result
        op.operands[0] = constant(base.type, 0) if offset is None else offset
        op.operands[1] = rest
