"""Which cells of a contraction's result are needed: those where a sum of its dimensions is not negative.

Comes in: the mark `kern.needed` of an op, as `passes/raise_to_linalg/unmask_sums.py` leaves it for a triangle. Goes
out: what a contraction's body says of it, and the question of a register tile whether it has a needed cell. Tiles
without one are left out, tiles on the edge are computed whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mlir import ir
from mlir.dialects import arith, linalg

from pykern.passes.ir.affine import Number, Sum, as_value, plus, times
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import body, index_constant
from pykern.passes.raise_to_linalg.unmask_sums import NEEDED

Condition = tuple[Sum, Number]
"""A sum over a contraction's dimensions and what is added to it: not negative where cells are needed."""


def needed(op: ir.Operation) -> Sum | None:
    """The mark of an op."""
    if NEEDED not in op.attributes:
        return None
    *factors, constant = ir.DenseI64ArrayAttr(op.attributes[NEEDED])
    return Sum(tuple((d, f) for d, f in enumerate(factors) if f), constant)


def condition(form: Sum, ranges: Mapping[int, tuple[Number, Number]], places: Mapping[int, Sum]) -> Condition:
    """For the part of the dimensions in `ranges`; dimension `d` is the sum `places[d]` of the contraction's."""
    offset: Number = form.constant
    factors = []
    for d, by in form.factors:
        offset = plus(offset, times(ranges[d][0], by))
        factors += [(n, f * by) for n, f in places[d].factors]
    return Sum(tuple(factors)), offset


def singles(count: int) -> dict[int, Sum]:
    """The places of dimensions that are a contraction's own."""
    return {d: Sum(((d, 1),)) for d in range(count)}


def truth(wanted: Condition) -> ir.Value:
    """Inside of a contraction's body: whether its cell is needed."""
    return arith.CmpIOp(arith.CmpIPredicate.sge, place(*wanted), index_constant(0)).result


def place(form: Sum, offset: Number) -> ir.Value:
    """Inside of a contraction's body: what the sum is at its cell."""
    i64 = ir.IntegerType.get_signless(64)
    indices = {d: linalg.IndexOp(ir.IntegerAttr.get(i64, d)).result for d in form.dimensions}
    return as_value(plus(form.at(indices), offset))


def condition_of(op: ir.Operation) -> ir.Operation | None:
    """The comparison that decides in the body whether a cell is needed; None where all are."""
    chosen = list(body(op).operations)[-1].operation.operands[0].owner.operation
    if chosen.name != "arith.select" or is_argument(chosen.operands[0]):
        return None
    return chosen.operands[0].owner.operation


def is_reached(
    op: ir.Operation, compared: ir.Operation, lengths: list[int], factors: Mapping[int, int]
) -> ir.Value:
    """Whether a tile of these lengths has a needed cell: its corner where the sum is largest."""
    at = {d: length - 1 if factors.get(d, 0) > 0 else 0 for d, length in enumerate(lengths)}
    total = outside(compared.operands[0], body(op), at)
    return arith.CmpIOp(arith.CmpIPredicate.sge, total, index_constant(0)).result


def outside(value: ir.Value, block: ir.Block, at: Mapping[int, int] = MappingProxyType({})) -> ir.Value:
    """A value of the body in front of it, at a place of its dimensions: the first of those that are not named."""
    if is_argument(value) or value.owner.operation.block != block:
        return value
    op = value.owner.operation
    if op.name == "linalg.index":
        return index_constant(at.get(ir.IntegerAttr(op.attributes["dim"]).value, 0))
    operands = [outside(v, block, at) for v in op.operands]
    attributes = {name: op.attributes[name] for name in op.attributes}
    return ir.Operation.create(op.name, [value.type], operands, attributes=attributes).results[0]
