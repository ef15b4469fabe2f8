"""Private arrays become values: their cells live in registers, and the loops that number them are unrolled.

Comes in: a kernel as loops over work-items, with `memref.alloca` where work-items keep arrays of their own. Goes out:
the same without those arrays whose cells are known at each access. Read next: `constant_loops`, `unrolling`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import UNROLLED_INDEX_OPS, UNROLLED_OPS
from pykern.passes.analysis.cost_model.registers import LOOKED_UP_CELLS, PROMOTED_CELLS
from pykern.passes.framework import Pass
from pykern.passes.ir.values import has_uses, is_nested_in
from pykern.passes.kernel.constant_loops import Plan
from pykern.passes.kernel.unrolling import Unrolling
from pykern.passes.kernels import find
from pykern.passes.remarks import remark
from pykern.passes.vectorize.items.lanes import Scalar
from pykern.passes.vectorize.items.vectorize_items import VectorizeItems

_TAPES = ("kern.push", "kern.pop")


@dataclass(frozen=True)
class PromotePrivate(Pass):
    """Keep private arrays in values where each access says which cell it means.

    In:  kernels as loops over work-items, the innermost marked `kern.items`.
    Out: arrays of at most `cells` cells, whose indices are constants once the loops that count them are unrolled, are
         gone, and so are these loops; of at most `looked_up` cells the one that is meant may be known at run time
         alone: it is chosen by comparisons. Other loops and branches carry what they change. Where that would make more
         than `ops` ops, arrays and loops stay; and where work-items can run in lanes as they are
         (`kern-vectorize-items` has such memory in vectors) and some loop would be left, or many ops.
    """

    name: ClassVar[str] = "kern-promote-private"
    looks_for: ClassVar[tuple[str, ...]] = ("memref.alloca",)
    cells: int = PROMOTED_CELLS
    ops: int = UNROLLED_OPS
    looked_up: int = LOOKED_UP_CELLS

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            items = find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes)
            # a push and its pop are one pair: of each there is one
            if items and not find(kernel, lambda op: op.name in _TAPES):
                arrays = self._arrays(kernel, items[0])
                if arrays:
                    self._promote(items[0], arrays, _runs_in_lanes(kernel, items[0]))

    def _arrays(self, kernel: ir.Operation, loop: ir.Operation) -> list[ir.Value]:
        """Small ones of fixed shape, of which the work-items only ask for cells."""
        found = [op.results[0] for op in find(kernel, lambda op: op.name == "memref.alloca")]
        return [one for one in found if self._is_small(one) and _is_only_accessed(one, loop)]

    def _is_small(self, array: ir.Value) -> bool:
        kind = ir.MemRefType(array.type)
        return kind.has_static_shape and math.prod(kind.shape) <= self.cells

    def _promote(self, loop: ir.Operation, arrays: list[ir.Value], has_lanes: bool) -> None:
        """Work-items that have lanes as they are, gain where no loop is left, and LLVM makes lanes of them."""
        while arrays:
            most = UNROLLED_INDEX_OPS if has_lanes else self.ops
            plan = Plan(loop, arrays, most, looked_up=self.looked_up)
            if has_lanes and (plan.keeps_loops or plan.refused):
                return
            if not plan.refused:
                remark(loop, "private memory is in registers, loops over it are unrolled")
                Unrolling(plan).replace()
                for array in arrays:
                    array.owner.operation.erase()
                return
            if plan.is_too_long:
                remark(loop, f"private memory stays in memory: its loops unrolled are over {self.ops} ops")
            arrays = [one for one in arrays if one not in plan.refused]


def _runs_in_lanes(kernel: ir.Operation, loop: ir.Operation) -> bool:
    try:
        VectorizeItems().plan(kernel, loop)
    except Scalar:
        return False
    return kern.NOALIAS in kernel.attributes


def _is_only_accessed(array: ir.Value, loop: ir.Operation) -> bool:
    if not has_uses(array):
        return False
    users = [use.owner.operation for use in array.uses]
    return all(
        op.name in ("memref.load", "memref.store") and not op.attributes and is_nested_in(op, loop)
        for op in users
    )
