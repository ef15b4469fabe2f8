"""Atomics by which a whole subgroup changes one cell: lanes join their values, and the first lane makes the access.

Comes in: kernels with `kern.atomic_rmw`. Goes out: a reduction of the subgroup, and the atomic of one lane. Memory
would serve the lanes one after the other. The compilers that come after do the same in part: ptxas for integers, LLVM's
AMDGPU backend by a loop over the lanes. Read next: `subgroups`, which lowers the reduction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.dialect.atomics import AtomicRmwOp
from pykern.dialect.collectives import SubgroupReduceOp
from pykern.lowering.gpu.grid import Grid, item_in_group
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.devices import SUBGROUP_ITEMS
from pykern.passes.analysis.uniformity import Uniformity
from pykern.passes.framework import Pass
from pykern.passes.ir.memory import root_of
from pykern.passes.ir.reduction import kind_of, neutral
from pykern.passes.ir.values import home, made_by, parent_of
from pykern.passes.kernel.work_groups.convergence import holding_convergent, is_guard
from pykern.passes.kernels import identity, index_constant, named

JOINED = {kind: kind for kind in ("add", "min", "max", "umin", "umax", "and", "or", "xor")} | {"sub": "add"}
"""How values of one cell become one: what is subtracted is added up before."""


@dataclass(frozen=True)
class AggregateAtomics(Pass):
    """Join the values of a subgroup before they change a cell that is the same for the whole group.

    In:  kernels from `kern-place-work-items`. Out: atomics whose old value nobody uses, in arrays or shared memory,
         are made by the first lane of each subgroup, with what `kern.subgroup_reduce` made of 32 or 64 bits of each
         lane. They stand in no loop, and in no branch but the launch's guard; or they were the last operation of one
         more branch, which then gives their value. With `floats_only`, integers stay as they are: the assembler joins
         them itself. Sums of floats are made in another order, which atomics leave open.
    """

    name: ClassVar[str] = "kern-aggregate-atomics"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = (AtomicRmwOp.OPERATION_NAME,)
    powers: ClassVar[tuple[str, ...]] = ("subgroup_size",)
    subgroup_size: int = SUBGROUP_ITEMS
    floats_only: bool = False

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            grid = Grid(kernels.group(kernel))
            size = min(self.subgroup_size, grid.total)
            atomics = named(kernel, AtomicRmwOp.OPERATION_NAME)
            order = kernels.integers(kernel, kern.ITEM_ORDER) or tuple(range(grid.rank))
            numbered = Grid(tuple(grid.size[dim] for dim in order))
            if size > 1 and atomics and _has_first_lanes(numbered, size):
                uniform = Uniformity(kernel)
                for op in atomics:
                    if self._takes(op) and _is_one_cell(op, uniform):
                        _aggregate(kernel, op, grid, size)

    def _takes(self, op: ir.Operation) -> bool:
        return isinstance(op.operands[0].type, ir.FloatType) or not self.floats_only


def _has_first_lanes(grid: Grid, size: int) -> bool:
    """Whether the first lane of each subgroup is in the launch where any of its lanes is.

    So it is where a subgroup is a part of one row of the workgroup, some of its whole rows, or all of it.
    """
    x, y, z = grid.block
    rows = size // x if size % x == 0 else 0
    return x % size == 0 or (y == 1 and z == 1) or (rows > 0 and y % rows == 0) or grid.total <= size


def _is_one_cell(op: ir.Operation, uniform: Uniformity) -> bool:
    """Whether all lanes change the same cell of an array or of shared memory, and nobody uses its old value."""
    value, memory, *indices = op.operands
    kind = value.type
    return (
        kind_of(op) in JOINED
        and not list(op.results[0].uses)
        and isinstance(kind, ir.IntegerType | ir.FloatType)
        and kind.width in (32, 64)
        and made_by(root_of(memory), "kern.private", "memref.alloca") is None
        and uniform.all_uniform([memory, *indices])
    )


def _aggregate(kernel: ir.Operation, op: ir.Operation, grid: Grid, size: int) -> None:
    kind = JOINED[kind_of(op)]
    if not _is_below_the_launch_alone(op, kernel):
        branch = _ends_in(op, kernel)
        if branch is None:
            return
        op = _behind(branch, op, kind)
    with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
        lane = item_in_group(grid, size).lane
    value, memory, *indices = op.operands
    with ir.InsertionPoint(op), op.location:
        joined = SubgroupReduceOp.create(kind, value)
        first = arith.CmpIOp(arith.CmpIPredicate.eq, lane, index_constant(0)).result
        leads = scf.IfOp(first)
        with ir.InsertionPoint(leads.then_block):
            AtomicRmwOp.create(kind_of(op), joined, memory, indices)
            scf.YieldOp([])
    op.erase()


def _is_below_the_launch_alone(op: ir.Operation, kernel: ir.Operation) -> bool:
    """Whether an op stands in the kernel's body or in the launch's guard."""
    around = parent_of(op)
    return around == kernel or (parent_of(around) == kernel and around.name == "scf.if" and is_guard(around))


def _ends_in(op: ir.Operation, kernel: ir.Operation) -> ir.Operation | None:
    """The branch around an op that is its last one, and of which it needs nothing but the value; else None."""
    branch = parent_of(op)
    if branch.name != "scf.if" or branch.results or not _is_below_the_launch_alone(branch, kernel):
        return None
    block, *others = [block for region in branch.regions for block in region.blocks]
    ops = [o.operation for o in block.operations]
    inside = any(home(value) == block for value in list(op.operands)[1:])
    if others or inside or ops[-2] != op or identity(branch) in holding_convergent(kernel):
        return None
    return branch


def _behind(branch: ir.Operation, op: ir.Operation, kind: str) -> ir.Operation:
    """Let the branch give the value, or else one that changes nothing, and make the atomic behind the branch."""
    value, memory, *indices = op.operands
    with ir.InsertionPoint(branch), branch.location:
        giving = scf.IfOp(branch.operands[0], [value.type], has_else=True)
        with ir.InsertionPoint(giving.then_block):
            end = scf.YieldOp([value]).operation
        with ir.InsertionPoint(giving.else_block):
            scf.YieldOp([neutral(kind, value.type)])
    for inner in [o.operation for o in branch.regions[0].blocks[0].operations][:-2]:
        inner.move_before(end)
    with ir.InsertionPoint(branch), op.location:
        made = AtomicRmwOp.create(kind_of(op), giving.results[0], memory, indices)
    branch.erase()
    return made.owner
