"""Whether an iteration has a better value than those before it: the condition of `if v > most: most = v`.

Comes in: a truth value of a loop's body. Goes out: `Comparison`, where it compares a value of the iteration with one
that the loop carries. Read next: `selection`.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.values import made_by
from pykern.passes.kernels import identity

_FLOATS = arith.CmpFPredicate
_INTEGERS = arith.CmpIPredicate
_MIRRORED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
_NEGATED = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}
_IN_ORDER = {"gt", "ge", "lt", "le"}


@dataclass(frozen=True)
class Comparison:
    """`added relation held`, with `relation` one of gt, ge, lt, le; `sign` is o (floats), s or u (integers)."""

    added: ir.Value
    held: ir.Value
    relation: str
    sign: str
    is_true_for_nan: bool
    """Of floats: whether a NaN is better, or worse, than what it is compared with; else it is neither."""
    ops: frozenset[int]
    """The ops that compute it, by identity."""

    @property
    def is_strict(self) -> bool:
        """Whether the first one of equal values stays."""
        return self.relation in ("gt", "lt")

    @property
    def extreme(self) -> str:
        """The kind of `vector.reduction` that finds the best of all lanes."""
        kind = "max" if self.relation in ("gt", "ge") else "min"
        return f"{kind}imumf" if self.sign == "o" else f"{kind}{self.sign}i"

    def of(self, added: ir.Value, held: ir.Value) -> ir.Value:
        """The same comparison of other values, none of which is NaN."""
        if self.sign == "o":
            return arith.CmpFOp(_FLOATS[f"O{self.relation.upper()}"], added, held).result
        return arith.CmpIOp(_INTEGERS[self.sign + self.relation], added, held).result


def comparison_of(condition: ir.Value, carried: list[ir.Value], wanted: bool = True) -> Comparison | None:
    """What the condition compares with one of the values that a loop carries; where `wanted` is False, what its
    opposite does."""
    if made_by(condition, "arith.ori") is not None:
        return _with_first_nan(condition, carried) if wanted else None
    op = made_by(condition, "arith.cmpf", "arith.cmpi")
    if op is None:
        return None
    left, right = op.operands
    if (left in carried) == (right in carried):
        return None
    number = ir.IntegerAttr(op.attributes["predicate"]).value
    predicate = (_FLOATS if op.name == "arith.cmpf" else _INTEGERS)(number).name.lower()
    sign, relation = predicate[0], predicate[1:]
    if relation not in _IN_ORDER:
        return None
    relation = relation if right in carried else _MIRRORED[relation]
    added, held = (left, right) if right in carried else (right, left)
    is_float = op.name == "arith.cmpf"
    if not wanted:
        relation = _NEGATED[relation]
    for_nan = is_float and (sign == "u") == wanted
    return Comparison(added, held, relation, "o" if is_float else sign, for_nan, frozenset({identity(op)}))


def _with_first_nan(condition: ir.Value, carried: list[ir.Value]) -> Comparison | None:
    """`v > most or (v != v and not most != most)`: the first NaN is the best, as NumPy has it."""
    for one, other in (
        condition.owner.operation.operands,
        reversed(list(condition.owner.operation.operands)),
    ):
        found, both = comparison_of(one, carried), made_by(other, "arith.andi")
        if found is None or both is None or found.sign != "o" or found.is_true_for_nan:
            continue
        ops = {identity(condition.owner.operation), identity(both), *found.ops}
        for new, old in (both.operands, reversed(list(both.operands))):
            first, then = _is_nan_of(new, found.added, True), _is_nan_of(old, found.held, False)
            if first is not None and then is not None:
                all_ops = frozenset(ops | first | then)
                return Comparison(found.added, found.held, found.relation, "o", True, all_ops)
    return None


def _is_nan_of(truth: ir.Value, value: ir.Value, wanted: bool) -> set[int] | None:
    """The ops of `truth`, where it says that `value` is NaN (`wanted`), or that it is none."""
    flip = made_by(truth, "arith.xori")
    if flip is not None:
        mask = made_by(flip.operands[1], "arith.constant")
        is_not = mask is not None and ir.BoolAttr(mask.attributes["value"]).value
        inner = _is_nan_of(flip.operands[0], value, not wanted) if is_not else None
        return None if inner is None else inner | {identity(flip)}
    op = made_by(truth, "arith.cmpf")
    if op is None or any(operand != value for operand in op.operands):
        return None
    predicate = _FLOATS(ir.IntegerAttr(op.attributes["predicate"]).value)
    names = ("UNO", "UNE") if wanted else ("ORD", "OEQ")
    return {identity(op)} if predicate.name in names else None
