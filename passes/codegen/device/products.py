"""Products of matrices: a group computes a square of the result, terms come through shared memory a few at a time.

Comes in: the `Space` of a linalg.generic that multiplies two arrays and adds up. Goes out: `product_of`, which tells
whether it is of that kind, and `launch_product`. Any order of dimensions will do: what counts is which of the three
arrays has them. Elements of factors are computed by their prologues where they are fetched, and what reads the sums
where they are finished (`pykern.passes.fusion.contraction`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.index_space import GlobalIdOp, GroupIdOp, LocalIdOp
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.passes.analysis.contraction import product_dimensions, shape_of_product
from pykern.passes.analysis.cost_model.devices import FEWEST_GROUPS, FEWEST_TILED, PRODUCT_DEPTH, PRODUCT_SIDE
from pykern.passes.analysis.reductions import Combine, combines
from pykern.passes.analysis.space import Space, ungrouped
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.points import Points, spread
from pykern.passes.fusion.contraction import ContractionGroup, FactorReads, contraction_group
from pykern.passes.ir.affine import Access
from pykern.passes.ir.clone import clone
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import body, index_constant


@dataclass
class ProductSpace:
    """Groups of the space by the arrays that have them: both factors and the result, one and the result, both."""

    space: Space
    join: Combine
    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    terms: tuple[int, ...]
    group: ContractionGroup = field(default_factory=ContractionGroup)
    """What is computed with it; each loop of the space is then one dimension."""

    def count(self, groups: Sequence[int]) -> int:
        return math.prod(self.space.lengths[g] for g in groups)


def product_of(space: Space) -> ProductSpace | None:
    """The op as a product; None where it is something else, or too small."""
    joins = combines(space.op)
    if joins is None or not all(isinstance(v.type, ir.MemRefType) for v in space.op.operands):
        return None
    shape = shape_of_product(space.op)
    if shape is None or min(shape) < FEWEST_TILED:
        return None
    left, right, out = (_groups_of(space, n) for n in range(3))
    parts = product_dimensions(left, right, out, space.reduction)
    if parts is None:
        return None
    return ProductSpace(space, joins[0], parts.batch, parts.rows, parts.columns, parts.terms)


def _groups_of(space: Space, n: int) -> list[int]:
    """The groups that index an operand, in its order."""
    place = {d: k for k, g in enumerate(space.groups) for d in g}
    return list(dict.fromkeys(place[ir.AffineDimExpr(e).position] for e in space.maps[n].results))


def launch_product(place: KernelContext, product: ProductSpace, start: ir.Value | None) -> list[ir.Operation]:
    """Make the kernel and launch it before the op. Gives what was computed with it, to be erased."""
    m, n = product.count(product.rows), product.count(product.columns)
    batch = product.count(product.batch)
    groups = {r: batch * -(-m // (PRODUCT_SIDE * r)) * -(-n // (PRODUCT_SIDE * r)) for r in (4, 2)}
    each = next((r for r in (4, 2) if groups[r] >= FEWEST_GROUPS), 1)
    tile = PRODUCT_SIDE * each
    tiles = -(-m // tile), -(-n // tile)
    product = _grouped(product, tiles, start)
    ndrange = batch, tiles[0] * PRODUCT_SIDE, tiles[1] * PRODUCT_SIDE
    with Kernel(place, product.space.op, ndrange, (1, PRODUCT_SIDE, PRODUCT_SIDE)) as kernel:
        _Tile(kernel, product, each).emit(start)
    return product.group.operations


def _grouped(product: ProductSpace, tiles: tuple[int, int], start: ir.Value | None) -> ProductSpace:
    """The product with what is computed with it, at the place of what reads its sums."""
    reads = [FactorReads(times, from_memory=True) for times in reversed(tiles)]
    group = contraction_group(product.space, (reads[0], reads[1]), start is not None)
    if not group.operations:
        return product
    if group.reader is not None:
        product.space.op.move_before(group.reader.op)
    apart = product_of(ungrouped(product.space))
    assert apart is not None, "dimensions stay what they are, one by one"
    return replace(apart, group=group)


class _Tile:
    """The kernel: `each` times `each` cells a work-item."""

    def __init__(self, kernel: Kernel, product: ProductSpace, each: int) -> None:
        self.kernel, self.product, self.each = kernel, product, each
        self.space = product.space
        self.width = PRODUCT_SIDE * each
        self.points = Points(kernel, self.space)
        self.prologues, self.reader = product.group.prologues, product.group.reader

    def emit(self, start: ir.Value | None) -> None:
        points, product = self.points, self.product
        points.prepare()
        first = None if start is None else self.kernel.value(start)
        for value in product.group.outside:
            self.kernel.value(value)
        tiles = [SharedOp.create((PRODUCT_DEPTH * self.width,), _element(v)) for v in points.operands[:2]]
        self.y, self.x = LocalIdOp.create(1), LocalIdOp.create(2)
        self.number = _sum(_times(self.y, PRODUCT_SIDE), self.x)
        batch = spread(GlobalIdOp.create(0), [self.space.lengths[g] for g in product.batch])
        points.counters = dict(zip(product.batch, batch, strict=True))
        origins = [_times(GroupIdOp.create(axis), self.width) for axis in (1, 2)]
        depth = product.count(product.terms)
        cells = self.each * self.each
        loop = scf.ForOp(
            index_constant(0),
            index_constant(depth),
            index_constant(PRODUCT_DEPTH),
            [product.join.neutral() for _ in range(cells)],
        )
        with ir.InsertionPoint(loop.body):
            for n, (tile, groups) in enumerate(zip(tiles, (product.rows, product.columns), strict=True)):
                self._fetch(n, tile, groups, origins[n], loop.induction_variable)
            BarrierOp.create()
            sums = self._multiply(tiles, list(loop.inner_iter_args))
            BarrierOp.create()
            scf.YieldOp(sums)
        self._store(list(loop.results), origins, first)

    def _fetch(
        self, n: int, tile: ir.Value, groups: Sequence[int], origin: ir.Value, begin: ir.Value
    ) -> None:
        """Work-items side by side fetch what lies side by side; beyond the last term there are zeros."""
        product, points = self.product, self.points
        lengths, depth = product.count(groups), product.count(product.terms)
        by_terms = _groups_of(self.space, n)[-1] in product.terms
        for part in range(self.width * PRODUCT_DEPTH // (PRODUCT_SIDE * PRODUCT_SIDE)):
            cell = _sum(self.number, index_constant(part * PRODUCT_SIDE * PRODUCT_SIDE))
            fast = index_constant(PRODUCT_DEPTH if by_terms else self.width)
            inner, outer = arith.RemUIOp(cell, fast).result, arith.DivUIOp(cell, fast).result
            term, line = (inner, outer) if by_terms else (outer, inner)
            at, k = _sum(origin, line), _sum(begin, term)
            known = arith.CmpIOp(arith.CmpIPredicate.ult, k, index_constant(depth)).result
            at = arith.MinUIOp(at, index_constant(lengths - 1)).result
            k = arith.MinUIOp(k, index_constant(depth - 1)).result
            points.counters |= dict(
                zip(groups, spread(at, [self.space.lengths[g] for g in groups]), strict=True)
            )
            terms = spread(k, [self.space.lengths[g] for g in product.terms])
            points.counters |= dict(zip(product.terms, terms, strict=True))
            value = self._factor(n)
            zero = constant(value.type, 0)
            value = arith.SelectOp(known, value, zero).result
            memref.StoreOp(value, tile, [_sum(_times(term, self.width), line)])

    def _factor(self, n: int) -> ir.Value:
        """The element of a factor at the counters, loaded or computed."""
        prologue = self.prologues[n]
        if prologue is None:
            return self.points.load(n)
        return prologue.element([*self._read(prologue.operands), *map(self.kernel.value, prologue.captured)])

    def _read(self, operands: Sequence[tuple[ir.Value, Access | None]]) -> list[ir.Value]:
        """Elements of what prologues and readers read, at the counters, and numbers."""
        inside, at = self.kernel.value, self.points.counters
        return [inside(v) if a is None else memref.LoadOp(inside(v), a.place(at)).result for v, a in operands]

    def _multiply(self, tiles: list[ir.Value], held: list[ir.Value]) -> list[ir.Value]:
        loop = scf.ForOp(index_constant(0), index_constant(PRODUCT_DEPTH), index_constant(1), held)
        with ir.InsertionPoint(loop.body):
            line = _times(loop.induction_variable, self.width)
            factors = [
                [
                    memref.LoadOp(tile, [_sum(line, _sum(mine, index_constant(PRODUCT_SIDE * r)))]).result
                    for r in range(self.each)
                ]
                for tile, mine in zip(tiles, (self.y, self.x), strict=True)
            ]
            sums = list(loop.inner_iter_args)
            scf.YieldOp(
                [
                    self._body(factors[0][r], factors[1][c], sums[r * self.each + c])
                    for r in range(self.each)
                    for c in range(self.each)
                ]
            )
        return list(loop.results)

    def _body(self, left: ir.Value, right: ir.Value, held: ir.Value) -> ir.Value:
        block = body(self.space.op)
        known = dict(zip(block.arguments, (left, right, held), strict=True))
        *ops, end = [o.operation for o in block.operations]
        for op in ops:
            copy = clone(op, lambda v: known.get(v, self.points.outside.get(v, v)))
            known.update(zip(op.results, copy.results, strict=True))
        return known[end.operands[0]]

    def _store(self, sums: list[ir.Value], origins: list[ir.Value], first: ir.Value | None) -> None:
        product, points = self.product, self.points
        for r in range(self.each):
            for c in range(self.each):
                row = _sum(origins[0], _sum(self.y, index_constant(PRODUCT_SIDE * r)))
                column = _sum(origins[1], _sum(self.x, index_constant(PRODUCT_SIDE * c)))
                inside = [
                    arith.CmpIOp(arith.CmpIPredicate.ult, v, index_constant(product.count(g))).result
                    for v, g in ((row, product.rows), (column, product.columns))
                ]
                branch = scf.IfOp(arith.AndIOp(*inside).result)
                with ir.InsertionPoint(branch.then_block):
                    for at, groups in ((row, product.rows), (column, product.columns)):
                        places = spread(at, [self.space.lengths[g] for g in groups])
                        points.counters |= dict(zip(groups, places, strict=True))
                    held = points.load(2) if first is None else first
                    self._finish(product.join.join(held, sums[r * self.each + c]))
                    scf.YieldOp([])

    def _finish(self, total: ir.Value) -> None:
        """Store a sum at the counters, or what is made from it."""
        if self.reader is None:
            self.points.store(2, total)
            return
        given = [*self._read(self.reader.operands), *map(self.kernel.value, self.reader.captured)]
        place = self.reader.access.place(self.points.counters)
        memref.StoreOp(self.reader.emit(total, given), self.kernel.value(self.reader.out), place)


def _element(value: ir.Value) -> ir.Type:
    return ir.MemRefType(value.type).element_type


def _times(value: ir.Value, by: int) -> ir.Value:
    return arith.MulIOp(value, index_constant(by)).result


def _sum(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.AddIOp(a, b).result
