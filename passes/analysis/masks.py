"""Which iterations of a structured op a mask asks for, as affine inequalities of its dimensions.

Comes in: a mask in the body of a structured op, computed from its indices alone. Goes out: sums of dimensions, none of
which is negative where the mask holds: triangles, bands, trapezoids, boxes. What is no such inequality (`or`, `%`) is
left out, so that they may ask for more than the mask does. An op that is marked with them may leave what they do not
ask for undone. Read next: `passes/raise_to_linalg/unmask_sums.py`, `passes/codegen/cpu/contraction/needed.py`.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.ir.affine import Sum
from pykern.passes.ir.predicates import predicate_of
from pykern.passes.ir.structured import reduction_loops
from pykern.passes.ir.values import is_argument

_STRICT = {"sle": 0, "slt": 1, "sge": 0, "sgt": 1}
_PURE = ("arith.", "linalg.index")

_Row = list[int]
"""Factors of the dimensions, and a constant."""


def inequalities(mask: ir.Value, rank: int) -> list[Sum] | None:
    """Those that hold where the mask does; None where it is not computed from indices alone."""
    if not _is_of_indices(mask):
        return None
    rows = list(dict.fromkeys(tuple(row) for row in _rows(mask, rank)))
    return [Sum(tuple((d, f) for d, f in enumerate(row[:-1]) if f), row[-1]) for row in rows]


def mark_needed(op: ir.Operation, wanted: list[Sum]) -> None:
    """Mark an op with the inequalities of the cells that anybody needs; without any all are."""
    rank = len(reduction_loops(op))
    rows = [[*(form.factor(d) for d in range(rank)), form.constant] for form in wanted]
    if rows:
        op.attributes[kern.NEEDED] = ir.DenseI64ArrayAttr.get([number for row in rows for number in row])


def needed(op: ir.Operation) -> tuple[Sum, ...]:
    """The inequalities that an op is marked with."""
    if kern.NEEDED not in op.attributes:
        return ()
    numbers, size = list(ir.DenseI64ArrayAttr(op.attributes[kern.NEEDED])), len(reduction_loops(op)) + 1
    rows = [numbers[begin : begin + size] for begin in range(0, len(numbers), size)]
    return tuple(Sum(tuple((d, f) for d, f in enumerate(row[:-1]) if f), row[-1]) for row in rows)


def dimensions_of(mask: ir.Value) -> set[int]:
    """The dimensions whose indices a mask is computed from."""
    op = mask.owner.operation
    if op.name == "linalg.index":
        return {ir.IntegerAttr(op.attributes["dim"]).value}
    return set().union(*map(dimensions_of, op.operands))


def _is_of_indices(value: ir.Value) -> bool:
    if is_argument(value):
        return False
    op = value.owner.operation
    return op.name.startswith(_PURE) and all(map(_is_of_indices, op.operands))


def _rows(mask: ir.Value, rank: int) -> list[_Row]:
    op = mask.owner.operation
    if op.name == "arith.andi":
        return _rows(op.operands[0], rank) + _rows(op.operands[1], rank)
    if op.name != "arith.cmpi":
        return []
    predicate = predicate_of(op)
    if predicate in ("sgt", "sge"):
        return _ordered(op.operands[1], op.operands[0], _STRICT[predicate], rank)
    if predicate in ("slt", "sle"):
        return _ordered(op.operands[0], op.operands[1], _STRICT[predicate], rank)
    if predicate == "eq":
        return _ordered(*op.operands, 0, rank) + _ordered(*reversed(list(op.operands)), 0, rank)
    return []


def _ordered(smaller: ir.Value, larger: ir.Value, by: int, rank: int) -> list[_Row]:
    """`smaller + by <= larger`, also where the smaller one is a magnitude."""
    right, magnitude = _linear(larger, rank), _magnitude(smaller, rank)
    left = _linear(smaller, rank)
    if right is None or (left is None and magnitude is None):
        return []
    lefts = [left] if left is not None else [magnitude, [-f for f in magnitude or ()]]
    return [_combined(right, row, -1, by) for row in lefts if row is not None]


def _magnitude(value: ir.Value, rank: int) -> _Row | None:
    """What `abs` is of, as the frontend writes it: `x < 0 ? -x : x`."""
    op = value.owner.operation
    if op.name != "arith.select" or op.operands[0].owner.operation.name != "arith.cmpi":
        return None
    negative, positive = (_linear(v, rank) for v in list(op.operands)[1:])
    is_negated = negative is not None and positive is not None and negative == [-f for f in positive]
    return positive if is_negated and _rows(op.operands[0], rank) == [_below_zero(negative)] else None


def _below_zero(negated: _Row | None) -> _Row | None:
    """The inequality of `x < 0`, of `-x`."""
    return None if negated is None else [*negated[:-1], negated[-1] - 1]


def _linear(value: ir.Value, rank: int) -> _Row | None:
    """An index as factors of the dimensions and a constant."""
    op = value.owner.operation
    if op.name == "linalg.index":
        return [int(d == ir.IntegerAttr(op.attributes["dim"]).value) for d in range(rank)] + [0]
    if op.name == "arith.constant":
        return [0] * rank + [ir.IntegerAttr(op.attributes["value"]).value]
    if op.name not in ("arith.addi", "arith.subi", "arith.muli"):
        return None
    left, right = (_linear(v, rank) for v in op.operands)
    if left is None or right is None:
        return None
    if op.name != "arith.muli":
        return _combined(left, right, 1 if op.name == "arith.addi" else -1, 0)
    factor, other = (left, right) if not any(left[:-1]) else (right, left)
    return None if any(factor[:-1]) else [factor[-1] * f for f in other]


def _combined(left: _Row, right: _Row, sign: int, less: int) -> _Row:
    total = [p + sign * r for p, r in zip(left, right, strict=True)]
    total[-1] -= less
    return total
