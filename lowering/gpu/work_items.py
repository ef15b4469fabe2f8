"""A work-item finds its place: ids of kern become ids of the gpu dialect, work-items beyond the end do nothing."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.data.abi import SMALL_COUNT, WHOLE_COUNT, grid_axes
from pykern.dialect import attributes as kern
from pykern.dialect.index_space import NdrangeOp
from pykern.dialect.memory import GuardOp
from pykern.lowering.gpu.grid import Grid, built_in
from pykern.lowering.gpu.item_order import item_order, numbered, open_group
from pykern.lowering.gpu.items_each import items_each, loop_over_items, one_of_several
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.devices import LINE_GROUP, PLANE_GROUP, SUBGROUP_ITEMS
from pykern.passes.framework import Pass
from pykern.passes.ir.index_arithmetic import row_major
from pykern.passes.ir.values import defining, is_argument
from pykern.passes.kernels import BUFFERS, index_constant, named, replace, update_type

SMALL = 1 << 31
"""One more than the largest number of 32 bits."""


@dataclass(frozen=True)
class PlaceWorkItems(Pass):
    """Give ids their values, and put the body into a guard where the last groups may be partial.

    In:  func.func marked `kern.kernel`, one work-item each.
    Out: the same function, with the launch's slots as arguments (`pykern.data.abi`, "Device code"), ids made of
         gpu.thread_id and gpu.block_id; the body in an `scf.if` marked `kern.guard`, unless the counts are
         known to be whole groups. `kern.workgroup` is set, and `kern.item_order` where neighbours in a subgroup are
         not those of the last dimension. With `many`, and where `pykern.lowering.gpu.items_each` allows it, all of it
         but places in the group is in a loop marked `kern.each`, and `kern.items_each` is set.
    """

    name: ClassVar[str] = "kern-place-work-items"
    powers: ClassVar[tuple[str, ...]] = ("subgroup_size",)
    subgroup_size: int = SUBGROUP_ITEMS
    small: bool = False
    """Whether the numbers of all work-items and groups, those of a last group that is not full too, fit in 31 bits."""
    whole_x: bool = False
    """Whether the device is never given a part of a launch along x: the first group there is 0."""
    whole: bool = False
    """The same along y and z."""
    many: bool = False
    """Whether a work-item of the device may do several of the launch."""

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            _place(kernel, self)


def default_group(rank: int) -> tuple[int, ...]:
    """The group where the launch leaves it open."""
    return LINE_GROUP if rank == 1 else (*(1,) * (rank - 2), *PLANE_GROUP)


@dataclass
class _Slots:
    """The added arguments, with static facts in place of what is known."""

    counts: list[ir.Value]
    starts: list[ir.Value]
    steps: list[ir.Value]
    first: list[ir.Value]


def _place(kernel: ir.Operation, options: PlaceWorkItems) -> None:
    small = options.small
    rank = kernels.rank(kernel)
    order = item_order(kernel)
    grid = Grid(kernels.integers(kernel, kern.WORKGROUP) or open_group(kernel, order, default_group(rank)))
    kernel.attributes[kern.WORKGROUP] = ir.DenseI64ArrayAttr.get(list(grid.size))
    if order != sorted(order):
        kernel.attributes[kern.ITEM_ORDER] = ir.DenseI64ArrayAttr.get(order)
    each = items_each(kernel, grid, order) if options.many else None
    covered = grid if each is None else Grid(tuple(map(operator.mul, grid.size, each)))
    known = kernels.integers(kernel, kern.NDRANGE)
    body = list(kernels.body(kernel).operations)
    slots = _add_slots(kernel, rank)
    with ir.InsertionPoint(body[0]), kernel.location:
        if known is not None:
            slots.counts = [index_constant(n) for n in known]
        if kern.TAPE not in kernel.attributes:  # a launch whose tape is long is cut along any axis
            for axis in range(len(slots.first)):
                if (options.whole if axis else options.whole_x) or _is_short(covered, axis, known):
                    slots.first[axis] = index_constant(0)
        sizes = [index_constant(n) for n in grid.size]
        widths = sizes if each is None else [index_constant(n) for n in covered.size]
        groups = [arith.CeilDivUIOp(c, s).result for c, s in zip(slots.counts, widths, strict=True)]
        local, group = _positions(grid, covered, sizes, groups, slots, known, small)
        number = row_major(grid.size, local)
        if order != sorted(order):
            local = numbered(grid, order, local)
        mosts = (
            [SMALL_COUNT + size for size in covered.size]  # the last group begins below the count
            if known is None
            else [-(-n // size) * size for n, size in zip(known, covered.size, strict=True)]
        )
        if each is not None:
            loop = loop_over_items(max(each))
            local = [one_of_several(*at, rank, loop) for at in zip(grid.size, each, local, strict=True)]
            for op in body[:-1]:
                op.operation.move_before(kernels.terminator(loop.regions[0].blocks[0]))
            kernel.attributes[kern.ITEMS_EACH] = ir.DenseI64ArrayAttr.get(list(each))
    with ir.InsertionPoint(body[0]), kernel.location:
        items = [
            _item(at, width, inner, min(SMALL, most) if small else None)
            for at, width, inner, most in zip(group, widths, local, mosts, strict=True)
        ]
        coordinates = [_coordinate(slots, dim, item) for dim, item in enumerate(items)]
        subgroup = index_constant(options.subgroup_size)
        single = {
            "kern.subgroup_size": subgroup,
            "kern.local_linear_id": number,
            "kern.lane_id": arith.RemUIOp(number, subgroup).result,
            "kern.subgroup_id": arith.DivUIOp(number, subgroup).result,
        }
        inside = _inside(items, slots.counts, covered, known)
    tables = {
        "kern.global_id": coordinates, "kern.local_id": local, "kern.group_id": group, "kern.group_size": sizes,
        "kern.num_groups": groups, NdrangeOp.OPERATION_NAME: slots.counts,
    }  # fmt: skip
    if inside is not None:
        _guard(kernel, [op.operation for op in body[:-1]], inside)
    for op in named(kernel, *tables):
        value = tables[op.name][op.opview.dim]
        made = defining(value)
        if made is not None and made.location == kernel.location:
            made.location = op.location  # where it was asked for first
        replace(op, [value])
    for op in named(kernel, *single):
        replace(op, [single[op.name]])


def _is_short(grid: Grid, axis: int, known: tuple[int, ...] | None) -> bool:
    """Whether every device takes the groups along an axis at once."""
    return known is not None and grid.groups(axis, known) <= WHOLE_COUNT


def _add_slots(kernel: ir.Operation, rank: int) -> _Slots:
    block = kernels.body(kernel)

    def slot() -> ir.Value:
        return block.add_argument(ir.IndexType.get(), kernel.location)

    slots = _Slots([], [], [], [])
    for _ in range(rank):
        slots.counts.append(slot())
        if kern.PLAIN not in kernel.attributes:
            slots.starts.append(slot())
            slots.steps.append(slot())
    slots.first = [slot() for _ in range(grid_axes(rank))]
    update_type(kernel)
    return slots


def _item(group: ir.Value, size: ir.Value, local: ir.Value, most: int | None) -> ir.Value:
    """The number of a work-item along a dimension; it and the first of its group are below `most`, where that is
    known."""
    first = arith.MulIOp(group, size).result
    item = arith.AddIOp(first, local).result
    if most is not None:
        _within(first, most)
        _within(item, most)
    return item


def _within(value: ir.Value, count: int) -> ir.Value:
    """Say of a value that it is one of ``0 … count - 1``."""
    value.owner.operation.attributes[kern.RANGE] = ir.DenseI64ArrayAttr.get([0, max(0, count - 1)])
    return value


def _positions(
    grid: Grid,
    covered: Grid,
    sizes: list[ir.Value],
    groups: list[ir.Value],
    slots: _Slots,
    known: tuple[int, ...] | None,
    small: bool,
) -> tuple[list[ir.Value], list[ir.Value]]:
    """The place in the group and the group's, one value a dimension; `covered` is what a group does of a launch."""
    local: dict[int, ir.Value] = {}
    group: dict[int, ir.Value] = {}
    for axis, first in enumerate(slots.first):
        local |= grid.spread(axis, _within(built_in("thread_id", axis), grid.block[axis]), sizes)
        block = built_in("block_id", axis)
        number = block if kernels.is_constant(first) == 0 else arith.AddIOp(block, first).result
        if small and len(grid.dimensions(axis)) == 1:  # groups of several dimensions may be more
            (dim,) = grid.dimensions(axis)
            _within(block, SMALL // covered.size[dim])  # so that a group's number times its size fits as well
            _within(number, SMALL // covered.size[dim])
        if known is not None:
            _within(number, covered.groups(axis, known))
        group |= grid.spread(axis, number, groups)
    return [local[d] for d in range(grid.rank)], [group[d] for d in range(grid.rank)]


def _coordinate(slots: _Slots, dim: int, item: ir.Value) -> ir.Value:
    if not slots.starts:
        return item
    return arith.AddIOp(slots.starts[dim], arith.MulIOp(item, slots.steps[dim]).result).result


def _inside(
    items: list[ir.Value], counts: list[ir.Value], grid: Grid, known: tuple[int, ...] | None
) -> ir.Value | None:
    """Whether the work-item exists; None where all do."""
    tests = [
        arith.CmpIOp(arith.CmpIPredicate.slt, item, count).result
        for dim, (item, count) in enumerate(zip(items, counts, strict=True))
        if known is None or known[dim] % grid.size[dim]
    ]
    inside = tests[0] if tests else None
    for test in tests[1:]:
        inside = arith.AndIOp(inside, test).result
    return inside


def _guard(kernel: ir.Operation, ops: list[ir.Operation], inside: ir.Value) -> None:
    """Put the ops into a branch; memory belongs to the group and stays outside."""
    end = kernels.terminator(ops[0].block if ops else kernels.body(kernel))
    with ir.InsertionPoint(end), kernel.location:
        branch = scf.IfOp(inside)
    with ir.InsertionPoint(branch.then_block), kernel.location:
        GuardOp.create()
        last = scf.YieldOp([]).operation
    for op in ops:
        if op.name in BUFFERS and not _sized(op):
            op.move_before(branch.operation)
        else:
            op.move_before(last)


def _sized(op: ir.Operation) -> bool:
    """Whether a buffer takes a value that the kernel computes."""
    return bool(op.operands) and not is_argument(op.operands[0])
