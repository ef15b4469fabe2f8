"""When an access of a work-item lies within its array, as a condition that holds for all work-items of a loop.

Comes in: a load in a loop over work-items. Goes out: comparisons of lengths and bounds of loops, in front of that
loop. Who asks: `speculate_loads`, which then reads where the program would not have.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.ir.values import defining, is_inside, made_by
from pykern.passes.kernels import index_constant, is_constant


@dataclass(frozen=True)
class IndexRange:
    """`low + low_offset` to `high + high_offset`, the last one not among them; None stands for 0."""

    low: ir.Value | None
    low_offset: int
    high: ir.Value | None
    high_offset: int
    is_counter: bool = False

    @property
    def is_likely(self) -> bool:
        """Whether arrays may well be as long. What reaches beyond the bounds of a loop is what branches are for."""
        beyond = self.high is not None and self.high_offset > 1
        if self.high is not None and self.high_offset == 1:
            beyond = self.is_counter and made_by(self.high, "arith.subi", "arith.addi") is None
        return self.low_offset >= 0 and not beyond

    def moved(self, by: int) -> IndexRange:
        return IndexRange(self.low, self.low_offset + by, self.high, self.high_offset + by, self.is_counter)


def is_within(load: ir.Operation, outer: ir.Operation) -> list[ir.Value] | None:
    """Conditions, made at the insertion point in front of `outer`, under which the load touches its array alone, where
    indices that are neither numbers nor counters of loops nor one of them moved are 0; None where bounds of loops say
    that it may well reach beyond."""
    memory, *indices = load.operands
    if is_inside(memory, outer):
        return None
    ranges = [range_of(index, outer) for index in indices]
    if any(found is not None and not found.is_likely for found in ranges):
        return None
    conditions = []
    for dimension, found in enumerate(ranges):
        length = memref.DimOp(memory, index_constant(dimension)).result
        if found is None:
            conditions.append(arith.CmpIOp(arith.CmpIPredicate.sge, length, index_constant(1)).result)
            continue
        conditions += limits(found, length)
    return conditions


def limits(found: IndexRange, length: ir.Value) -> list[ir.Value]:
    """Conditions under which a range lies in 0 to `length`."""
    conditions = []
    if found.low is not None or found.low_offset < 0:
        low = _sum(found.low, found.low_offset)
        conditions.append(arith.CmpIOp(arith.CmpIPredicate.sge, low, index_constant(0)).result)
    high = _sum(found.high, found.high_offset)
    conditions.append(arith.CmpIOp(arith.CmpIPredicate.sle, high, length).result)
    return conditions


def unknown_indices(load: ir.Operation, outer: ir.Operation) -> list[ir.Value]:
    """Indices of which nothing in front of `outer` says how large they are: numbers that were read, for example."""
    return [index for index in list(load.operands)[1:] if range_of(index, outer) is None]


def range_of(index: ir.Value, outer: ir.Operation) -> IndexRange | None:
    """What an index may be in a run of `outer`; None where nothing in front of it says so."""
    number = is_constant(index)
    if number is not None:
        return IndexRange(None, number, None, number + 1)
    if not is_inside(index, outer):
        return IndexRange(index, 0, index, 1)
    op = defining(index)
    if op is None:
        return _range_of_counter(index, outer)
    if op.name not in ("arith.addi", "arith.subi"):
        return None
    left, right = (is_constant(operand) for operand in op.operands)
    if right is not None:
        found = range_of(op.operands[0], outer)
        return None if found is None else found.moved(right if op.name == "arith.addi" else -right)
    found = range_of(op.operands[1], outer) if left is not None and op.name == "arith.addi" else None
    return None if found is None or left is None else found.moved(left)


def _range_of_counter(value: ir.Value, outer: ir.Operation) -> IndexRange | None:
    """The range of what a loop counts from one bound to another, both known in front of `outer`."""
    loop = value.owner.owner.operation
    if loop.name != "scf.for" or value != loop.opview.induction_variable or "unsignedCmp" in loop.attributes:
        return None
    lower, upper, step = list(loop.operands)[:3]
    if (is_constant(step) or 0) < 1 or any(_is_unknown(bound, outer) for bound in (lower, upper)):
        return None
    low, high = is_constant(lower), is_constant(upper)
    begin, end = None if low is not None else lower, None if high is not None else upper
    return IndexRange(begin, low or 0, end, high or 0, is_counter=True)


def _is_unknown(bound: ir.Value, outer: ir.Operation) -> bool:
    return is_inside(bound, outer) and is_constant(bound) is None


def _sum(value: ir.Value | None, offset: int) -> ir.Value:
    if value is None:
        return index_constant(offset)
    return arith.AddIOp(value, index_constant(offset)).result if offset else value
