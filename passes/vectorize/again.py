"""Ops of a loop's body once more, for another iteration or for several."""

from __future__ import annotations

from mlir import ir

from pykern.passes.vectorize.effects import is_inside


def again(op: ir.Operation, operands: list[ir.Value], results: list[ir.Type]) -> ir.Value:
    """The op with other operands, at the insertion point."""
    attributes = {name: op.attributes[name] for name in op.attributes.keys()}  # noqa: SIM118 - no mapping
    with op.location:
        return ir.Operation.create(op.name, results=results, operands=operands, attributes=attributes).result


def recompute(value: ir.Value, loop: ir.Operation, known: dict[ir.Value, ir.Value]) -> ir.Value:
    """`value` of the loop's body from the values in `known`, which grows; it must not depend on memory."""
    if value in known or not is_inside(value, loop):
        return known.get(value, value)
    op = value.owner.operation
    operands = [recompute(operand, loop, known) for operand in op.operands]
    known[value] = again(op, operands, [value.type])
    return known[value]
