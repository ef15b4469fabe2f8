"""Loops over a row that reduce it, as vectors.

Comes in: innermost scf.for that carry reductions, and those beside them that write. Goes out: a loop of vectors,
its lanes put together, and the loop itself for the rest. Read next: `row_loops` (who fetches coming rows),
`reduction` (lanes of one value), `accesses` (which loops), `body` (their vectors).

Why: a maximum that keeps NaN is more than one instruction, and LLVM leaves loops of them scalar, such as those
of a softmax. One of these loops also prefetches a coming row, which would keep LLVM from vectorising it. Prefetching
what is going to be written gains nothing.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.errors import PassError
from pykern.passes.analysis.cost_model.lengths import FEWEST_SELECTED
from pykern.passes.analysis.cost_model.registers import PAIR_BYTES
from pykern.passes.framework import Pass
from pykern.passes.kernels import find, identity, index_constant, is_constant
from pykern.passes.vectorize.accesses import ELEMENTARY, accesses_of, arrays_of
from pykern.passes.vectorize.body import VectorBody
from pykern.passes.vectorize.row_loops import RowLoop, loop_over_rows, share_fetching
from pykern.passes.vectorize.selection import NO_POSITION, reductions_of
from pykern.passes.vectorize.vectorize_streams import functions, lanes_of

AS_IT_IS = "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"
"""Unrolled, lanes would be truth values of several vectors packed into bytes."""
REST = "#llvm.loop_annotation<interleave = <count = 1 : i32>>"
"""What is left is less than a vector: LLVM's own choice would be loops of as many elements, which never run."""


@dataclass(frozen=True)
class VectorizeReductions(Pass):
    """Give loops that reduce, one after another in a loop over rows, and those beside them a version in vectors.

    In:  func.func marked `kern.noalias`: its array arguments do not overlap with each other or with
         scratch of its own.
    Out: an scf.for over vectors of `bytes` (half of it where elementary functions are in the loop), which
         carries a vector for each reduction, and for each maximum or minimum which lanes met a NaN; then
         the loop as it was, from where that one ends. Of a maximum alone the last vector is made of the last
         elements. Loops with sums are taken where these may be reordered; where a loop only sums up, only beside
         others in a loop over rows or blocks, or where it computes elementary functions. Of -0.0 and 0.0 either
         may be the larger one.
    """

    name: ClassVar[str] = "kern-vectorize-reductions"
    powers: ClassVar[tuple[str, ...]] = ("bytes",)
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    scalar_only: ClassVar[bool] = True
    bytes: int = PAIR_BYTES
    prefetch: bool = True
    """Whether loops fetch coming rows of the arrays that are read."""

    def run(self, module: ir.Module) -> None:
        if self.bytes < 2 or self.bytes & (self.bytes - 1):
            raise PassError(f"`{self}`: `bytes` is the width of a vector, a power of two")
        for function in functions(module, distinct=True):
            self._function(function)

    def _function(self, function: ir.Operation) -> None:
        arrays = arrays_of(function)
        found = [
            each for loop in find(function, _is_candidate) if (each := _row_loop(loop, arrays)) is not None
        ]
        reduced = [identity(each.rows) for each in found if each.reductions and each.rows is not None]
        found = [each for each in found if each.reductions or identity(each.rows) in reduced]
        if self.prefetch:
            share_fetching(found)
        for each in reversed(found):
            each.fetch_while_streaming()
            _vectorize(each, self.bytes)


def _row_loop(loop: ir.Operation, arrays: list[ir.Value]) -> RowLoop | None:
    """A loop that reduces, or one in a loop over rows that carries nothing."""
    reductions, rows = reductions_of(loop), loop_over_rows(loop)
    wanted = rows or any(r.is_extreme for r in reductions) or (reductions and find(loop, _is_elementary))
    if not wanted or (loop.results and not reductions):
        return None
    accesses = accesses_of(loop, arrays)
    if accesses is None or not (accesses.loads if reductions else accesses.stores):
        return None
    if accesses.stores and any(each.runs_twice for each in reductions):
        return None
    return RowLoop(loop, accesses, reductions, rows)


def _vectorize(row: RowLoop, width: int) -> None:
    """Put a loop of vectors before the loop, which then runs what is left."""
    loop = row.loop
    costly = find(loop, lambda op: op.name.startswith("math."))
    lanes = lanes_of(row.accesses, width // 2 if costly else width)
    if any(each.runs_twice for each in row.reductions):
        lanes = min(lanes, width // 4)  # positions have four bytes
        while lanes > FEWEST_SELECTED and _is_short(loop, 2 * lanes):
            lanes //= 2
    if lanes < 2 or _is_short(loop, 2 * lanes):
        return
    again_at_end = not row.accesses.stores and all(each.is_extreme for each in row.reductions)
    with ir.InsertionPoint(loop), loop.location:
        lower, upper, initial = loop.operands[0], loop.operands[1], list(loop.operands)[3:]
        middle = (_all_if_many if again_at_end else whole_vectors)(lower, upper, lanes)
        if any(each.runs_twice for each in row.reductions):
            middle = _unless_longer(lower, upper, middle)
        begin = [value for each in row.reductions for value in each.begin(lanes, initial)]
        vectors = scf.ForOp(lower, middle, index_constant(lanes), begin)
        vectors.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(AS_IT_IS)
        with ir.InsertionPoint(vectors.body):
            at = vectors.induction_variable
            if again_at_end:  # some of the last elements were met before
                at = arith.MinSIOp(at, arith.SubIOp(upper, index_constant(lanes)).result).result
            row.fetch(at, lanes)
            made = VectorBody(lanes, loop=loop, accesses=row.accesses, iv=at)
            made.emit()
            held = iter(vectors.inner_iter_args)
            scf.YieldOp([v for each in row.reductions for v in each.step(held, made)])
        found = iter(vectors.results)
        joined = [each.finish(found, initial) for each in row.reductions]
        ends = {place: value for each in joined for place, value in each.values.items()}
        values = [middle, *(ends[place] for place in range(len(initial)))]
        values = _unless([doubt for each in joined for doubt in each.doubts], values, [lower, *initial])
    loop.attributes["llvm.loop_annotation"] = ir.Attribute.parse(REST)
    loop.operands[0] = values[0]
    for place, value in enumerate(values[1:]):
        loop.operands[3 + place] = value


def whole_vectors(lower: ir.Value, upper: ir.Value, lanes: int) -> ir.Value:
    """The bound up to which iterations make whole vectors."""
    trips = arith.MaxSIOp(arith.SubIOp(upper, lower).result, index_constant(0)).result
    rest = arith.RemUIOp(trips, index_constant(lanes)).result
    return arith.AddIOp(lower, arith.SubIOp(trips, rest).result).result


def _all_if_many(lower: ir.Value, upper: ir.Value, lanes: int) -> ir.Value:
    """The end of all iterations where they make a vector, else their beginning."""
    trips = arith.SubIOp(upper, lower).result
    many = arith.CmpIOp(arith.CmpIPredicate.sge, trips, index_constant(lanes)).result
    return arith.SelectOp(many, upper, lower).result


def _unless_longer(lower: ir.Value, upper: ir.Value, middle: ir.Value) -> ir.Value:
    """The end of the vectors, where positions of iterations have 31 bits."""
    trips = arith.SubIOp(upper, lower).result
    fits = arith.CmpIOp(arith.CmpIPredicate.slt, trips, index_constant(NO_POSITION)).result
    return arith.SelectOp(fits, middle, lower).result


def _unless(doubts: list[ir.Value], values: list[ir.Value], others: list[ir.Value]) -> list[ir.Value]:
    """The values; the others where one of the doubts is true."""
    if not doubts:
        return values
    doubt = functools.reduce(lambda left, right: arith.OrIOp(left, right).result, doubts)
    return [arith.SelectOp(doubt, b, a).result for a, b in zip(values, others, strict=True)]


def _is_candidate(op: ir.Operation) -> bool:
    """Loops over index with step 1."""
    if op.name != "scf.for" or is_constant(op.operands[2]) != 1:
        return False
    if "llvm.loop_annotation" in op.attributes:  # somebody has decided about it
        return False
    return isinstance(op.operands[0].type, ir.IndexType) and "unsignedCmp" not in op.attributes


def _is_elementary(op: ir.Operation) -> bool:
    return op.name in ELEMENTARY


def _is_short(loop: ir.Operation, trips: int) -> bool:
    bounds = [is_constant(v) for v in list(loop.operands)[:2]]
    return None not in bounds and bounds[1] - bounds[0] < trips  # type: ignore[operator]
