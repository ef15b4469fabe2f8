"""Loops and branches hand on single elements as numbers, not as tensors of one element.

Comes in: a function on tensors. Goes out: the same; where a loop carries a tensor of rank 0, or a branch inside of a
loop chooses one, it is a number. Read next: `scalarise_elements`, which computes with such numbers.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import tensor

from pykern.passes.ir.clone import remake
from pykern.passes.ir.loops import is_in_loop
from pykern.passes.kernels import named, replace, terminator

_FIRST_CARRIED = {"scf.for": 3, "scf.while": 0, "scf.if": 1}
"""The first operand that is handed on; bounds, steps and conditions come before."""


def carry_numbers(function: ir.Operation) -> None:
    """Hand on numbers instead of tensors of rank 0 in all loops of the function and in the branches inside of them."""
    for op in named(function, *_FIRST_CARRIED):
        values = [*op.results, *op.operands]
        if any(_is_single(value.type) for value in values) and (op.name != "scf.if" or is_in_loop(op)):
            _carry(op)


def _is_single(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType) and ir.RankedTensorType(kind).rank == 0


def _number_type(kind: ir.Type) -> ir.Type:
    return ir.RankedTensorType(kind).element_type if _is_single(kind) else kind


def _number(value: ir.Value) -> ir.Value:
    return tensor.extract(value, []) if _is_single(value.type) else value


def _single(kind: ir.Type, number: ir.Value) -> ir.Value:
    return tensor.FromElementsOp(kind, [number]).result if _is_single(kind) else number


def _carry(op: ir.Operation) -> None:
    first = _FIRST_CARRIED[op.name]
    operands, kinds = list(op.operands), [r.type for r in op.results]
    with ir.InsertionPoint(op), op.location:
        begins = [_number(value) for value in operands[first:]]
        made = remake(op, [*operands[:first], *begins], [_number_type(k) for k in kinds], len(op.regions))
        results = [_single(kind, value) for kind, value in zip(kinds, made.results, strict=True)]
    for old, new in zip(op.regions, made.regions, strict=True):
        if len(old.blocks):
            block = old.blocks[0]
            _take_numbers(block, op.location)
            _give_numbers(terminator(block))
            block.append_to(new)
    replace(op, results)


def _take_numbers(block: ir.Block, location: ir.Location) -> None:
    """Arguments become numbers; the block makes tensors of them for whoever wants such."""
    for argument in block.arguments:
        kind = argument.type
        if _is_single(kind):
            argument.set_type(_number_type(kind))
            with ir.InsertionPoint.at_block_begin(block), location:
                single = tensor.FromElementsOp(kind, [argument])
            argument.replace_all_uses_except(single.result, single.operation)


def _give_numbers(end: ir.Operation) -> None:
    with ir.InsertionPoint(end), end.location:
        for place, value in enumerate(list(end.operands)):
            end.operands[place] = _number(value)
