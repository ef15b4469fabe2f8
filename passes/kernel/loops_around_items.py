"""A loop of a work-item's own goes around the loop over work-items, where its offsets come from tables.

Comes in: a kernel as loops over work-items. Goes out: `for q in range(9): o[q, j] = f[q, (j - ex[q]) % n]` of all
work-items `j` of a row as a loop over `q` around one over `j`, in which `ex[q]` is one number. Read next:
`wrapped_offsets`, `edges`, which take indices apart whose offsets do not change in the loop over work-items.
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
from pykern.passes.ir.values import arguments_behind
from pykern.passes.kernel.tables_read import is_table_read
from pykern.passes.kernels import find
from pykern.passes.remarks import remark

_REMAINDERS = ("arith.remsi", "arith.cmpi")


@dataclass(frozen=True)
class LoopsAroundItems(Pass):
    """Interchange a loop over work-items with the only loop of a work-item, for offsets that are read from tables.

    In:  kernels as loops over work-items, the innermost marked `kern.items`.
    Out: where such a loop is all that a work-item does, carries nothing, and is the same for all, and where an index of
         the work-item plus a number from a table is wrapped around or compared: the loop stands around the one over
         work-items. Each work-item runs its iterations in their order; work-items have none.
    """

    name: ClassVar[str] = "kern-loops-around-items"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = _REMAINDERS

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for items in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                loop = _only_loop(items)
                if loop is not None and _has_wrapped(loop, items):
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


def _has_wrapped(loop: ir.Operation, items: ir.Operation) -> bool:
    """Whether a remainder or a comparison is of a sum of the work-item's index and a number from a table, at a place
    that does not depend on the work-item."""
    variable = items.opview.induction_variable
    tables = [op for op in find(loop, is_table_read) if op.parent is not None and op.parent.operation == loop]
    numbers = [op.results[0] for op in tables if variable not in arguments_behind(op.results[0])]
    for op in find(loop, lambda op: op.name in _REMAINDERS):
        behind = _sum_of(op.operands[0])
        if variable in behind and any(number in behind for number in numbers):
            return True
    return False


def _sum_of(value: ir.Value) -> set[ir.Value]:
    """All values behind one through integer arithmetic, and itself."""
    seen: set[ir.Value] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            op = None if isinstance(one.owner, ir.Block) else one.owner.operation
            if op is not None and op.name.startswith("arith."):
                waiting.extend(op.operands)
    return seen


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
