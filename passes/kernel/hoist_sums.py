"""What is the same for all work-items of a row is summed once for the row: ``o[i, j] = x[i, j] / x[i].sum()``.

Comes in: a kernel as loops over work-items. Goes out: loops of a work-item that read nothing of the innermost index in
front of the loop over it. Read next: `tighten_bounds`, behind which loops over work-items have no guards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.ir.memory import is_never_written
from pykern.passes.ir.values import free_values, is_inside
from pykern.passes.kernels import find, unaliased_loops
from pykern.passes.remarks import remark

_READING = ("arith.", "math.", "memref.dim", "memref.load", "scf.for", "scf.if", "scf.yield")


@dataclass(frozen=True)
class HoistSums(Pass):
    """Move loops that give the same to all work-items out of the loop over them.

    In:  kernels as loops over work-items, the innermost marked `kern.items`, and `kern.noalias`.
    Out: a loop in the body that carries numbers, reads arrays that the kernel does not write, and depends on no value
         of the loop over work-items stands in front of it, where it runs if there is a work-item at all.
    """

    name: ClassVar[str] = "kern-hoist-sums"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for items in unaliased_loops(module, kern.ITEMS):
            for op in [o.operation for o in items.regions[0].blocks[0].operations]:
                if op.name == "scf.for" and _is_the_same(op, items):
                    remark(op, "this loop gives the same to all work-items of a row, and runs once for them")
                    _hoist(op, items)
                    changed = True
        return changed


def _is_the_same(loop: ir.Operation, items: ir.Operation) -> bool:
    """Whether a loop gives numbers that do not depend on the work-item."""
    kinds = (ir.FloatType, ir.IntegerType, ir.IndexType)
    if not loop.results or not all(isinstance(result.type, kinds) for result in loop.results):
        return False
    if any(is_inside(value, items) for value in free_values(loop)):
        return False
    inside = find(loop, lambda _: True)
    if not all(op.name.startswith(_READING) for op in inside):
        return False
    return all(is_never_written(op.operands[0]) for op in inside if op.name == "memref.load")


def _hoist(loop: ir.Operation, items: ir.Operation) -> None:
    lower, upper = list(items.operands)[:2]
    with ir.InsertionPoint(items), loop.location:
        runs = arith.CmpIOp(arith.CmpIPredicate.slt, lower, upper).result
        branch = scf.IfOp(runs, [result.type for result in loop.results], has_else=True)
    for old, new in zip(loop.results, branch.results, strict=True):
        old.replace_all_uses_with(new)
    with ir.InsertionPoint(branch.then_block), loop.location:
        end = scf.YieldOp(list(loop.results)).operation
    loop.move_before(end)
    with ir.InsertionPoint(branch.else_block), loop.location:
        scf.YieldOp([constant(result.type, 0) for result in loop.results])
