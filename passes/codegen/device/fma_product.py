"""A product of matrices by multiply-adds: each work-item of a square group has a few cells of the tile.

Comes in: the elements of a product in a kernel whose group is `PRODUCT_SIDE` squared. Goes out: the kernel's body.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.index_space import GlobalIdOp, GroupIdOp, LocalIdOp
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.passes.analysis.cost_model.devices import PRODUCT_DEPTH, PRODUCT_SIDE
from pykern.passes.codegen.device.product_space import ProductElements, added, scaled
from pykern.passes.ir.clone import clone
from pykern.passes.kernels import body, index_constant


class FmaProduct:
    """The kernel: `each` times `each` cells a work-item."""

    def __init__(self, elements: ProductElements, each: int) -> None:
        self.elements, self.product, self.each = elements, elements.product, each
        self.width = PRODUCT_SIDE * each

    def emit(self) -> None:
        elements, product = self.elements, self.product
        operands = elements.points.operands[:2]
        tiles = [SharedOp.create((PRODUCT_DEPTH * self.width,), _element(v)) for v in operands]
        self.y, self.x = LocalIdOp.create(1), LocalIdOp.create(2)
        self.number = added(scaled(self.y, PRODUCT_SIDE), self.x)
        elements.place(product.batch, GlobalIdOp.create(0))
        origins = [scaled(GroupIdOp.create(axis), self.width) for axis in (1, 2)]
        loop = scf.ForOp(
            index_constant(0),
            index_constant(product.count(product.terms)),
            index_constant(PRODUCT_DEPTH),
            [product.join.neutral() for _ in range(self.each * self.each)],
        )
        with ir.InsertionPoint(loop.body):
            for n, tile in enumerate(tiles):
                self._fetch(n, tile, origins[n], loop.induction_variable)
            BarrierOp.create()
            sums = self._multiply(tiles, list(loop.inner_iter_args))
            BarrierOp.create()
            scf.YieldOp(sums)
        self._store(list(loop.results), origins)

    def _fetch(self, n: int, tile: ir.Value, origin: ir.Value, begin: ir.Value) -> None:
        """Work-items side by side fetch what lies side by side; beyond the last term there are zeros."""
        by_terms = self.product.lies_by_terms(n)
        fast = index_constant(PRODUCT_DEPTH if by_terms else self.width)
        for part in range(self.width * PRODUCT_DEPTH // (PRODUCT_SIDE * PRODUCT_SIDE)):
            cell = added(self.number, part * PRODUCT_SIDE * PRODUCT_SIDE)
            inner, outer = arith.RemUIOp(cell, fast).result, arith.DivUIOp(cell, fast).result
            term, line = (inner, outer) if by_terms else (outer, inner)
            value = self.elements.factor(n, added(origin, line), added(begin, term))
            memref.StoreOp(value, tile, [added(scaled(term, self.width), line)])

    def _multiply(self, tiles: list[ir.Value], held: list[ir.Value]) -> list[ir.Value]:
        loop = scf.ForOp(index_constant(0), index_constant(PRODUCT_DEPTH), index_constant(1), held)
        with ir.InsertionPoint(loop.body):
            line = scaled(loop.induction_variable, self.width)
            factors = [
                [
                    memref.LoadOp(tile, [added(line, added(mine, PRODUCT_SIDE * r))]).result
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
        block, outside = body(self.product.space.op), self.elements.points.outside
        known = dict(zip(block.arguments, (left, right, held), strict=True))
        *ops, end = [o.operation for o in block.operations]
        for op in ops:
            copy = clone(op, lambda v: known.get(v, outside.get(v, v)))
            known.update(zip(op.results, copy.results, strict=True))
        return known[end.operands[0]]

    def _store(self, sums: list[ir.Value], origins: list[ir.Value]) -> None:
        for r in range(self.each):
            for c in range(self.each):
                row = added(origins[0], added(self.y, PRODUCT_SIDE * r))
                column = added(origins[1], added(self.x, PRODUCT_SIDE * c))
                branch = scf.IfOp(self.elements.inside(row, column))
                with ir.InsertionPoint(branch.then_block):
                    self.elements.finish(row, column, sums[r * self.each + c])
                    scf.YieldOp([])


def _element(value: ir.Value) -> ir.Type:
    return ir.MemRefType(value.type).element_type
