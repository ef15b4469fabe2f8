"""A product of matrices by multiply-adds: each work-item of a square group has a few cells of the tile.

Comes in: the elements of a product in a kernel whose group is `PRODUCT_SIDE` squared. Goes out: the kernel's body.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.index_space import GlobalIdOp, GroupIdOp, LocalIdOp
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.passes.analysis.cost_model.devices import (
    PRODUCT_DEPTH,
    PRODUCT_PADDING,
    PRODUCT_SIDE,
    PRODUCT_SPREAD,
    VECTOR_ELEMENTS,
)
from pykern.passes.codegen.device.product_space import ProductElements, added, scaled
from pykern.passes.codegen.device.term_parts import TermParts
from pykern.passes.ir.clone import clone
from pykern.passes.ir.loops import unroll
from pykern.passes.kernels import body, index_constant

_WIDENING = ("arith.extf", "arith.extsi", "arith.extui")


class FmaProduct:
    """The kernel: `each` times `each` cells a work-item.

    Fours of them are side by side where the device reads 16 bytes at once (`vectors`), else they are `PRODUCT_SIDE`
    apart, so that neighbours among the work-items read neighbours.
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
        sums = [product.join.neutral() for _ in range(self.each * self.each)]
        coming = self._load(origins, begin) if self.vectors else []
        bounds = (index_constant(each) for each in (0, self.terms, PRODUCT_DEPTH))
        loop = scf.ForOp(*bounds, [*sums, *coming])
        with ir.InsertionPoint(loop.body):
            held = list(loop.inner_iter_args)
            sums, coming = held[: len(sums)], held[len(sums) :]
            term = loop.induction_variable
            self._fill(tiles, coming or self._load(origins, added(begin, term)))
            BarrierOp.create()
            if (
                self.vectors
            ):  # what comes next is on its way while this is multiplied; the last terms come twice
                last = index_constant(self.terms - PRODUCT_DEPTH)
                following = arith.MinUIOp(added(term, PRODUCT_DEPTH), last).result
                coming = self._load(origins, added(begin, following))
            sums = self._multiply(tiles, sums)
            BarrierOp.create()
            scf.YieldOp([*sums, *coming])
        self._store(list(loop.results)[: len(sums)], origins, part)

    def _stride(self, n: int, kind: ir.Type) -> int:
        """Elements from one term to the next in shared memory."""
        if self.vectors:
            return self.width + PRODUCT_PADDING
        by_terms = self.product.lies_by_terms(
            n
        )  # then neighbours store terms of a line, else what lies side by side
        return self.width + (PRODUCT_SPREAD // max(1, kind.width // 8) if by_terms else 0)

    def _load(self, origins: list[ir.Value], begin: ir.Value) -> list[ir.Value]:
        """A work-item's elements of both factors, those of terms from `begin` on; zeros beyond the last term."""
        found = []
        for n, origin in enumerate(origins):
            lines = self.product.count((self.product.rows, self.product.columns)[n])
            terms = self.terms * self.parts.count
            whole = lines % self.width == 0, self.product.count(self.product.terms) == terms
            for line, term in self._places(n):
                value = self.elements.factor(n, added(origin, line), added(begin, term), *whole)
                widening = self.widened[n]
                if widening is not None:  # once here, not at each of the multiply-adds that read it
                    value = clone(widening, lambda _, value=value: value).results[0]
                found.append(value)
        return found

    def _fill(self, tiles: list[ir.Value], loaded: list[ir.Value]) -> None:
        """Store a work-item's elements of both factors in shared memory."""
        values = iter(loaded)
        for n, tile in enumerate(tiles):
            for line, term in self._places(n):
                memref.StoreOp(next(values), tile, [added(scaled(term, self.strides[n]), line)])

    def _places(self, n: int) -> Iterator[tuple[ir.Value, ir.Value]]:
        """Line and term of each: work-items side by side have what lies side by side."""
        by_terms = self.product.lies_by_terms(n)
        fast = index_constant(PRODUCT_DEPTH if by_terms else self.width)
        for part in range(self.width * PRODUCT_DEPTH // (PRODUCT_SIDE * PRODUCT_SIDE)):
            cell = added(self.number, part * PRODUCT_SIDE * PRODUCT_SIDE)
            inner, outer = arith.RemUIOp(cell, fast).result, arith.DivUIOp(cell, fast).result
            yield (outer, inner) if by_terms else (inner, outer)

    def _multiply(self, tiles: list[ir.Value], held: list[ir.Value]) -> list[ir.Value]:
        loop = scf.ForOp(index_constant(0), index_constant(PRODUCT_DEPTH), index_constant(1), held)
        if self.vectors:
            unroll(loop.operation, PRODUCT_DEPTH // 4)
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
            run, rest = divmod(number, VECTOR_ELEMENTS)
            return added(scaled(item, VECTOR_ELEMENTS), run * VECTOR_ELEMENTS * PRODUCT_SIDE + rest)
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
                with self.elements.where_inside(row, column, (self.width, self.width)):
                    self.parts.store(self.elements, part, row, column, sums[r * self.each + c])


def _widening(factor: ir.Value) -> ir.Operation | None:
    """The one op that reads a factor, where it makes a wider number of it."""
    users = [use.owner.operation for use in factor.uses]
    return users[0] if len(users) == 1 and users[0].name in _WIDENING else None


def _element(value: ir.Value) -> ir.Type:
    return ir.MemRefType(value.type).element_type
