"""A kernel over an index space becomes explicit loops: the CPU's form of a launch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.dialect.index_space import NdrangeOp
from pykern.errors import WORKGROUP, LaunchError, TargetError
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.devices import DEFAULT_GROUPS, MOST_ITEMS, SUBGROUP_ITEMS
from pykern.passes.analysis.cost_model.memory import PRIVATE_BYTES
from pykern.passes.analysis.uniformity import Uniformity
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import remake
from pykern.passes.ir.values import is_argument
from pykern.passes.kernel.launch_arguments import LaunchArguments, add_launch_arguments
from pykern.passes.kernel.launch_queries import add_extent, add_work
from pykern.passes.kernel.loop_order import order_in_memory
from pykern.passes.kernel.work_groups.convergence import holding_convergent
from pykern.passes.kernel.work_groups.demote import Demotion
from pykern.passes.kernel.work_groups.emit import GroupShape, emit_convergent, emit_stretch
from pykern.passes.kernel.work_groups.segments import IDS, Segmenter
from pykern.passes.kernel.work_groups.slots import Slots, element_bytes
from pykern.passes.kernels import GROUP_OPS, MEMORY_OPERAND, find, identity, index_constant, named, replace
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class ExpandNdrange(Pass):
    """Turn kernels into loops over their work-items.

    In:  func.func marked `kern.kernel`, one work-item each.
    Out: the same function over a part `lo..hi` of the dimension of the outermost loop (of the groups, where the
         kernel knows groups), without ids, barriers, shared or private memory; and two functions of
         the same arguments (`launch_queries`): `<name>.extent`, that dimension's length, and `<name>.work`.
    """

    name: ClassVar[str] = "kern-expand-ndrange"
    powers: ClassVar[tuple[str, ...]] = ("subgroup_size",)
    subgroup_size: int = SUBGROUP_ITEMS

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            launch = add_launch_arguments(kernel)
            add_work(module, kernel)
            _check_private(kernel)
            _check_group(kernel)
            if find(kernel, lambda op: op.name in GROUP_OPS):
                size = kernels.integers(kernel, kern.WORKGROUP) or default_group(kernels.rank(kernel))
                kernel.attributes[kern.WORKGROUP] = ir.DenseI64ArrayAttr.get(list(size))
                _expand_groups(kernel, launch, GroupShape(size, self.subgroup_size))
            else:
                size = None
                order = order_in_memory(kernel)
                if order != sorted(order):
                    kernel.attributes[kern.LOOP_ORDER] = ir.DenseI64ArrayAttr.get(order)
                _expand_items(kernel, launch, order)
            add_extent(module, kernel, size)


def default_group(rank: int) -> tuple[int, ...]:
    """The group where the launch leaves it open."""
    return DEFAULT_GROUPS.get(rank, (1,) * (rank - 1) + (64,))


def _check_group(kernel: ir.Operation) -> None:
    """Groups that no other device has: refused where they share memory, else said in a remark."""
    items = math.prod(kernels.integers(kernel, kern.WORKGROUP) or ())
    if items <= MOST_ITEMS:
        return
    shared = named(kernel, "kern.shared", "kern.dynamic_shared")
    told = f"a group of {items} work-items, and most devices have at most {MOST_ITEMS} in one"
    if shared:
        raise LaunchError(told, span_of(shared[0].location), "give a smaller workgroup=", code=WORKGROUP)
    remark(kernel, told)


def _check_private(kernel: ir.Operation) -> None:
    total = 0
    for op in named(kernel, "kern.private"):
        kind = ir.MemRefType(op.result.type)
        total += math.prod(kind.shape) * element_bytes(kind.element_type)
        if total > PRIVATE_BYTES:
            raise TargetError(
                f"a work-item takes {total} bytes of private memory, and {PRIVATE_BYTES} are the most",
                span_of(op.location),
                hint="pass an array in which each work-item has a part",
            )


# -- kernels that know no groups ----------------------------------------------------------------


def _expand_items(kernel: ir.Operation, launch: LaunchArguments, order: list[int]) -> None:
    """One loop per dimension, in memory's order."""
    block = kernels.body(kernel)
    for op in named(kernel, NdrangeOp.OPERATION_NAME):
        replace(op, [launch.counts[op.opview.dim]])
    _private_to_alloca(kernel)
    old = [o.operation for o in block.operations]
    terminator = old.pop()
    counters: dict[int, ir.Value] = {}
    place = ir.InsertionPoint(terminator)
    with place, kernel.location:
        zero, one = index_constant(0), index_constant(1)
    last = terminator
    for dim in order:
        count = launch.counts[dim]
        with ir.InsertionPoint(last), kernel.location:
            bounds = _part(launch, count, zero) if dim == order[0] else (zero, count)
            if launch.unit:  # over coordinates: what follows reads bounds and indices of one kind only
                bounds = tuple(launch.coordinate(dim, bound) for bound in bounds)
            loop = scf.ForOp(*bounds, one)
            counters[dim] = loop.induction_variable
        with ir.InsertionPoint(loop.body), kernel.location:
            last = scf.YieldOp([]).operation
    loop.operation.attributes[kern.ITEMS] = ir.UnitAttr.get()
    static_counts = {c for c in launch.counts if kernels.is_constant(c) is not None}
    for op in old:
        if op.name not in ("memref.alloca",) and not (op.results and op.results[0] in static_counts):
            op.move_before(last)
    values: dict[int, ir.Value] = {}
    with ir.InsertionPoint.at_block_begin(loop.body), kernel.location:
        for op in named(kernel, "kern.global_id"):
            dim = op.opview.dim
            if dim not in values:
                counter = counters[dim]
                values[dim] = counter if launch.unit else launch.coordinate(dim, counter)
    for op in named(kernel, "kern.global_id"):
        replace(op, [values[op.opview.dim]])


def _part(launch: LaunchArguments, count: ir.Value, zero: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The part to do. With a static count the analysis of ranges has to see that it lies inside."""
    if kernels.is_constant(count) is None:
        return launch.lo, launch.hi
    return arith.MaxSIOp(launch.lo, zero).result, arith.MinSIOp(launch.hi, count).result


def _private_to_alloca(kernel: ir.Operation) -> None:
    """Without groups there is one work-item at a time: its private memory is a local buffer."""
    for op in named(kernel, "kern.private"):
        kind = ir.MemRefType(op.result.type)
        with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), op.location:
            buffer = memref.AllocaOp(ir.MemRefType.get(kind.shape, kind.element_type), [], [])
        replace(op, [buffer.result])


# -- kernels that know groups -------------------------------------------------------------------


def _expand_groups(kernel: ir.Operation, launch: LaunchArguments, shape: GroupShape) -> None:
    block = kernels.body(kernel)
    _group_constants(kernel, launch, shape)
    slots = Slots(kernel, shape.total)
    _expand_private(kernel, slots)
    _expand_shared(kernel, slots)
    uniform = Uniformity(kernel)
    demotion = Demotion(slots, uniform, holding_convergent(kernel))
    demotion.block(block)
    segmenter = Segmenter(slots, uniform, demotion)
    segmenter.cut(block)
    segmenter.connect()
    _group_loop(kernel, launch, shape, slots)
    for stretch in segmenter.stretches:
        emit_stretch(stretch, shape, launch)
    for convergent in segmenter.convergent:
        emit_convergent(convergent, segmenter, shape)
    for branch in segmenter.branches:
        branch.erase()
    for op in named(kernel, *IDS, "kern.guard"):
        op.erase()


def _group_constants(kernel: ir.Operation, launch: LaunchArguments, shape: GroupShape) -> None:
    """Sizes that are the same for the whole launch."""
    with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
        sizes = [index_constant(n) for n in shape.size]
        subgroup = index_constant(shape.subgroup)
        groups = [
            arith.CeilDivUIOp(count, size).result for count, size in zip(launch.counts, sizes, strict=True)
        ]
    for op in launch.counts:  # static counts were put at the top: they stand before what uses them
        if not is_argument(op):
            op.owner.operation.move_before(sizes[0].owner.operation)
    tables = {"kern.group_size": sizes, "kern.num_groups": groups, NdrangeOp.OPERATION_NAME: launch.counts}
    for op in named(kernel, *tables):
        replace(op, [tables[op.name][op.opview.dim]])
    for op in named(kernel, "kern.subgroup_size"):
        replace(op, [subgroup])


def _expand_private(kernel: ir.Operation, slots: Slots) -> None:
    """Private memory gets a leading dimension: the work-item."""
    for op in named(kernel, "kern.private"):
        kind = ir.MemRefType(op.result.type)
        buffer = slots.buffer([slots.work_items, *kind.shape], kind.element_type)
        for use in list(op.result.uses):
            _access_own_part(use.owner.operation, buffer, slots.linear)
        op.erase()


def _access_own_part(user: ir.Operation, buffer: ir.Value, linear: ir.Value) -> None:
    at = MEMORY_OPERAND[user.name]
    operands = list(user.operands)
    operands[at : at + 1] = [buffer, linear]
    with ir.InsertionPoint(user):
        made = remake(user, operands, [r.type for r in user.results])
    replace(user, list(made.results))


def _expand_shared(kernel: ir.Operation, slots: Slots) -> None:
    """One group runs at a time in a thread: shared memory is a buffer of the thread."""
    for op in named(kernel, "kern.shared"):
        kind = ir.MemRefType(op.result.type)
        replace(op, [slots.buffer(list(kind.shape), kind.element_type)])
    for op in named(kernel, "kern.dynamic_shared"):
        buffer = slots.sized_buffer(op.operands[0], ir.MemRefType(op.result.type).element_type)
        with ir.InsertionPoint(op), op.location:  # the group asks for the length, not the buffer's place
            length = slots.elements(op.operands[0], ir.MemRefType(op.result.type).element_type)[-1]
        for use in list(op.result.uses):
            if use.owner.operation.name == "memref.dim":
                replace(use.owner.operation, [length.result])
        replace(op, [buffer])


def _group_loop(kernel: ir.Operation, launch: LaunchArguments, shape: GroupShape, slots: Slots) -> None:
    """Put the body into a loop over the linear group numbers lo..hi."""
    block = kernels.body(kernel)
    operations = [o.operation for o in block.operations]
    terminator = operations.pop()
    keep = {identity(op) for op in slots.made}
    with ir.InsertionPoint(terminator), kernel.location:
        one = index_constant(1)
        loop = scf.ForOp(launch.lo, launch.hi, one)
    with ir.InsertionPoint(loop.body), kernel.location:
        end = scf.YieldOp([]).operation
    launch_values = set(launch.counts)
    for op in operations:
        if identity(op) not in keep and not (op.results and op.results[0] in launch_values):
            op.move_before(end)
    for op in slots.made:
        if op.name == "memref.dealloc":
            op.move_before(terminator)
    with ir.InsertionPoint.at_block_begin(loop.body), kernel.location:
        ids: list[ir.Value] = []
        rest = loop.induction_variable
        for count, size in reversed(list(zip(launch.counts, shape.size, strict=True))):
            groups = arith.CeilDivUIOp(count, index_constant(size)).result
            ids.insert(0, arith.RemUIOp(rest, groups).result)
            rest = arith.DivUIOp(rest, groups).result
        for count, size, group in zip(launch.counts, shape.size, ids, strict=True):
            width = index_constant(size)
            origin = arith.MulIOp(group, width).result
            shape.origins.append(origin)
            shape.active.append(arith.MinSIOp(width, arith.SubIOp(count, origin).result).result)
    for op in named(kernel, "kern.group_id"):
        replace(op, [ids[op.opview.dim]])
