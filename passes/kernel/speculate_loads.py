"""Branches that only read become choices: `if x[i, j] > most: most = x[i, j]` is one of two values.

Comes in: a kernel as loops over work-items. Goes out: loads that a branch repeats stand in front of it, and what little
else is in it. Loops and work-items with choices run in lanes, those with branches that read memory do not. Read next:
`vectorize.vectorize_reductions`, `vectorize.items`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes import kernels
from pykern.passes.analysis.cost_model.operations import SPECULATED_OPS
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.memory import ancestor_in
from pykern.passes.kernels import MEMORY_OPERAND, find, named, replace

_ACCESSES = ("memref.load", "memref.store")


@dataclass(frozen=True)
class SpeculateLoads(Pass):
    """Read in front of a branch what it reads, where that place was accessed before.

    In:  kernels as loops over work-items.
    Out: an scf.if of loads whose place another access names in front of it, and of at most `ops` cheap operations
         beside, is a choice of values, an arith.select each. Other branches stay.
    """

    name: ClassVar[str] = "kern-speculate-loads"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.if",)
    ops: int = SPECULATED_OPS

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for branch in named(kernel, "scf.if"):  # a walk comes to the inner branch first
                changed |= self._branch(branch)
        return changed

    def _branch(self, branch: ir.Operation) -> bool:
        inside = find(branch, lambda op: op.name != "scf.yield")
        loads = [op for op in inside if op.name == "memref.load"]
        if not loads or not branch.results or len(inside) - len(loads) > self.ops:
            return False
        for op in inside:
            known = _is_accessed_before(op, branch) if op.name == "memref.load" else is_speculatable(op)
            if not known or op.regions:
                return False
        for op in inside:
            op.move_before(branch)
        _choose(branch)
        return True


def _choose(branch: ir.Operation) -> None:
    """Replace a branch that only yields values by choices of them."""
    yes, no = (terminator_operands(region.blocks[0]) for region in branch.regions)
    with ir.InsertionPoint(branch), branch.location:
        condition = branch.operands[0]
        values = [
            a if a == b else arith.SelectOp(condition, a, b).result for a, b in zip(yes, no, strict=True)
        ]
    replace(branch, values)


def _is_accessed_before(load: ir.Operation, branch: ir.Operation) -> bool:
    """Whether a load or store in front of the branch is of the same place: then the place is in the array."""
    memory, *indices = load.operands
    for use in memory.uses:
        other = use.owner.operation
        if other.name not in _ACCESSES:
            continue
        at = MEMORY_OPERAND[other.name]
        if use.operand_number != at:
            continue
        if list(other.operands)[at + 1 :] == indices and _comes_before(other, branch):
            return True
    return False


def _comes_before(op: ir.Operation, other: ir.Operation) -> bool:
    """Whether `op` has run wherever `other` runs."""
    around = ancestor_in(other, op.block)
    return around is not None and op != around and op.is_before_in_block(around)
