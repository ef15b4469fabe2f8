"""A product of matrices on a device: which loops are rows, columns and terms, and its elements at a point.

Comes in: the `Space` of a linalg.generic that multiplies two arrays and adds up. Goes out: `ProductSpace`, and in a
kernel `ProductElements`. Any order of dimensions will do: what counts is which of the three arrays has them. Elements
of factors are computed by their prologues where they are fetched, and what reads the sums where they are finished
(`pykern.passes.fusion.contraction`). Read next: `products`, which chooses the tiles that the kernel computes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect.index_space import GroupIdOp
from pykern.passes.analysis.contraction import product_dimensions, shape_of_product
from pykern.passes.analysis.cost_model.devices import FEWEST_TILED, MATRIX_BAND
from pykern.passes.analysis.reductions import Combine, combines
from pykern.passes.analysis.space import Space
from pykern.passes.codegen.device.kernel import Kernel
from pykern.passes.codegen.device.points import Points, spread
from pykern.passes.fusion.contraction import ContractionGroup
from pykern.passes.ir.affine import Access
from pykern.passes.ir.constants import constant
from pykern.passes.ir.loops import When
from pykern.passes.kernels import index_constant


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

    def lies_by_terms(self, factor: int) -> bool:
        """Whether a factor's elements side by side in memory are terms of one row or column."""
        return _groups_of(self.space, factor)[-1] in self.terms


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


class ProductElements:
    """Elements of the factors and of the result, in a kernel; `place` says which."""

    def __init__(self, kernel: Kernel, product: ProductSpace, start: ir.Value | None) -> None:
        """Bring everything in; at the top of the kernel. `start`: what sums start from, None: what memory holds."""
        self.kernel, self.product, self.space = kernel, product, product.space
        self.points = Points(kernel, self.space)
        self.points.prepare()
        self.first = None if start is None else kernel.value(start)
        for value in product.group.outside:
            kernel.value(value)

    def place(self, groups: Sequence[int], number: ir.Value) -> None:
        """Set the coordinates of groups to those of their `number`-th point."""
        found = spread(number, [self.space.lengths[g] for g in groups])
        self.points.counters |= dict(zip(groups, found, strict=True))

    def factor(
        self, n: int, line: ir.Value, term: ir.Value, lines_fit: bool = False, terms_fit: bool = False
    ) -> ir.Value:
        """An element of a factor, loaded or computed: that of a row or column and a term, 0 beyond the last term.

        `lines_fit` and `terms_fit`: there are such a row or column and such a term.
        """
        product, depth = self.product, self.product.count(self.product.terms)
        groups = (product.rows, product.columns)[n]
        known = arith.CmpIOp(arith.CmpIPredicate.ult, term, index_constant(depth)).result
        self.place(groups, line if lines_fit else _at_most(line, product.count(groups) - 1))
        self.place(product.terms, term if terms_fit else _at_most(term, depth - 1))
        value = self._made(n)
        if terms_fit:
            return value
        return arith.SelectOp(known, value, constant(value.type, 0)).result

    def source(self, n: int, line: ir.Value, term: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
        """Where an element of a factor lies: memory and indices."""
        self.place((self.product.rows, self.product.columns)[n], line)
        self.place(self.product.terms, term)
        return self.points.operands[n], self.points.indices(n)

    def _made(self, n: int) -> ir.Value:
        prologue = self.product.group.prologues[n]
        if prologue is None:
            return self.points.load(n)
        return prologue.element([*self._read(prologue.operands), *map(self.kernel.value, prologue.captured)])

    def _read(self, operands: Sequence[tuple[ir.Value, Access | None]]) -> list[ir.Value]:
        """Elements of what prologues and readers read, at the counters, and numbers."""
        inside, at = self.kernel.value, self.points.counters
        return [inside(v) if a is None else memref.LoadOp(inside(v), a.place(at)).result for v, a in operands]

    def where_inside(
        self, row: ir.Value, column: ir.Value, sides: tuple[int, int]
    ) -> AbstractContextManager[object]:
        """What is emitted inside runs where there is such a cell of the result: always, where tiles with these `sides`
        divide it."""
        counts = [self.product.count(groups) for groups in (self.product.rows, self.product.columns)]
        if all(count % side == 0 for count, side in zip(counts, sides, strict=True)):
            return nullcontext()
        found = [
            arith.CmpIOp(arith.CmpIPredicate.ult, place, index_constant(count)).result
            for place, count in zip((row, column), counts, strict=True)
        ]
        return When(arith.AndIOp(*found).result)

    def keep(
        self, row: ir.Value, column: ir.Value, products: ir.Value, memory: ir.Value, part: ir.Value
    ) -> None:
        """Store a sum of some of the products: in `memory` that of each part, cell by cell."""
        self.place(self.product.rows, row)
        self.place(self.product.columns, column)
        memref.StoreOp(products, memory, [part, self.cell()])

    def cell(self) -> ir.Value:
        """The number of the cell at the counters."""
        cell = index_constant(0)
        for group in self.space.parallel:
            cell = added(scaled(cell, self.space.lengths[group]), self.points.counters[group])
        return cell

    def finish(self, row: ir.Value, column: ir.Value, products: ir.Value) -> None:
        """Store a sum of products, or what is made from it."""
        self.place(self.product.rows, row)
        self.place(self.product.columns, column)
        self.finish_here(products)

    def finish_here(self, products: ir.Value) -> None:
        """The same for the cell at the counters."""
        product, points, reader = self.product, self.points, self.product.group.reader
        total = product.join.join(points.load(2) if self.first is None else self.first, products)
        if reader is None:
            points.store(2, total)
            return
        given = [*self._read(reader.operands), *map(self.kernel.value, reader.captured)]
        place = reader.access.place(points.counters)
        memref.StoreOp(reader.emit(total, given), self.kernel.value(reader.out), place)


def _at_most(value: ir.Value, most: int) -> ir.Value:
    return arith.MinUIOp(value, index_constant(most)).result


def scaled(value: ir.Value, by: int) -> ir.Value:
    """`by` times an index."""
    return arith.MulIOp(value, index_constant(by)).result


def added(a: ir.Value, b: ir.Value | int) -> ir.Value:
    """The sum of two indices."""
    return arith.AddIOp(a, index_constant(b) if isinstance(b, int) else b).result


def split(value: ir.Value, by: int) -> tuple[ir.Value, ir.Value]:
    """Quotient and remainder of an index."""
    size = index_constant(by)
    return arith.DivUIOp(value, size).result, arith.RemUIOp(value, size).result


def banded_tile(product: ProductSpace, side: int) -> tuple[ir.Value, ir.Value]:
    """The tile of a group, of `side` rows and columns: its number along both.

    Groups that run at the same time take tiles of a few rows after one another, so that what they read of both
    factors stays in the cache that all share.
    """
    rows, columns = (-(-product.count(g) // side) for g in (product.rows, product.columns))
    number = added(scaled(GroupIdOp.create(1), columns), GroupIdOp.create(2))
    band, inside = split(number, MATRIX_BAND * columns)
    first = scaled(band, MATRIX_BAND)
    left = arith.SubIOp(index_constant(rows), first).result
    height = arith.MinUIOp(left, index_constant(MATRIX_BAND)).result
    column, row = arith.DivUIOp(inside, height).result, arith.RemUIOp(inside, height).result
    return added(first, row), column
