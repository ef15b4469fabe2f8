"""By how much the place of an element moves when a loop counts on, and which dimension a loop runs over.

Comes in: a place in flat memory as arithmetic of integers, and the counter of a loop. Goes out: a number, or None.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.analysis.cost_model.code_size import PLACE_TERMS
from pykern.passes.ir.values import arguments_behind, parent_of
from pykern.passes.kernels import is_constant

_LINEAR = ("arith.addi", "arith.muli", "arith.subi", "arith.index_cast")


def stride(place: ir.Value, counter: ir.Value, known: dict[ir.Value, int | None] | None = None) -> int | None:
    """By how much a place moves when the counter does; None where that is no known number. `known` are those that
    were asked for before."""
    known = {counter: 1} if known is None else known
    if place not in known:
        known[place] = _moves(place, counter, known)
    return known[place]


def _moves(place: ir.Value, counter: ir.Value, known: dict[ir.Value, int | None]) -> int | None:
    if counter not in arguments_behind(place):
        return 0
    op = place.owner
    if isinstance(op, ir.Block) or op.name not in _LINEAR or len(known) > PLACE_TERMS:
        return None
    sides = [stride(operand, counter, known) for operand in op.operands]
    if op.name == "arith.index_cast":
        return sides[0]
    one, other = sides
    if one is None or other is None:
        return None
    if op.name != "arith.muli":
        return one + other if op.name == "arith.addi" else one - other
    factor = is_constant(op.operands[1] if other == 0 else op.operands[0])
    return (one or other) * factor if factor is not None and 0 in (one, other) else None


def dimension_of(loop: ir.Operation) -> ir.Attribute:
    """The dimension of the index space that a loop over work-items runs over."""
    around, number = parent_of(loop), 0
    while around.name == "scf.for":
        around, number = parent_of(around), number + 1
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
