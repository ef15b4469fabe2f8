"""Ops of a loop's body once more, for another iteration or for several."""

from __future__ import annotations

from mlir import ir

from pykern.passes.ir.values import is_inside


def again(op: ir.Operation, operands: list[ir.Value], results: list[ir.Type]) -> ir.Value:
    """The op with other operands, at the insertion point."""
    attributes = {name: op.attributes[name] for name in op.attributes.keys()}  # noqa: SIM118 - no mapping
    with op.location:
        return ir.Operation.create(op.name, results=results, operands=operands, attributes=attributes).result


def recompute(value: ir.Value, loop: ir.Operation, known: dict[ir.Value, ir.Value]) -> ir.Value:
    """`value` of the loop's body from the values in `known`, which grows; it must not depend on memory."""
    waiting = [value]
    while waiting:  # no recursion: chains may be long
        one = waiting[-1]
        if one in known or not is_inside(one, loop):
            waiting.pop()
            continue
        op = one.owner.operation
        missing = [operand for operand in op.operands if operand not in known and is_inside(operand, loop)]
        if missing:
            waiting.extend(reversed(missing))
        else:
            known[one] = again(op, [known.get(operand, operand) for operand in op.operands], [one.type])
    return known.get(value, value)
