"""scf.while as a counted loop: first count the trips, then run them as scf.for.

    n = while count              (the primal without results: nothing of it varies)
    x = for 0 to n: after(before(x))
    results = before(x)

So a while is reversed, and checkpointed, as every loop; what it stores is sized by the count.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes.autodiff.tensor.bounds import most_trips, write_most
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.lengths import as_value


def count_while(op: ir.Operation, varied: set[ir.Value]) -> bool:
    """Rewrite `op` if it is a while of which a result that varies is used (of the count's own, none is)."""
    if op.name != "scf.while" or not any(r in varied and any(r.uses) for r in op.results):
        return False
    before, after = [region.blocks[0] for region in op.regions]
    most = most_trips(op)
    with ir.InsertionPoint(op), op.location:
        trips = _count(op, before, after)
        loop = scf.ForOp(as_value(0), trips, as_value(1), list(op.operands))
        with ir.InsertionPoint(loop.body):
            _, *passed = clone_block(before, dict(zip(before.arguments, loop.inner_iter_args, strict=True)))
            scf.YieldOp(clone_block(after, dict(zip(after.arguments, passed, strict=True))))
        _, *results = clone_block(before, dict(zip(before.arguments, loop.results, strict=True)))
        write_most(loop.operation, most)
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return True


def _count(op: ir.Operation, before: ir.Block, after: ir.Block) -> ir.Value:
    """How often the second region runs."""
    number = ir.IndexType.get()
    passed = [*(result.type for result in op.results), number]
    carried = [*(operand.type for operand in op.operands), number]
    loop = scf.WhileOp(passed, [*op.operands, as_value(0)])
    first = loop.operation.regions[0].blocks.append(*carried)
    second = loop.operation.regions[1].blocks.append(*passed)
    with ir.InsertionPoint(first):
        *old, count = first.arguments
        condition, *values = clone_block(before, dict(zip(before.arguments, old, strict=True)))
        scf.ConditionOp(condition, [*values, count])
    with ir.InsertionPoint(second):
        *old, count = second.arguments
        values = clone_block(after, dict(zip(after.arguments, old, strict=True)))
        scf.YieldOp([*values, arith.addi(count, as_value(1))])
    return loop.operation.results[len(passed) - 1]
