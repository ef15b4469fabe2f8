"""Stretches become loops over local ids, collectives become loops over cells, groups go around it all.

In: a segmented kernel whose function already has the launch arguments (see `LaunchArguments`).
Out: plain scf, arith and memref.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.passes.ir.index_arithmetic import row_major
from pykern.passes.ir.reduction import combine, neutral
from pykern.passes.ir.values import made_by
from pykern.passes.kernel.launch_arguments import LaunchArguments
from pykern.passes.kernel.work_groups.segments import IDS, ConvergentOp, Segmenter, Stretch
from pykern.passes.kernels import identity, index_constant, replace


@dataclass
class GroupShape:
    """Sizes of a group, and the values that place the current one."""

    size: tuple[int, ...]
    subgroup: int
    origins: list[ir.Value] = field(default_factory=list)
    """Per dimension: number of the group's first work-item, counted from 0."""
    active: list[ir.Value] = field(default_factory=list)
    """Per dimension: work-items of this group inside the ndrange."""

    @property
    def total(self) -> int:
        total = 1
        for width in self.size:
            total *= width
        return total


def _mask(slot: ir.Value, number: ir.Value, wanted: bool) -> ir.Value:
    """Whether a work-item runs code that an early exit guards."""
    i1 = ir.IntegerType.get_signless(1)
    mask = arith.TruncIOp(i1, memref.LoadOp(slot, [number]).result).result
    return mask if wanted else arith.XOrIOp(mask, arith.ConstantOp(i1, 1).result).result


def emit_stretch(stretch: Stretch, shape: GroupShape, launch: LaunchArguments) -> None:
    """Wrap the ops into loops over the active work-items."""
    first = stretch.ops[0]
    local: list[ir.Value] = []
    place = ir.InsertionPoint(first)
    for width in shape.active:
        with place, first.location:
            zero, one = index_constant(0), index_constant(1)
            loop = scf.ForOp(zero, width, one)
            local.append(loop.induction_variable)
        with ir.InsertionPoint(loop.body), first.location:
            end = scf.YieldOp([])
        place = ir.InsertionPoint(end)
        innermost = loop
    innermost.operation.attributes[kern.GROUP_ITEMS] = ir.UnitAttr.get(first.context)
    with place, first.location:
        number = row_major(shape.size, local)
    for slot, wanted in stretch.masks:
        with place, first.location:
            branch = scf.IfOp(_mask(slot, number, wanted))
        with ir.InsertionPoint(branch.then_block), first.location:
            end = scf.YieldOp([])
        place = ir.InsertionPoint(end)
    for op in stretch.ops:
        op.move_before(end.operation)
    _place_ids(stretch.ops, local, number, shape, launch)


def _place_ids(ops, local, number, shape: GroupShape, launch: LaunchArguments) -> None:
    """Ids inside the stretch become expressions of the loop counters."""
    values: dict[tuple[str, int], ir.Value] = {}

    def value_of(op: ir.Operation) -> ir.Value:
        dim = ir.IntegerAttr(op.attributes["dim"]).value if "dim" in op.attributes else 0
        key = (op.name, dim)
        if key not in values:
            with ir.InsertionPoint(ops[0]), ops[0].location:
                values[key] = _id(op.name, dim, local, number, shape, launch)
        return values[key]

    def visit(op: ir.Operation) -> ir.WalkResult:
        for i, operand in enumerate(op.operands):
            if (identifier := made_by(operand, *IDS)) is not None:
                op.operands[i] = value_of(identifier)
        return ir.WalkResult.ADVANCE

    for op in ops:
        op.walk(visit)


def _id(name: str, dim: int, local, number: ir.Value, shape: GroupShape, launch: LaunchArguments) -> ir.Value:
    if name == "kern.local_id":
        return local[dim]
    if name == "kern.global_id":
        return launch.coordinate(dim, arith.AddIOp(shape.origins[dim], local[dim]).result)
    if name == "kern.lane_id":
        return arith.RemUIOp(number, index_constant(shape.subgroup)).result
    if name == "kern.subgroup_id":
        return arith.DivUIOp(number, index_constant(shape.subgroup)).result
    return number


def emit_convergent(convergent: ConvergentOp, segmenter: Segmenter, shape: GroupShape) -> None:
    """A barrier is where one loop ends and the next begins; a collective is a loop over cells."""
    op = convergent.op
    if op.name == "kern.barrier":
        op.erase()
        return
    slots = segmenter.demotion.operand_slots[identity(op)]
    with ir.InsertionPoint(op), op.location:
        cells = _GroupCells(shape, convergent.masks)
        if op.name == "kern.group_reduce":
            replace(op, [_reduce_group(op, slots[0], cells)])
            return
        result = segmenter.demotion.result_slots[identity(op)]
        if op.name in ("kern.subgroup_shuffle", "kern.subgroup_broadcast"):
            _shuffle(op, slots, result, cells)
        else:
            _combine_subgroups(op, slots[0], result, cells)
    op.erase()


@dataclass
class _GroupCells:
    """Loops over the cells of a group's buffers, in linear order."""

    shape: GroupShape
    masks: tuple

    def participates(self, number: ir.Value) -> ir.Value:
        """Whether the work-item with this linear number is in the ndrange and has not left."""
        rest, inside = number, None
        for width, active in reversed(list(zip(self.shape.size, self.shape.active, strict=True))):
            coordinate = arith.RemUIOp(rest, index_constant(width)).result
            rest = arith.DivUIOp(rest, index_constant(width)).result
            here = arith.CmpIOp(arith.CmpIPredicate.slt, coordinate, active).result
            inside = here if inside is None else arith.AndIOp(inside, here).result
        assert inside is not None
        for slot, wanted in self.masks:
            inside = arith.AndIOp(inside, _mask(slot, number, wanted)).result
        return inside

    def loop(self, begin: ir.Value, end: ir.Value, inits: list[ir.Value]) -> scf.ForOp:
        return scf.ForOp(begin, end, index_constant(1), inits)


def _reduce_group(op: ir.Operation, slot: ir.Value, cells: _GroupCells) -> ir.Value:
    kind = ir.StringAttr(op.attributes["kind"]).value
    loop = cells.loop(index_constant(0), index_constant(cells.shape.total), [neutral(kind, op.result.type)])
    with ir.InsertionPoint(loop.body):
        number, accumulated = loop.induction_variable, loop.inner_iter_args[0]
        combined = combine(kind, accumulated, memref.LoadOp(slot, [number]).result)
        kept = arith.SelectOp(cells.participates(number), combined, accumulated).result
        scf.YieldOp([kept])
    return loop.results[0]


def _combine_subgroups(op: ir.Operation, slot: ir.Value, result: ir.Value, cells: _GroupCells) -> None:
    """Reduce or scan each subgroup in lane order."""
    kind = ir.StringAttr(op.attributes["kind"]).value
    subgroup = index_constant(cells.shape.subgroup)
    outer = scf.ForOp(index_constant(0), index_constant(cells.shape.total), subgroup)
    with ir.InsertionPoint(outer.body):
        begin = outer.induction_variable
        stop = arith.AddIOp(begin, index_constant(cells.shape.subgroup)).result
        stop = arith.MinSIOp(stop, index_constant(cells.shape.total)).result
        loop = cells.loop(begin, stop, [neutral(kind, op.result.type)])
        with ir.InsertionPoint(loop.body):
            number, accumulated = loop.induction_variable, loop.inner_iter_args[0]
            combined = combine(kind, accumulated, memref.LoadOp(slot, [number]).result)
            kept = arith.SelectOp(cells.participates(number), combined, accumulated).result
            if op.name != "kern.subgroup_reduce":
                memref.StoreOp(accumulated if "exclusive" in op.name else kept, result, [number])
            scf.YieldOp([kept])
        if op.name == "kern.subgroup_reduce":
            spread = cells.loop(begin, stop, [])
            with ir.InsertionPoint(spread.body):
                memref.StoreOp(loop.results[0], result, [spread.induction_variable])
                scf.YieldOp([])
        scf.YieldOp([])


def _shuffle(op: ir.Operation, slots: list[ir.Value], result: ir.Value, cells: _GroupCells) -> None:
    loop = cells.loop(index_constant(0), index_constant(cells.shape.total), [])
    with ir.InsertionPoint(loop.body):
        number = loop.induction_variable
        width = index_constant(cells.shape.subgroup)
        lane = arith.RemUIOp(memref.LoadOp(slots[1], [number]).result, width).result
        source = arith.AddIOp(arith.SubIOp(number, arith.RemUIOp(number, width).result).result, lane).result
        inside = arith.CmpIOp(arith.CmpIPredicate.ult, source, index_constant(cells.shape.total)).result
        memref.StoreOp(
            memref.LoadOp(slots[0], [arith.SelectOp(inside, source, number).result]).result, result, [number]
        )
        scf.YieldOp([])
