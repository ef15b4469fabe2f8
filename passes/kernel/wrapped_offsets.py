"""Removes the modulo from indices that wrap around: `(j + c) % n` in a loop over `j`, for any loop-invariant `c`.

Comes in: a loop over work-items. Goes out: an outer loop over rounds, and an inner loop over the wrapped index `t`,
from which `j` follows. Within a round both grow by one per iteration, so that accesses by either are contiguous:

    before                              after
    for j in 0..n:                      for each round (at most two here):
        o[j] = x[(j + c) % n]               for t in the part of 0..n of this round: o[t - c + round * n] = x[t]

Read next: `delinearise`, for flat indices, which are the case without an offset; `edges`, for small constant offsets.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes.analysis.cost_model.lengths import TERMS_OF_OFFSET
from pykern.passes.ir.effects import erase_dead
from pykern.passes.ir.floor_division import floor_divisions
from pykern.passes.ir.index_arithmetic import Affine, hoist, materialise
from pykern.passes.kernel.narrow_sums import are_small, index_behind, narrow_sum
from pykern.passes.kernel.tables_read import hoist_reads
from pykern.passes.kernels import index_arithmetic, index_constant


@dataclass(frozen=True)
class Wrapped:
    """`op` gives the variable of the loop plus `offset`, modulo `period`."""

    op: ir.Operation
    offset: Affine
    period: ir.Value
    narrow: bool
    """Whether it is computed with 32 bits, so that it only is so where all numbers are small."""

    def tests(self, loop: ir.Operation) -> list[ir.Value]:
        """What has to hold of numbers of 32 bits. Made where the builder stands."""
        if not self.narrow:
            return []
        numbers = are_small([value for _, value in self.offset.terms])
        return are_small([self.period, loop.operands[1]], least=False) + numbers


def wrapped_offsets(loop: ir.Operation) -> list[Wrapped]:
    """The remainders of a loop with offsets that are no known numbers. What they need is moved in front of the loop."""
    found = []
    for division in floor_divisions(loop):
        if division.is_remainder and hoist(division.divisor, loop):
            period = index_behind(division.divisor)
            hoist_reads(division.dividend, loop)
            offset = narrow_sum(division.dividend, loop)
            if period is None or offset is None or offset.coefficient != 1:
                continue
            # whole rounds change nothing: `(j + c + n) % n` is `(j + c) % n`
            terms = tuple(term for term in offset.terms if term[1] != period)
            if (
                terms
                and len(offset.terms) <= TERMS_OF_OFFSET
                and all(abs(factor) == 1 for factor, _ in offset.terms)
            ):
                narrow = not isinstance(division.dividend.type, ir.IndexType)
                found.append(Wrapped(division.op, Affine(0, terms, offset.constant), period, narrow))
    return found


def run_in_rounds(columns: ir.Operation, wrapped: list[Wrapped]) -> None:
    """Let `columns`, which stands where it is to run, be the loop within one over rounds, by the first of the offsets.
    The loop begins at 0 or later, and the period is positive."""
    first = wrapped[0]
    offset, period = first.offset, first.period
    lower, upper = list(columns.operands)[:2]
    with ir.InsertionPoint(columns), columns.location:
        zero, one = index_constant(0), index_constant(1)
        shift = _modulo(materialise(offset), period)
        begin, end = (arith.AddIOp(bound, shift).result for bound in (lower, upper))
        some = arith.CmpIOp(arith.CmpIPredicate.slt, begin, end).result
        round_ = arith.DivUIOp(begin, period).result
        last = arith.DivUIOp(arith.SubIOp(end, one).result, period).result
        behind = arith.SelectOp(some, arith.AddIOp(last, one).result, round_).result
        rounds = scf.ForOp(round_, behind, one)
        with ir.InsertionPoint(rounds.body):
            start = arith.MulIOp(rounds.induction_variable, period).result
            low = arith.MaxSIOp(arith.SubIOp(begin, start).result, zero).result
            high = arith.MinSIOp(arith.SubIOp(end, start).result, period).result
            back = arith.SubIOp(start, shift).result
            terminator = scf.YieldOp([]).operation
    columns.move_before(terminator)
    columns.operands[0], columns.operands[1] = low, high
    block = columns.regions[0].blocks[0]
    index = block.arguments[0]
    with ir.InsertionPoint.at_block_begin(block), columns.location:
        place = index_arithmetic("addi", back, back)
    index.replace_all_uses_with(place)
    place.owner.operation.operands[1] = index
    for one_ in wrapped:
        if one_.offset == offset and one_.period == period:
            _replace(one_.op.results[0], index)
    erase_dead(block)


def _replace(value: ir.Value, index: ir.Value) -> None:
    """Put an index in the place of a number, of which indices are made again."""
    if value.type != index.type:
        for use in [use.owner.operation for use in value.uses]:
            if use.name == "arith.index_cast" and use.results[0].type == index.type:
                use.results[0].replace_all_uses_with(index)
        with ir.InsertionPoint(value.owner.operation), value.owner.operation.location:
            index = arith.IndexCastOp(value.type, index).result
    value.replace_all_uses_with(index)


def _modulo(value: ir.Value, period: ir.Value) -> ir.Value:
    """Python's `%` for a positive period."""
    rest = arith.RemSIOp(value, period).result
    negative = arith.CmpIOp(arith.CmpIPredicate.slt, rest, index_constant(0)).result
    return arith.SelectOp(negative, arith.AddIOp(rest, period).result, rest).result
