"""The stride of an index: by how much it grows when a loop variable, or the number of a work-item, grows by one.

Comes in: an index as arithmetic of integers, and the variable. Goes out: a number, or None if it is not constant. The
index `i * 4 + j` has stride 4 in `i` and 1 in `j`; `i * n` has no known stride in `i`.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.analysis.cost_model.code_size import PLACE_TERMS
from pykern.passes.ir.values import defining
from pykern.passes.kernels import is_constant


def stride(place: ir.Value, counter: ir.Value, known: dict[ir.Value, int | None] | None = None) -> int | None:
    """By how much `place` grows when `counter` grows by one; None where that is no known number.

    `known` keeps the answers for values that were looked at before.
    """
    known = {counter: 1} if known is None else known
    if place not in known:
        known[place] = _moves(place, counter, known)
    return known[place]


def _moves(place: ir.Value, counter: ir.Value, known: dict[ir.Value, int | None]) -> int | None:
    op = defining(place)
    if op is None:
        return 0
    if op.regions or len(known) > PLACE_TERMS:
        return None
    sides = [stride(operand, counter, known) for operand in op.operands]
    if all(side == 0 for side in sides):
        return 0
    if op.name == "arith.index_cast":
        return sides[0]
    if op.name not in ("arith.addi", "arith.subi", "arith.muli") or None in sides:
        return None
    one, other = (side or 0 for side in sides)
    if op.name != "arith.muli":
        return one + other if op.name == "arith.addi" else one - other
    factor = is_constant(op.operands[1] if other == 0 else op.operands[0])
    return (one or other) * factor if factor is not None and 0 in (one, other) else None
