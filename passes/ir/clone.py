"""Copies of ops with other operands, also inside their regions."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from pykern.passes.ir.values import free_values


def clone(op: ir.Operation, lookup: Callable[[ir.Value], ir.Value]) -> ir.Operation:
    """A copy at the current insertion point that reads `lookup(v)` for every value v from outside."""
    replaced = {value: lookup(value) for value in free_values(op)}
    copy = op.clone().operation
    replace_operands(copy, replaced)
    return copy


def clone_block(block: ir.Block, known: dict[ir.Value, ir.Value]) -> list[ir.Value]:
    """Copy a block's ops here, with `known` for what they read; what the terminator reads, mapped."""
    *ops, terminator = [op.operation for op in block.operations]
    for op in ops:
        copy = clone(op, lambda value: known.get(value, value))
        known.update(zip(op.results, copy.results, strict=True))
    return [known.get(value, value) for value in terminator.operands]


def terminator_operands(block: ir.Block) -> list[ir.Value]:
    return list(block.operations[len(block.operations) - 1].operation.operands)


def replace_operands(op: ir.Operation, replaced: dict[ir.Value, ir.Value]) -> None:
    """Let the op, and those inside of it, read other values."""
    for place, operand in enumerate(op.operands):
        if operand in replaced and replaced[operand] != operand:
            op.operands[place] = replaced[operand]
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                replace_operands(inner.operation, replaced)
