"""Which keys a query never meets: scores that comparisons of the two indices set to -inf.

Comes in: the function of a score. Goes out: `KeyOffsets`; keys before `query + first` and beyond `query + last` are
masked, and whole blocks of them need not be looked at. (NumPy multiplies their values by 0, which shows where one of
those is infinite or NaN.)
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.ir.predicates import MIRRORED, NEGATED, predicate_of
from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import body, is_constant


@dataclass(frozen=True)
class KeyOffsets:
    """A query meets keys from `query + first` to `query + last`; None: there is no such bound."""

    first: int | None = None
    last: int | None = None

    def both(self, other: KeyOffsets) -> KeyOffsets:
        """The bounds where each of two conditions has to hold."""
        firsts = [n for n in (self.first, other.first) if n is not None]
        lasts = [n for n in (self.last, other.last) if n is not None]
        return KeyOffsets(max(firsts, default=None), min(lasts, default=None))


def key_offsets(score: ir.Operation, query: int, key: int) -> KeyOffsets:
    """For the numbers of the arguments that are the indices."""
    block = body(score)
    *_, end = block.operations
    value, found = end.operation.operands[0], KeyOffsets()
    indices = block.arguments[query], block.arguments[key]
    while (chosen := made_by(value, "arith.select")) is not None:
        condition, left, right = chosen.operands
        if _is_low(left) == _is_low(right):
            break
        found = found.both(_bounds(condition, indices, negated=_is_low(left)))
        value = right if _is_low(left) else left
    return found


def _bounds(condition: ir.Value, indices: tuple[ir.Value, ir.Value], negated: bool) -> KeyOffsets:
    """What holds of the indices where a condition does, or, `negated`, does not."""
    joined = made_by(condition, "arith.ori" if negated else "arith.andi")
    if joined is not None:
        left, right = (_bounds(v, indices, negated) for v in joined.operands)
        return left.both(right)
    compared = made_by(condition, "arith.cmpi")
    if compared is None:
        return KeyOffsets()
    predicate = predicate_of(compared)
    if not predicate.startswith("s"):  # not signed, or of equality
        return KeyOffsets()
    predicate = NEGATED[predicate] if negated else predicate
    sides = [_linear(v, indices) for v in compared.operands]
    if sides[0] is None or sides[1] is None:
        return KeyOffsets()
    queries, keys, constant = (a - b for a, b in zip(*sides, strict=True))
    if (queries, keys) == (1, -1):
        queries, keys, constant, predicate = -1, 1, -constant, MIRRORED[predicate]
    if (queries, keys) != (-1, 1):
        return KeyOffsets()
    if predicate in ("sle", "slt"):
        return KeyOffsets(last=-constant - (predicate == "slt"))
    return KeyOffsets(first=-constant + (predicate == "sgt"))


def _is_low(value: ir.Value) -> bool:
    op = made_by(value, "arith.constant")
    if op is None:
        return False
    return ir.FloatAttr(op.attributes["value"]).value == float("-inf")


def _linear(value: ir.Value, indices: tuple[ir.Value, ir.Value]) -> tuple[int, int, int] | None:
    """How often a value has the index of the query, that of the key, and 1; None where it is something else."""
    if value in indices:
        return int(value == indices[0]), int(value == indices[1]), 0
    number, op = is_constant(value), defining(value)
    if number is not None:
        return 0, 0, number
    if op is not None and op.name == "arith.index_cast":
        return _linear(op.operands[0], indices)
    if op is None or op.name not in ("arith.addi", "arith.subi"):
        return None
    left, right = (_linear(v, indices) for v in op.operands)
    if left is None or right is None:
        return None
    sign = 1 if op.name == "arith.addi" else -1
    return left[0] + sign * right[0], left[1] + sign * right[1], left[2] + sign * right[2]
