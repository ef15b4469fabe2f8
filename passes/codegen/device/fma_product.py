"""A product of matrices by multiply-adds: each work-item of a square group has a few cells of the tile.

Comes in: the elements of a product in a kernel whose group is `PRODUCT_SIDE` squared. Goes out: the kernel's body.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.index_space import GlobalIdOp, GroupIdOp, LocalIdOp
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.passes.analysis.cost_model.devices import (
    PRODUCT_DEPTH,
    PRODUCT_PADDING,
    PRODUCT_SIDE,
    PRODUCT_SPREAD,
)
from pykern.passes.codegen.device.product_space import ProductElements, added, scaled
from pykern.passes.codegen.device.term_parts import TermParts
from pykern.passes.ir.clone import clone
from pykern.passes.ir.loops import unroll
from pykern.passes.kernels import body, index_constant

_WIDENING = ("arith.extf", "arith.extsi", "arith.extui")


class FmaProduct:
    """The kernel: `each` times `each` cells a work-item.

    They are side by side where the device reads 16 bytes at once (`vectors`), else `PRODUCT_SIDE` apart, so that
    neighbours among the work-items read neighbours.
    """

    def __init__(self, elements: ProductElements, each: int, vectors: bool, parts: TermParts) -> None:
        self.elements, self.product, self.each, self.vectors = elements, elements.product, each, vectors
        self.width, self.parts = PRODUCT_SIDE * each, parts
        self.terms = parts.steps(-(-self.product.count(self.product.terms) // PRODUCT_DEPTH)) * PRODUCT_DEPTH
        block = body(self.product.space.op)
        self.widened = [_widening(block.arguments[n]) for n in range(2)]

    def emit(self) -> None:
        elements, product = self.elements, self.product
        self.parts.prepare(elements)
        operands = elements.points.operands[:2]
        kinds = [w.results[0].type if w else _element(v) for v, w in zip(operands, self.widened, strict=True)]
        self.strides = [self._stride(n, kind) for n, kind in enumerate(kinds)]
        tiles = [
            SharedOp.create((PRODUCT_DEPTH * stride,), kind)
            for stride, kind in zip(self.strides, kinds, strict=True)
        ]
        self.y, self.x = LocalIdOp.create(1), LocalIdOp.create(2)
        self.number = added(scaled(self.y, PRODUCT_SIDE), self.x)
        part = self.parts.place(elements, GlobalIdOp.create(0))
        begin = scaled(part, self.terms)
        origins = [scaled(GroupIdOp.create(axis), self.width) for axis in (1, 2)]
        loop = scf.ForOp(
            index_constant(0),
            index_constant(self.terms),
            index_constant(PRODUCT_DEPTH),
            [product.join.neutral() for _ in range(self.each * self.each)],
        )
        with ir.InsertionPoint(loop.body):
            for n, tile in enumerate(tiles):
                self._fetch(n, tile, origins[n], added(begin, loop.induction_variable))
            BarrierOp.create()
            sums = self._multiply(tiles, list(loop.inner_iter_args))
            BarrierOp.create()
            scf.YieldOp(sums)
        self._store(list(loop.results), origins, part)

    def _stride(self, n: int, kind: ir.Type) -> int:
        """Elements from one term to the next in shared memory."""
        if self.vectors:
            return self.width + PRODUCT_PADDING
        by_terms = self.product.lies_by_terms(
            n
        )  # then neighbours store terms of a line, else what lies side by side
        return self.width + (PRODUCT_SPREAD // max(1, kind.width // 8) if by_terms else 0)

    def _fetch(self, n: int, tile: ir.Value, origin: ir.Value, begin: ir.Value) -> None:
        """Work-items side by side fetch what lies side by side; beyond the last term there are zeros."""
        by_terms = self.product.lies_by_terms(n)
        lines = self.product.count((self.product.rows, self.product.columns)[n])
        terms = self.terms * self.parts.count
        whole = lines % self.width == 0, self.product.count(self.product.terms) == terms
        fast = index_constant(PRODUCT_DEPTH if by_terms else self.width)
        for part in range(self.width * PRODUCT_DEPTH // (PRODUCT_SIDE * PRODUCT_SIDE)):
            cell = added(self.number, part * PRODUCT_SIDE * PRODUCT_SIDE)
            inner, outer = arith.RemUIOp(cell, fast).result, arith.DivUIOp(cell, fast).result
            term, line = (inner, outer) if by_terms else (outer, inner)
            value = self.elements.factor(n, added(origin, line), added(begin, term), *whole)
            widening = self.widened[n]
            if widening is not None:  # once here, not at each of the multiply-adds that read it
                value = clone(widening, lambda _, value=value: value).results[0]
            memref.StoreOp(value, tile, [added(scaled(term, self.strides[n]), line)])

    def _multiply(self, tiles: list[ir.Value], held: list[ir.Value]) -> list[ir.Value]:
        loop = scf.ForOp(index_constant(0), index_constant(PRODUCT_DEPTH), index_constant(1), held)
        if self.vectors:
            unroll(loop.operation, PRODUCT_DEPTH)
        with ir.InsertionPoint(loop.body):
            lines = [scaled(loop.induction_variable, stride) for stride in self.strides]
            factors = [
                [memref.LoadOp(tile, [added(line, self._cell(mine, r))]).result for r in range(self.each)]
                for tile, line, mine in zip(tiles, lines, (self.y, self.x), strict=True)
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

    def _cell(self, item: ir.Value, number: int) -> ir.Value:
        """The row or column of the `number`-th cell of a work-item."""
        if self.vectors:
            return added(scaled(item, self.each), number)
        return added(item, PRODUCT_SIDE * number)

    def _body(self, left: ir.Value, right: ir.Value, held: ir.Value) -> ir.Value:
        block, outside = body(self.product.space.op), self.elements.points.outside
        known = dict(zip(block.arguments, (left, right, held), strict=True))
        for widening, value in zip(self.widened, (left, right), strict=True):
            known |= {} if widening is None else {widening.results[0]: value}
        *ops, end = [o.operation for o in block.operations]
        for op in ops:
            if any(result in known for result in op.results):
                continue  # done where the factor was fetched
            copy = clone(op, lambda v: known.get(v, outside.get(v, v)))
            known.update(zip(op.results, copy.results, strict=True))
        return known[end.operands[0]]

    def _store(self, sums: list[ir.Value], origins: list[ir.Value], part: ir.Value) -> None:
        for r in range(self.each):
            for c in range(self.each):
                row = added(origins[0], self._cell(self.y, r))
                column = added(origins[1], self._cell(self.x, c))
                branch = scf.IfOp(self.elements.inside(row, column))
                with ir.InsertionPoint(branch.then_block):
                    self.parts.store(self.elements, part, row, column, sums[r * self.each + c])
                    scf.YieldOp([])


def _widening(factor: ir.Value) -> ir.Operation | None:
    """The one op that reads a factor, where it makes a wider number of it."""
    users = [use.owner.operation for use in factor.uses]
    return users[0] if len(users) == 1 and users[0].name in _WIDENING else None


def _element(value: ir.Value) -> ir.Type:
    return ir.MemRefType(value.type).element_type
