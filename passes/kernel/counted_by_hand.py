"""A counted loop as one with a condition, so that something else may end it as well."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, scf


def as_while(loop: ir.Operation) -> ir.Operation:
    """Replace an `scf.for` by an `scf.while` that counts as signed numbers do; gives the new loop."""
    low, high, step, *carried = loop.operands
    old = loop.regions[0].blocks[0]
    kinds = [low.type, *(value.type for value in carried)]
    places = [loop.location] * len(kinds)
    with ir.InsertionPoint(loop), loop.location:
        made = scf.WhileOp(kinds, [low, *carried])
        before = ir.Block.create_at_start(made.before, kinds, places)
        after = ir.Block.create_at_start(made.after, kinds, places)
        with ir.InsertionPoint(before):
            more = arith.CmpIOp(arith.CmpIPredicate.slt, before.arguments[0], high).result
            scf.ConditionOp(more, list(before.arguments))
        for argument, new in zip(old.arguments, after.arguments, strict=True):
            argument.replace_all_uses_with(new)
        *statements, last = [op.operation for op in old.operations]
        with ir.InsertionPoint(after):
            following = arith.AddIOp(after.arguments[0], step).result
            end = scf.YieldOp([following, *last.operands]).operation
    for statement in statements:
        statement.move_before(following.owner.operation)
    end.move_after(following.owner.operation)
    for result, new in zip(loop.results, list(made.results)[1:], strict=True):
        result.replace_all_uses_with(new)
    loop.erase()
    return made.operation
