"""A loop in two versions, one of which runs: where a condition holds, and a copy elsewhere."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import scf


def branch_on(loop: ir.Operation, condition: ir.Value) -> tuple[ir.Operation, ir.Block]:
    """Move the loop into a branch where `condition` holds; what it carries comes from either version.

    Gives the copy for elsewhere, and the block of the loop.
    """
    versions = scf.IfOp(condition, [r.type for r in loop.results], has_else=True)
    for old, new in zip(loop.results, versions.results, strict=True):
        old.replace_all_uses_with(new)
    with ir.InsertionPoint(versions.else_block):
        other = loop.clone().operation
        scf.YieldOp(list(other.results))
    with ir.InsertionPoint(versions.then_block):
        end = scf.YieldOp(list(loop.results)).operation
    loop.move_before(end)
    return other, versions.then_block
