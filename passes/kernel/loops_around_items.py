"""Loop interchange for index offsets that are read from a table: the loop over the table moves outside.

Comes in: a kernel as loops over work-items. Goes out: the loop of each work-item around the loop over work-items:

    before                                          after
    for j: for q in 0..9:                           for q in 0..9: c = ex[q]; for j:
        o[q, j] = f[q, (j - ex[q]) % n]                 o[q, j] = f[q, (j - c) % n]

In the new inner loop the offset does not change. Read next: `wrapped_offsets` and `edges`, which then remove
modulos and comparisons from such indices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import scf

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.index_arithmetic import hoist
from pykern.passes.kernel.tables_read import COMPARED, added_tables
from pykern.passes.kernels import find
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class LoopsAroundItems(Pass):
    """Interchange a loop over work-items with the only loop of a work-item, for offsets that are read from tables.

    In:  kernels as loops over work-items, the innermost marked `kern.items`.
    Out: the work-item's loop stands around the loop over work-items. Required: this loop is all that a work-item does,
         it carries no values and has the same bounds for all work-items, and an index of the work-item plus a number
         from a table is compared or goes through a modulo. Each work-item still runs its iterations in order.
    """

    name: ClassVar[str] = "kern-loops-around-items"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = COMPARED

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for items in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                loop = _only_loop(items)
                if loop is not None and _at_top(loop, added_tables(loop, items)):
                    remark(
                        loop, "the loop is taken around work-items: its offsets are the same for all of them"
                    )
                    _interchange(items, loop)
                    changed = True
        return changed


def _only_loop(items: ir.Operation) -> ir.Operation | None:
    """The loop that is all a work-item does, but for numbers, with bounds that are the same for all work-items."""
    *before, last = [o.operation for o in items.regions[0].blocks[0].operations][:-1] or [items]
    if last.name != "scf.for" or last.results or items.results or "unsignedCmp" in last.attributes:
        return None
    if not all(is_speculatable(op) for op in before):
        return None
    return last if all(hoist(bound, items) for bound in list(last.operands)[:3]) else None


def _at_top(loop: ir.Operation, reads: list[ir.Operation]) -> bool:
    return any(op.parent is not None and op.parent.operation == loop for op in reads)


def _interchange(items: ir.Operation, loop: ir.Operation) -> None:
    before = [o.operation for o in items.regions[0].blocks[0].operations][:-2]
    inside = [o.operation for o in loop.regions[0].blocks[0].operations][:-1]
    with ir.InsertionPoint(items), loop.location:
        outer = scf.ForOp(*list(loop.operands)[:3])
        with ir.InsertionPoint(outer.body):
            inner = scf.ForOp(*list(items.operands)[:3])
            scf.YieldOp([])
        with ir.InsertionPoint(inner.body):
            end = scf.YieldOp([]).operation
    for name in list(items.attributes):
        inner.operation.attributes[name] = items.attributes[name]
    for op in [*before, *inside]:
        op.move_before(end)
    items.opview.induction_variable.replace_all_uses_with(inner.induction_variable)
    loop.opview.induction_variable.replace_all_uses_with(outer.induction_variable)
    items.erase()
