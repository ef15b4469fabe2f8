"""Loop-invariant code motion of whole loops: a sum that all work-items of a row share is computed once for the row.

Comes in: a kernel as loops over work-items. Goes out: loops that do not depend on the innermost index stand in front of
the loop over it. Where possible, the rows then are the work-items. For ``o[i, j] = x[i, j] / x[i].sum()``:

    before                                  after
    for i: for j:                           for i:
        s = 0; for k: s += x[i, k]              s = 0; for k: s += x[i, k]
        o[i, j] = x[i, j] / s                   for j: o[i, j] = x[i, j] / s

Read next: `vectorize.ordered`, which adds up several rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.ir.effects import writes_nothing
from pykern.passes.ir.memory import is_never_written
from pykern.passes.ir.own_cells import is_independent
from pykern.passes.ir.values import free_values, is_inside, is_nested_in, parent_of
from pykern.passes.kernels import find, unaliased_loops
from pykern.passes.remarks import remark

_READING = ("arith.", "math.", "memref.dim", "memref.load", "scf.for", "scf.if", "scf.yield")


@dataclass(frozen=True)
class HoistSums(Pass):
    """Move loops whose results are the same for all work-items out of the loop over these work-items.

    In:  kernels as loops over work-items, the innermost marked `kern.items`, and `kern.noalias`.
    Out: an inner loop stands in front of the loop over work-items, and runs if there is at least one work-item.
         Required: its results are numbers, it reads only arrays that the kernel does not write, and it uses no value
         that the loop over work-items defines. If all rows have the same number of work-items and write different
         elements, and no loop is left in a work-item, the loop over rows is marked `kern.items` in its place, and runs
         if rows have work-items.
    """

    name: ClassVar[str] = "kern-hoist-sums"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        waiting = list(unaliased_loops(module, kern.ITEMS))
        while waiting:
            items = waiting.pop()
            same = same_for_all(items)
            sums = [op for op in same if op.name == "scf.for"]
            for op in sums:
                remark(op, "this loop gives the same to all work-items of a row, and runs once for them")
            for op in same if sums else ():
                op.move_before(items)
            rows = _rows(items) if sums else None
            if rows is not None:
                _mark(rows, items)
                waiting.append(rows)
            elif sums:
                _guard(same, items)
            changed |= bool(sums)
        return changed


def same_for_all(items: ir.Operation, rows: ir.Operation | None = None) -> list[ir.Operation]:
    """Ops of a work-item that give numbers which do not depend on it, in their order; with `rows`, the loop around that
    over work-items, those that do not depend on the row."""
    found: list[ir.Operation] = []
    known: set[ir.Value] = set() if rows is None else {items.regions[0].blocks[0].arguments[0]}
    outer = items if rows is None else rows
    for op in [o.operation for o in items.regions[0].blocks[0].operations][:-1]:
        if all(value in known or not is_inside(value, outer) for value in free_values(op)) and _reads(op):
            found.append(op)
            known |= set(op.results)
    return found


def _reads(op: ir.Operation) -> bool:
    """Whether an op only computes numbers, from numbers and from arrays that the kernel does not write."""
    kinds = (ir.FloatType, ir.IntegerType, ir.IndexType)
    if not op.results or not all(isinstance(result.type, kinds) for result in op.results):
        return False
    inside = [op, *find(op, lambda _: True)]
    if not all(one.name.startswith(_READING) for one in inside):
        return False
    return all(is_never_written(one.operands[0]) for one in inside if one.name == "memref.load")


def _rows(items: ir.Operation) -> ir.Operation | None:
    """The loop around that over work-items, if its iterations can be work-items: they do nothing else that writes."""
    rows = parent_of(items)
    if rows.name != "scf.for" or rows.results or find(items, lambda op: bool(op.regions)):
        return None
    if any(is_inside(bound, rows) for bound in list(items.operands)[:3]):
        return None
    others = [o.operation for o in rows.regions[0].blocks[0].operations][:-1]
    harmless = all(op == items or writes_nothing(op) for op in others)
    return rows if harmless and is_independent(rows) else None


def _mark(rows: ir.Operation, items: ir.Operation) -> None:
    """Let rows be work-items."""
    rows.attributes[kern.ITEMS] = items.attributes[kern.ITEMS]
    del items.attributes[kern.ITEMS]
    with ir.InsertionPoint(rows), rows.location:
        lower, upper = list(items.operands)[:2]
        branch = scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.slt, lower, upper).result)
        with ir.InsertionPoint(branch.then_block):
            end = scf.YieldOp([]).operation
    rows.move_before(end)


def _guard(same: list[ir.Operation], items: ir.Operation) -> None:
    """Let ops in front of the loop over work-items run if there are any."""
    results = [
        r for op in same for r in op.results if any(is_nested_in(u.owner.operation, items) for u in r.uses)
    ]
    with ir.InsertionPoint(items), items.location:
        runs = arith.CmpIOp(arith.CmpIPredicate.slt, *list(items.operands)[:2]).result
        branch = scf.IfOp(runs, [result.type for result in results], has_else=True)
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([constant(result.type, 0) for result in results])
    for old, new in zip(results, branch.results, strict=True):
        kept = [use.owner.operation for use in old.uses if not is_nested_in(use.owner.operation, items)]
        old.replace_all_uses_except(new, kept)
    with ir.InsertionPoint(branch.then_block), items.location:
        end = scf.YieldOp(results).operation
    for op in same:
        op.move_before(end)
