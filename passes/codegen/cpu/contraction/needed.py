"""Which cells of a contraction's result are needed: those where no sum of some is negative.

Comes in: the inequalities that an op is marked with (`passes/analysis/masks.py`). Goes out: what a contraction's body
says of them, and the question of a register tile whether it has a needed cell. Tiles that have none by one of the
inequalities are left out, tiles on an edge are computed whole.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mlir import ir
from mlir.dialects import arith, linalg

from pykern.passes.analysis.masks import needed
from pykern.passes.ir.affine import Sum
from pykern.passes.ir.lengths import Number, as_value, plus, times
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import body, index_constant

Condition = tuple[Sum, Number]
"""A sum over a contraction's dimensions and what is added to it: not negative where cells are needed."""


def conditions(
    wanted: Iterable[Sum], ranges: Mapping[int, tuple[Number, Number]], places: Mapping[int, Sum]
) -> tuple[Condition, ...]:
    """For the part of the dimensions in `ranges`; dimension `d` is the sum `places[d]` of the contraction's."""
    return tuple(_condition(form, ranges, places) for form in wanted)


def _condition(
    form: Sum, ranges: Mapping[int, tuple[Number, Number]], places: Mapping[int, Sum]
) -> Condition:
    offset: Number = form.constant
    factors = []
    for d, by in form.factors:
        offset = plus(offset, times(ranges[d][0], by))
        factors += [(n, f * by) for n, f in places[d].factors]
    return Sum(tuple(factors)), offset


def singles(count: int) -> dict[int, Sum]:
    """The places of dimensions that are a contraction's own."""
    return {d: Sum(((d, 1),)) for d in range(count)}


def truth(wanted: Iterable[Condition]) -> ir.Value:
    """Inside of a contraction's body: whether its cell is needed."""
    each = [arith.CmpIOp(arith.CmpIPredicate.sge, place(*one), index_constant(0)).result for one in wanted]
    return functools.reduce(lambda a, b: arith.AndIOp(a, b).result, each)


def place(form: Sum, offset: Number) -> ir.Value:
    """Inside of a contraction's body: what the sum is at its cell."""
    i64 = ir.IntegerType.get_signless(64)
    indices = {d: linalg.IndexOp(ir.IntegerAttr.get(i64, d)).result for d in form.dimensions}
    return as_value(plus(form.at(indices), offset))


def compared(truth: ir.Value) -> list[ir.Operation]:
    """The comparisons that a truth of a body joins."""
    op = truth.owner.operation
    return [op] if op.name == "arith.cmpi" else [each for value in op.operands for each in compared(value)]


def conditions_of(op: ir.Operation) -> list[ir.Operation]:
    """The comparisons that decide in the body whether a cell is needed; none where all are."""
    chosen = list(body(op).operations)[-1].operation.operands[0].owner.operation
    if chosen.name != "arith.select" or is_argument(chosen.operands[0]):
        return []
    return compared(chosen.operands[0])


def is_reached(op: ir.Operation, lengths: list[int]) -> ir.Value | None:
    """Whether a tile of these lengths has a needed cell by each inequality: its corner where that sum is largest.
    None where all cells are needed."""
    comparisons, forms = conditions_of(op), needed(op)
    if not forms or len(comparisons) != len(forms):  # one is known to hold everywhere
        return None
    reached = []
    for each, form in zip(comparisons, forms, strict=True):
        at = {d: lengths[d] - 1 for d in form.dimensions if form.factor(d) > 0}
        largest = outside(each.operands[0], body(op), at)
        reached.append(arith.CmpIOp(arith.CmpIPredicate.sge, largest, index_constant(0)).result)
    return functools.reduce(lambda a, b: arith.AndIOp(a, b).result, reached)


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
