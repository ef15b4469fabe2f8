"""Copies of ops with other operands, also inside their regions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlir import ir

from pykern.passes.ir.values import free_values, is_inside
from pykern.passes.kernels import body, named, replace


def attributes_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The op's attributes by name, as `ir.Operation.create` takes them."""
    return {name: op.attributes[name] for name in op.attributes}


def remake(
    op: ir.Operation, operands: Sequence[ir.Value], results: Sequence[ir.Type], regions: int = 0
) -> ir.Operation:
    """An op of the same name, location and attributes, with other operands and result types and empty regions."""
    return ir.Operation.create(
        op.name,
        results=results,
        operands=operands,
        attributes=attributes_of(op),
        regions=regions,
        loc=op.location,
    )


def rematerialise(value: ir.Value, loop: ir.Operation, known: dict[ir.Value, ir.Value]) -> ir.Value:
    """Compute `value` of the loop's body from the values in `known`, which grows; memory must not be behind it."""
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
            operands = [known.get(operand, operand) for operand in op.operands]
            known[one] = remake(op, operands, [one.type]).result
    return known.get(value, value)


def clone(op: ir.Operation, lookup: Callable[[ir.Value], ir.Value]) -> ir.Operation:
    """A copy at the current insertion point that reads `lookup(v)` for every value v from outside."""
    replaced = {value: lookup(value) for value in free_values(op)}
    copy = op.clone().operation
    replace_operands(copy, replaced)
    return copy


def inline_calls(root: ir.Operation, callees: Mapping[str, ir.Operation]) -> bool:
    """Put the bodies of functions, given by name, in the place of their calls; calls of others stay.

    Says whether there were any. Calls in the bodies stay, too: call it again for these.
    """
    is_changed = False
    for call in named(root, "func.call"):
        callee = callees.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
        if callee is not None:
            known = dict(zip(body(callee).arguments, call.operands, strict=True))
            with ir.InsertionPoint(call), call.location:
                results = clone_block(body(callee), known)
            replace(call, results)
            is_changed = True
    return is_changed


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
