"""How far two run-time integers lie apart, where that is a constant: ``i + 3`` and ``i`` are 3 apart.

Comes in: two scalars. Goes out: their difference, or None. Told from the ops that made them, so names
between them do not matter. What lengths of slices with run-time bounds are known by.
"""

from __future__ import annotations

from collections.abc import Hashable

from mlir import ir

from pykern.frontend.values import Scalar
from pykern.passes.analysis.cost_model.code_size import DIFFERENCE_DEPTH

Sum = dict[Hashable, int]
"""What is added, with its factor; None is 1."""


def constant_difference(high: Scalar, low: Scalar) -> int | None:
    """``high - low``, if it is the same number whatever run-time values are."""
    total: Sum = {}
    for scalar, sign in ((high, 1), (low, -1)):
        if scalar.is_const:
            _add(total, {None: int(scalar.const)}, sign)  # type: ignore[call-overload]
        else:
            assert scalar.ssa is not None
            _add(total, _sum(scalar.ssa, 0), sign)
    constant = total.pop(None, 0)
    return None if any(total.values()) else constant


def _add(total: Sum, more: Sum, factor: int) -> None:
    for term, k in more.items():
        total[term] = total.get(term, 0) + factor * k


def _sum(value: ir.Value, depth: int) -> Sum:
    """The value as a sum, of types alone that do not wrap within an array's length."""
    owner = value.owner
    if not _is_wide(value.type) or depth > DIFFERENCE_DEPTH:
        return {value: 1}
    if isinstance(owner, ir.Block):
        around = owner.owner.operation
        if around.name != "linalg.generic":
            return {value: 1}
        operand = around.operands[ir.BlockArgument(value).arg_number]
        is_tensor = isinstance(operand.type, ir.RankedTensorType)
        return _element(operand, depth + 1) if is_tensor else _sum(operand, depth + 1)
    op = owner.operation
    if op.name == "tensor.extract" and len(op.operands) == 1:
        return _element(op.operands[0], depth + 1)
    if op.name in ("arith.index_cast", "arith.extsi"):
        return _sum(op.operands[0], depth + 1)
    if op.name == "arith.constant":
        return {None: ir.IntegerAttr(op.attributes["value"]).value}
    if op.name not in ("arith.addi", "arith.subi", "arith.muli"):
        return {_term(value, depth): 1}
    left, right = (_sum(operand, depth + 1) for operand in op.operands)
    total: Sum = {}
    if op.name != "arith.muli":
        _add(total, left, 1)
        _add(total, right, 1 if op.name == "arith.addi" else -1)
        return total
    one, other = (left, right) if set(right) <= {None} else (right, left)
    if not set(other) <= {None}:
        return {_term(value, depth): 1}
    _add(total, one, other.get(None, 0))
    return total


def _element(tensor: ir.Value, depth: int) -> Sum:
    """The element of a tensor of rank 0, which is what arithmetic on elements of arrays gives."""
    op = tensor.owner
    rank = ir.RankedTensorType(tensor.type).rank
    if (
        rank
        or isinstance(op, ir.Block)
        or op.operation.name != "linalg.generic"
        or len(op.operation.results) > 1
    ):
        return {("element", _term(tensor, depth)): 1}
    body = op.operation.regions[0].blocks[0]
    return _sum(body.operations[len(body.operations) - 1].operation.operands[0], depth)


def _is_wide(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IndexType) or (isinstance(kind, ir.IntegerType) and kind.width >= 32)


def _term(value: ir.Value, depth: int) -> Hashable:
    """Equal for values that the same ops make of the same values: ``k[0]`` written twice."""
    owner = value.owner
    if isinstance(owner, ir.Block) or depth > DIFFERENCE_DEPTH:
        return value
    op = owner.operation
    if not op.name.startswith(("arith.", "math.", "tensor.")) or op.regions or len(op.results) != 1:
        return value
    attributes = tuple(f"{name}={op.attributes[name]}" for name in op.attributes)
    return op.name, attributes, str(value.type), tuple(_term(o, depth + 1) for o in op.operands)
