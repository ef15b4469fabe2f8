"""Groups that are full run loops with barriers without asking who is there.

Comes in: kernels whose guard for a partial last group is around such loops. Goes out: two versions, of which a group
runs one. Read next: `split_guards`, which would put a branch between each two barriers of a loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.collectives import CONVERGENT
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import VERSIONED_OPS
from pykern.passes.analysis.integer_ranges import Ranges
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.values import made_by
from pykern.passes.kernel.work_groups.convergence import holding_convergent, is_guard
from pykern.passes.kernels import BUFFERS, find, identity, index_constant, named


@dataclass(frozen=True)
class VersionGroups(Pass):
    """Write a kernel's body once more, for groups whose work-items are all there.

    In:  kernels from `kern-place-work-items`, the launch's guard as one branch, with loops that hold barriers or
         collectives. Out: a branch on what is the same for a whole group: the body as it is where the group's last
         work-item is inside of the launch, and behind its guard elsewhere. A body of more than `most` operations stays,
         and one with a tape.
    """

    name: ClassVar[str] = "kern-version-groups"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = tuple(sorted(CONVERGENT))
    most: int = VERSIONED_OPS

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            holding = holding_convergent(kernel)
            for op in [o.operation for o in kernels.body(kernel).operations]:
                if op.name == "scf.if" and is_guard(op) and not op.results and self._gains(op, holding):
                    _version(op)

    def _gains(self, guard: ir.Operation, holding: set[int]) -> bool:
        inside = find(guard, lambda _: True)
        return (
            len(inside) <= self.most
            and any(op.name == "scf.for" and identity(op) in holding for op in inside)
            and not named(guard, *BUFFERS, "kern.push", "kern.pop")
        )


def _version(guard: ir.Operation) -> None:
    with ir.InsertionPoint(guard), guard.location:
        full = _whole_group(guard.operands[0], Ranges())
        if full is None:
            return
        versions = scf.IfOp(full, has_else=True)
        with ir.InsertionPoint(versions.then_block):
            clone_block(guard.regions[0].blocks[0], {})
            scf.YieldOp([])
        with ir.InsertionPoint(versions.else_block):
            last = scf.YieldOp([]).operation
    for op in named(versions.operation, "kern.guard"):
        if op.parent == versions.operation:
            op.erase()
    guard.move_before(last)


def _whole_group(inside: ir.Value, ranges: Ranges) -> ir.Value | None:
    """That the guard holds for all work-items of a group; None where it is none for a partial group."""
    both = made_by(inside, "arith.andi")
    if both is not None:
        left, right = (_whole_group(operand, ranges) for operand in both.operands)
        return None if left is None or right is None else arith.AndIOp(left, right).result
    compare = made_by(inside, "arith.cmpi")
    item = None if compare is None else made_by(compare.operands[0], "arith.addi")
    if compare is None or item is None:
        return None
    first, local = item.operands
    largest = ranges.of(local).high
    last = arith.AddIOp(first, index_constant(largest)).result
    return arith.CmpIOp(compare.attributes["predicate"], last, compare.operands[1]).result
