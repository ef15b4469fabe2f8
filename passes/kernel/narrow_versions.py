"""Loops in two versions where sizes are known at launch only: 32 bits while they fit, 64 bits beyond.

Comes in: an innermost loop that makes floats of 64-bit integers, of which nothing is proved.
Goes out: a branch: what comes from outside of the loop is tested against a limit under which all fits.
Read next: `narrow_indices` (who asks), `integer_ranges` (the proofs).
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from pykern.passes.analysis.cost_model.lengths import NARROW_LIMITS
from pykern.passes.analysis.integer_ranges import I32, Interval, Ranges
from pykern.passes.ir.loop_versions import branch_on
from pykern.passes.ir.values import is_inside
from pykern.passes.kernels import find

_COLD = "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"


class LimitedRanges(Ranges):
    """Intervals within a loop, should all that comes from outside lie within -limit .. limit."""

    def __init__(self, loop: ir.Operation, limit: int, known: Ranges) -> None:
        super().__init__()
        self.loop, self.limit, self.known = loop, Interval(-limit, limit), known
        self.assumed: dict[ir.Value, None] = {}

    def of(self, value: ir.Value) -> Interval:
        if is_inside(value, self.loop):
            return super().of(value)
        known = self.known.of(value)
        if known.inside(self.limit):
            return known
        self.assumed[value] = None
        low, high = max(known.low, self.limit.low), min(known.high, self.limit.high)
        return Interval(low, high) if low <= high else self.limit


def is_candidate(loop: ir.Operation) -> bool:
    """Innermost loops that carry nothing."""
    return loop.name == "scf.for" and not loop.results and not find(loop, lambda op: op.name == "scf.for")


def limited(loop: ir.Operation, values: list[ir.Value], known: Ranges) -> LimitedRanges | None:
    """The widest limit under which each of the values fits in 32 bits; those that never do are left out of
    `values`. None where there is no such limit."""
    never = LimitedRanges(loop, NARROW_LIMITS[-1], known)
    values[:] = [value for value in values if never.of(value).inside(I32)]
    if not values:
        return None
    for limit in NARROW_LIMITS:
        ranges = LimitedRanges(loop, limit, known)
        if all(ranges.of(value).inside(I32) for value in values):
            return ranges
    return None


def branch(loop: ir.Operation, ranges: LimitedRanges) -> None:
    """Put the loop into a branch that runs where the assumptions hold, and a copy of it into the other."""
    with ir.InsertionPoint(loop), loop.location:
        tests = [test for value in ranges.assumed for test in _within(value, ranges.limit)]
        condition = tests[0]
        for test in tests[1:]:
            condition = arith.AndIOp(condition, test).result
        wide, _ = branch_on(loop, condition)
    wide.attributes["llvm.loop_annotation"] = ir.Attribute.parse(_COLD)  # 2**16 and more: rare


def _within(value: ir.Value, limit: Interval) -> list[ir.Value]:
    low, high = (arith.ConstantOp(value.type, bound).result for bound in (limit.low, limit.high))
    return [
        arith.CmpIOp(arith.CmpIPredicate.sge, value, low).result,
        arith.CmpIOp(arith.CmpIPredicate.sle, value, high).result,
    ]
