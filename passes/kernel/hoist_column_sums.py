"""What is the same for all work-items of a column is summed once for the column: ``o[i, j] = x[i, j] / x[:, j].sum()``.

Comes in: a kernel as loops over work-items. Goes out: loops of a work-item that read nothing of the row in a loop over
columns of their own, in front of all rows. Read next: `hoist_sums`, which does the same for rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone
from pykern.passes.ir.effects import erase_dead
from pykern.passes.ir.values import free_values, is_inside, is_nested_in, parent_of
from pykern.passes.kernel.hoist_sums import same_for_all
from pykern.passes.kernels import identity, index_constant, is_constant, unaliased_loops
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class HoistColumnSums(Pass):
    """Keep what loops give to all work-items of a column in memory for a number of each column.

    In:  kernels as loops over work-items, the innermost marked `kern.items`, and `kern.noalias`.
    Out: a loop in the body that carries numbers, reads arrays that the kernel does not write, and depends on the column
         and not on the row runs in a loop over columns in front of the one over rows, if there is a row at all. That
         loop is marked `kern.items`, too.
    """

    name: ClassVar[str] = "kern-hoist-column-sums"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for items in unaliased_loops(module, kern.ITEMS):
            rows = parent_of(items)
            if rows.name == "scf.for" and not rows.results and _is_rectangle(items, rows):
                same = _behind_sums(items, rows)
                if same:
                    remark(
                        same[0],
                        "this loop gives the same to all work-items of a column, and runs once for them",
                    )
                    _hoist(same, items, rows)
                    changed = True
        return changed


def _is_rectangle(items: ir.Operation, rows: ir.Operation) -> bool:
    """Whether all rows have the same columns, one after the other."""
    bounds = list(items.operands)[:3]
    return is_constant(bounds[2]) == 1 and not any(is_inside(bound, rows) for bound in bounds)


def _behind_sums(items: ir.Operation, rows: ir.Operation) -> list[ir.Operation]:
    """Loops that give the same in all rows but not in all columns, and what is computed from these alone."""
    whole = {identity(op) for op in same_for_all(items)}
    found: list[ir.Operation] = []
    numbers: set[ir.Value] = set()
    for op in same_for_all(items, rows):
        is_sum = op.name == "scf.for" and identity(op) not in whole
        if is_sum or any(value in numbers for value in free_values(op)):
            found.append(op)
            numbers |= set(op.results)
    return found


def _hoist(same: list[ir.Operation], items: ir.Operation, rows: ir.Operation) -> None:
    lower, upper = list(items.operands)[:2]
    moved = {identity(op) for op in same}
    kept = [result for op in same for result in op.results if _is_read_by_others(result, moved, items)]
    with ir.InsertionPoint(rows), rows.location:
        length = arith.MaxSIOp(arith.SubIOp(upper, lower).result, index_constant(0)).result
        dynamic = ir.ShapedType.get_dynamic_size()
        kinds = [ir.MemRefType.get([dynamic], value.type) for value in kept]
        tables = [memref.AllocOp(kind, [length], [], alignment=64).result for kind in kinds]
        runs = arith.CmpIOp(arith.CmpIPredicate.slt, *list(rows.operands)[:2]).result
        branch = scf.IfOp(runs)
        with ir.InsertionPoint(branch.then_block):
            columns = scf.ForOp(lower, upper, index_constant(1))
            scf.YieldOp([])
        columns.operation.attributes[kern.ITEMS] = items.attributes[kern.ITEMS]
        with ir.InsertionPoint(columns.body):
            known = {items.regions[0].blocks[0].arguments[0]: columns.induction_variable}
            for op in same_for_all(items, rows):
                copy = clone(op, lambda value: known.get(value, value))
                known.update(zip(op.results, copy.results, strict=True))
            at = arith.SubIOp(columns.induction_variable, lower).result
            for value, table in zip(kept, tables, strict=True):
                memref.StoreOp(known[value], table, [at])
            scf.YieldOp([])
        erase_dead(columns.body)
    with ir.InsertionPoint.at_block_begin(items.regions[0].blocks[0]), items.location:
        at = arith.SubIOp(items.regions[0].blocks[0].arguments[0], lower).result
        for value, table in zip(kept, tables, strict=True):
            value.replace_all_uses_with(memref.LoadOp(table, [at]).result)
    erase_dead(items.regions[0].blocks[0])
    with ir.InsertionPoint.after(rows), rows.location:
        for table in tables:
            memref.DeallocOp(table)


def _is_read_by_others(value: ir.Value, moved: set[int], items: ir.Operation) -> bool:
    """Whether an op that stays in the work-item reads a value."""
    for use in value.uses:
        op = use.owner.operation
        while parent_of(op) != items and is_nested_in(op, items):
            op = parent_of(op)
        if identity(op) not in moved:
            return True
    return False
