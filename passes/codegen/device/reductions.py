"""Kernels for a linalg.generic: one work-item a cell, one group a cell, or parts of a long reduction.

Comes in: the op's `Space`, and what each output starts from where the op before filled it. Goes out: launches.
The order of a sum follows from lengths alone: every run gives the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.collectives import GroupReduceOp
from pykern.dialect.index_space import GlobalIdOp, LocalIdOp
from pykern.passes.analysis.cost_model.devices import FEWEST_TERMS, MANY_CELLS, PART_TERMS, VECTOR_ELEMENTS
from pykern.passes.analysis.reductions import Combine, combines
from pykern.passes.analysis.space import Space, space_of
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.parts import reduction_of_parts
from pykern.passes.codegen.device.points import Items, Points, group_of, spread
from pykern.passes.codegen.device.product_space import added, product_of, scaled
from pykern.passes.codegen.device.products import launch_product
from pykern.passes.kernels import index_constant

Start = list["ir.Value | None"]

KINDS = {
    "arith.addf": "add", "arith.addi": "add", "arith.mulf": "mul", "arith.muli": "mul",
    "arith.maximumf": "max", "arith.minimumf": "min", "arith.maxsi": "max", "arith.minsi": "min",
    "arith.maxui": "umax", "arith.minui": "umin", "arith.andi": "and", "arith.ori": "or", "arith.xori": "xor",
}  # fmt: skip
"""The kind of a group reduction, by the op that a reduction uses."""


def launch_generic(place: KernelContext, space: Space, start: Start) -> list[ir.Operation]:
    """Make the kernels of an op and launch them before it. The op stays. Gives others that were computed with it."""
    reduced = space.reduced
    if any(map(space.moves_output, reduced)):
        _moving(place, space, start)
    elif not reduced:
        _cells(place, space, start)
    elif (product := product_of(space)) is not None:
        return launch_product(place, product, start[0])
    else:
        joins = combines(space.op)
        terms = math.prod(space.lengths[g] for g in reduced)
        cells = math.prod(space.lengths[g] for g in space.parallel)
        if not _grouped(space, joins, cells, terms):
            _cells(place, space, start)
        elif cells * 4 < terms // PART_TERMS:
            _in_parts(place, space, start, joins or [], cells, terms)
        else:
            _groups(place, space, start, joins or [], terms)
    return []


def _grouped(space: Space, joins: list[Combine] | None, cells: int, terms: int) -> bool:
    """Whether groups share cells."""
    if joins is None or not all(j.op.name in KINDS for j in joins) or terms < 2:
        return False
    if terms < FEWEST_TERMS:
        return cells == 1
    return cells < MANY_CELLS or space.reduction[space.order[-1]]


# -- a work-item a cell ---------------------------------------------------------------------------


def _cells(place: KernelContext, space: Space, start: Start) -> None:
    parallel, reduced = space.parallel, space.reduced
    lengths = [space.lengths[g] for g in parallel]
    each = 1 if reduced else _side_by_side(place, lengths)
    if each > 1:
        lengths[-1] //= each
    items = Items(tuple(lengths))
    with Kernel(place, space.op, items.ndrange, items.workgroup) as kernel:
        points = Points(kernel, space)
        points.prepare()
        first = _starting(kernel, start)
        coordinates = items.coordinates()
        if each > 1:
            _neighbours(points, parallel, coordinates, each, first)
            return
        points.counters = dict(zip(parallel, coordinates, strict=True))
        if reduced:
            held = [
                v if v is not None else points.load(n) for n, v in zip(points.outputs, first, strict=True)
            ]
            results = _loops(points, reduced, held)
        else:
            results = points.run(list(first))
        for n, value in zip(points.outputs, results, strict=True):
            points.store(n, value)


def _side_by_side(place: KernelContext, lengths: list[int]) -> int:
    """How many neighbours a work-item has: several where the device reads 16 bytes at once, and work-items are many."""
    many = place.aligned and math.prod(lengths) >= VECTOR_ELEMENTS * MANY_CELLS
    return VECTOR_ELEMENTS if many and lengths[-1] % VECTOR_ELEMENTS == 0 else 1


def _neighbours(
    points: Points, parallel: list[int], coordinates: list[ir.Value], count: int, first: Start
) -> None:
    """A few cells side by side: all are loaded before any is stored, so that their accesses become one."""
    *outer, last = coordinates
    begin = scaled(last, count)
    made = []
    for number in range(count):
        at = dict(zip(parallel, [*outer, added(begin, number)], strict=True))
        points.counters = at
        made.append((at, points.run(list(first))))
    for at, results in made:
        points.counters = at
        for n, value in zip(points.outputs, results, strict=True):
            points.store(n, value)


def _starting(kernel: Kernel, start: Start) -> Start:
    return [None if v is None else kernel.value(v) for v in start]


def _loops(points: Points, groups: list[int], held: list[ir.Value]) -> list[ir.Value]:
    """Loops over groups, outermost first, with the outputs in registers."""
    if not groups:
        return points.run(list(held))
    bounds = points.kernel.zero(), index_constant(points.space.lengths[groups[0]]), index_constant(1)
    loop = scf.ForOp(*bounds, held)
    with ir.InsertionPoint(loop.body):
        points.counters[groups[0]] = loop.induction_variable
        scf.YieldOp(_loops(points, groups[1:], list(loop.inner_iter_args)))
    return list(loop.results)


def _moving(place: KernelContext, space: Space, start: Start) -> None:
    """Iterations of a reduction that write several cells: work-items share none of them, else there is one."""
    assert all(v is None for v in start), "a fill before it stays"
    parallel = [g for g in space.parallel if _owns(space, g)]
    inside = [g for g in space.order if g not in parallel]
    items = Items(tuple(space.lengths[g] for g in parallel))
    with Kernel(place, space.op, items.ndrange, items.workgroup) as kernel:
        points = Points(kernel, space)
        points.prepare()
        points.counters = dict(zip(parallel, items.coordinates(), strict=True))
        _memory_loops(points, inside)


def _owns(space: Space, group: int) -> bool:
    """Whether iterations of a group write cells of their own in every output."""
    mine = space.groups[group][0]
    for m in space.maps[space.inputs :]:
        alone = any(isinstance(e, ir.AffineDimExpr) and e.position == mine for e in m.results)
        if not alone:
            return False
    return True


def _memory_loops(points: Points, groups: list[int]) -> None:
    if not groups:
        for n, value in zip(points.outputs, points.run([None] * len(points.outputs)), strict=True):
            points.store(n, value)
        return
    bounds = points.kernel.zero(), index_constant(points.space.lengths[groups[0]]), index_constant(1)
    loop = scf.ForOp(*bounds)
    with ir.InsertionPoint(loop.body):
        points.counters[groups[0]] = loop.induction_variable
        _memory_loops(points, groups[1:])
        scf.YieldOp([])


# -- a group a cell -------------------------------------------------------------------------------


@dataclass
class _Stretch:
    """Terms that a group adds up, `begin` to `end`, its work-items side by side."""

    begin: ir.Value
    end: ir.Value
    local: ir.Value
    width: int


def _groups(place: KernelContext, space: Space, start: Start, joins: list[Combine], terms: int) -> None:
    parallel = space.parallel
    lengths = [space.lengths[g] for g in parallel]
    width = group_of(terms)
    with Kernel(place, space.op, (math.prod(lengths), width), (1, width)) as kernel:
        points = Points(kernel, space)
        points.prepare()
        first = _starting(kernel, start)
        points.counters = dict(zip(parallel, spread(GlobalIdOp.create(0), lengths), strict=True))
        local = LocalIdOp.create(1)
        sums = _sum(points, joins, _Stretch(index_constant(0), index_constant(terms), local, width))
        with ir.InsertionPoint(first_item(local).then_block):
            for n, value, join, sum_ in zip(points.outputs, first, joins, sums, strict=True):
                held = points.load(n) if value is None else value
                points.store(n, join.join(held, sum_))
            scf.YieldOp([])


def _in_parts(
    place: KernelContext, space: Space, start: Start, joins: list[Combine], cells: int, terms: int
) -> None:
    """Each group a part of a cell; then the parts are a reduction of their own."""
    parallel = space.parallel
    lengths = [space.lengths[g] for g in parallel]
    parts = -(-terms // PART_TERMS)
    outs = list(space.op.operands)[space.inputs :]
    with ir.InsertionPoint(space.op), space.op.location:
        partial = [
            memref.AllocOp(
                ir.MemRefType.get([parts, cells], ir.MemRefType(v.type).element_type), [], []
            ).result
            for v in outs
        ]
    width = group_of(PART_TERMS)
    with Kernel(place, space.op, (cells * parts, width), (1, width)) as kernel:
        points = Points(kernel, space)
        points.prepare()
        targets = [kernel.value(v) for v in partial]
        cell, part = spread(GlobalIdOp.create(0), (cells, parts))
        points.counters = dict(zip(parallel, spread(cell, lengths), strict=True))
        begin = arith.MulIOp(part, index_constant(PART_TERMS)).result
        end = arith.AddIOp(begin, index_constant(PART_TERMS)).result
        end = arith.MinSIOp(end, index_constant(terms)).result
        local = LocalIdOp.create(1)
        sums = _sum(points, joins, _Stretch(begin, end, local, width))
        with ir.InsertionPoint(first_item(local).then_block):
            for target, sum_ in zip(targets, sums, strict=True):
                memref.StoreOp(sum_, target, [part, cell])
            scf.YieldOp([])
    for n, (join, source) in enumerate(zip(joins, partial, strict=True)):
        op = reduction_of_parts(space, join, source, n)
        launch_generic(place, space_of(op), [start[n]])
        op.erase()


def first_item(local: ir.Value) -> scf.IfOp:
    """A branch that only the first work-item of a group takes."""
    return scf.IfOp(arith.CmpIOp(arith.CmpIPredicate.eq, local, index_constant(0)).result)


def _sum(points: Points, joins: list[Combine], stretch: _Stretch) -> list[ir.Value]:
    """Reduce a stretch over the whole group; every work-item gets the result."""
    space = points.space
    reduced = space.reduced
    lower = arith.AddIOp(stretch.begin, stretch.local).result
    loop = scf.ForOp(lower, stretch.end, index_constant(stretch.width), [j.neutral() for j in joins])
    with ir.InsertionPoint(loop.body):
        at = spread(loop.induction_variable, [space.lengths[g] for g in reduced])
        points.counters |= dict(zip(reduced, at, strict=True))
        scf.YieldOp(points.run(list(loop.inner_iter_args)))
    return [GroupReduceOp.create(KINDS[j.op.name], v) for j, v in zip(joins, loop.results, strict=True)]
