"""Which keys a query never meets: scores that a comparison of the two indices sets to -inf.

Comes in: the function of a score. Goes out: `last_key_offset`; keys beyond `query + offset` are masked, and whole
blocks of them need not be looked at. (NumPy multiplies their values by 0, which shows where one of those is infinite
or NaN.)
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import body, is_constant

# offsets of "key <= query + offset" by arith.cmpi's predicates, the query on the left and the key on the left
QUERY_FIRST = {5: 0, 4: -1}  # sge, sgt
KEY_FIRST = {3: 0, 2: -1}  # sle, slt
OPPOSITE = {2: 5, 3: 4, 4: 3, 5: 2}


def last_key_offset(score: ir.Operation, query: int, key: int) -> int | None:
    """For the numbers of the arguments that are the indices; None where every key may count."""
    block = body(score)
    *_, end = block.operations
    chosen = made_by(end.operation.operands[0], "arith.select")
    if chosen is None:
        return None
    condition, left, right = chosen.operands
    compared = made_by(condition, "arith.cmpi")
    if compared is None or _is_low(left) == _is_low(right):
        return None
    predicate = ir.IntegerAttr(compared.attributes["predicate"]).value
    if _is_low(left):
        predicate = OPPOSITE.get(predicate, -1)
    sides = [_index(v) for v in compared.operands]
    named = {block.arguments[query]: "query", block.arguments[key]: "key"}
    bases = [named.get(base) for base, _ in sides]
    offset = sides[0][1] - sides[1][1]
    if bases == ["query", "key"] and predicate in QUERY_FIRST:
        return offset + QUERY_FIRST[predicate]
    if bases == ["key", "query"] and predicate in KEY_FIRST:
        return -offset + KEY_FIRST[predicate]
    return None


def _is_low(value: ir.Value) -> bool:
    op = made_by(value, "arith.constant")
    if op is None:
        return False
    return ir.FloatAttr(op.attributes["value"]).value == float("-inf")


def _index(value: ir.Value) -> tuple[ir.Value, int]:
    """A value as another one and a constant."""
    offset = 0
    while (op := defining(value)) is not None:
        if op.name == "arith.index_cast":
            value = op.operands[0]
            continue
        number = is_constant(op.operands[1]) if op.name in ("arith.addi", "arith.subi") else None
        if number is None:
            break
        offset += number if op.name == "arith.addi" else -number
        value = op.operands[0]
    return value, offset
