"""Attention by multiply-adds: each work-item of a square group has a few cells of the scores, and of the result.

Comes in: the elements of attention in a kernel, and an `AttentionTile`. Goes out: the kernel's body. Of a block of keys

    scores = score(queries @ keys)            a few terms of both at a time in shared memory
    top'   = max(top, max(scores)),  shrink = exp(top - top')         by as many work-items a row as there are
    power  = exp(scores - top'),     sums   = sums * shrink + sum(power)
    result = result * shrink + power @ values

stay in shared memory and in registers. A row of -inf alone gives NaN, as NumPy's softmax does, but only at its end:
until then its maximum counts as 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.index_space import GroupIdOp, LocalIdOp
from pykern.dialect.memory import BarrierOp, SharedOp
from pykern.passes.analysis.cost_model.devices import (
    ATTENTION_CELLS,
    ATTENTION_FACTOR_ELEMENTS,
    ATTENTION_KEYS,
    FEWEST_GROUPS,
    PRODUCT_DEPTH,
    PRODUCT_SIDE,
)
from pykern.passes.analysis.reductions import add_fastmath
from pykern.passes.codegen.device.attention_elements import KEYS, QUERY, VALUES, AttentionElements
from pykern.passes.codegen.device.product_space import added, scaled, split
from pykern.passes.codegen.device.running_softmax import larger, power, subtracted
from pykern.passes.fusion.attention.calls import AttentionShape
from pykern.passes.ir.constants import constant
from pykern.passes.ir.loops import When
from pykern.passes.kernels import index_constant


@dataclass(frozen=True)
class AttentionTile:
    """What a group computes: `rows` times `PRODUCT_SIDE` queries, and of their results one of `panels` of columns, of
    which a work-item has `across`."""

    rows: int
    across: int
    panels: int

    @classmethod
    def of_shape(cls, shape: AttentionShape) -> AttentionTile:
        """As many queries as registers allow, and enough groups."""
        panels = -(-shape.width // (PRODUCT_SIDE * ATTENTION_CELLS))
        across = -(-shape.width // (PRODUCT_SIDE * panels))
        batches = shape.batch_count * panels
        for rows in (4, 2):
            groups = batches * -(-shape.queries // (rows * PRODUCT_SIDE))
            if rows * across <= ATTENTION_CELLS and groups >= FEWEST_GROUPS:
                return cls(rows, across, panels)
        return cls(1, across, panels)

    @property
    def items(self) -> int:
        return PRODUCT_SIDE * PRODUCT_SIDE

    @property
    def queries(self) -> int:
        return self.rows * PRODUCT_SIDE

    @property
    def columns(self) -> int:
        return self.across * PRODUCT_SIDE

    @property
    def keys_at_once(self) -> int:
        """Keys whose values are in shared memory at a time: a power of two."""
        most = max(1, min(ATTENTION_KEYS, ATTENTION_FACTOR_ELEMENTS // (self.columns + 1)))
        return 1 << most.bit_length() - 1

    @property
    def row_items(self) -> int:
        """Work-items that make the powers of a row."""
        return self.items // self.queries


class FmaAttention:
    """The kernel."""

    def __init__(self, elements: AttentionElements, tile: AttentionTile) -> None:
        self.elements, self.shape, self.tile = elements, elements.shape, tile
        self.element = elements.shape.element

    def emit(self, blocks: int) -> None:
        tile, elements = self.tile, self.elements
        factors = max(
            (tile.queries + ATTENTION_KEYS + 2) * PRODUCT_DEPTH, (tile.columns + 1) * tile.keys_at_once
        )
        self.factors = SharedOp.create((factors,), self.element)
        self.scores = SharedOp.create((tile.queries * (ATTENTION_KEYS + 1),), self.element)
        self.shrinks = SharedOp.create((tile.queries,), self.element)
        self.number = LocalIdOp.create(2)
        self.y, self.x = split(self.number, PRODUCT_SIDE)
        self.own_row, self.part = split(self.number, tile.row_items)
        batch, panel = split(GroupIdOp.create(0), tile.panels)
        elements.place(batch)
        # the last queries first: they have most keys where later ones are masked
        block = arith.SubIOp(index_constant(blocks - 1), GroupIdOp.create(1)).result
        self.first, self.panel = scaled(block, tile.queries), scaled(panel, tile.columns)
        begin, end = elements.key_range(self.first, tile.queries)
        nothing = constant(self.element, 0)
        held = [constant(self.element, float("-inf")), nothing, *[nothing] * (tile.rows * tile.across)]
        loop = scf.ForOp(begin, end, index_constant(ATTENTION_KEYS), held)
        with ir.InsertionPoint(loop.body):
            top, total, *cells = loop.inner_iter_args
            self._score(loop.induction_variable)
            top, total = self._weigh(top, total)
            scf.YieldOp([top, total, *self._add_values(loop.induction_variable, cells)])
        self._finish(*loop.results)

    # -- products ----------------------------------------------------------------------------

    def _score(self, key: ir.Value) -> None:
        """Scores of all queries of the group and a block of keys, in shared memory."""
        tile, across = self.tile, ATTENTION_KEYS // PRODUCT_SIDE
        zeros = [constant(self.element, 0)] * (tile.rows * across)
        keys_at = (tile.queries + 1) * PRODUCT_DEPTH
        depth = index_constant(self.shape.depth)
        loop = scf.ForOp(index_constant(0), depth, index_constant(PRODUCT_DEPTH), zeros)
        with ir.InsertionPoint(loop.body):
            term = loop.induction_variable
            self._fetch(QUERY, 0, self.first, tile.queries, term, PRODUCT_DEPTH)
            self._fetch(KEYS, keys_at, key, ATTENTION_KEYS, term, PRODUCT_DEPTH)
            BarrierOp.create()

            def left(term: ir.Value, row: int) -> ir.Value:
                line = added(self.y, row * PRODUCT_SIDE)
                return self._factor(0, tile.queries, line, term)

            def right(term: ir.Value, column: int) -> ir.Value:
                line = added(self.x, column * PRODUCT_SIDE)
                return self._factor(keys_at, ATTENTION_KEYS, line, term)

            sums = self._multiply(PRODUCT_DEPTH, left, right, (tile.rows, across), list(loop.inner_iter_args))
            BarrierOp.create()
            scf.YieldOp(sums)
        for number, product in enumerate(loop.results):
            row, column = divmod(number, across)
            row, column = added(self.y, row * PRODUCT_SIDE), added(self.x, column * PRODUCT_SIDE)
            value = self.elements.score(product, added(self.first, row), added(key, column))
            memref.StoreOp(value, self.scores, [self._score_at(row, column)])
        BarrierOp.create()

    def _add_values(self, key: ir.Value, held: list[ir.Value]) -> list[ir.Value]:
        """The result, scaled down, and the block's powers times its values."""
        tile, count = self.tile, self.tile.keys_at_once
        if self.elements.shifted:
            shrinks = [
                memref.LoadOp(self.shrinks, [added(self.y, r * PRODUCT_SIDE)]).result
                for r in range(tile.rows)
            ]
            held = [arith.MulFOp(v, shrinks[n // tile.across]).result for n, v in enumerate(held)]
        loop = scf.ForOp(index_constant(0), index_constant(ATTENTION_KEYS), index_constant(count), held)
        with ir.InsertionPoint(loop.body):
            begin = loop.induction_variable
            self._fetch(VALUES, 0, self.panel, tile.columns, added(key, begin), count)
            BarrierOp.create()

            def left(term: ir.Value, row: int) -> ir.Value:
                at = self._score_at(added(self.y, row * PRODUCT_SIDE), added(begin, term))
                return memref.LoadOp(self.scores, [at]).result

            def right(term: ir.Value, column: int) -> ir.Value:
                return self._factor(0, tile.columns, added(self.x, column * PRODUCT_SIDE), term)

            sums = self._multiply(count, left, right, (tile.rows, tile.across), list(loop.inner_iter_args))
            BarrierOp.create()
            scf.YieldOp(sums)
        return list(loop.results)

    def _fetch(self, n: int, at: int, origin: ir.Value, lines: int, begin: ir.Value, terms: int) -> None:
        """Work-items side by side fetch what lies side by side; term by term from `at` on in shared memory."""
        by_terms = self.elements.lies_by_terms(n)
        for part in range(-(-lines * terms // self.tile.items)):
            cell = added(self.number, part * self.tile.items)
            outer, inner = split(cell, terms if by_terms else lines)
            line, term = (outer, inner) if by_terms else (inner, outer)
            place = added(added(scaled(term, lines + 1), line), at)
            if (part + 1) * self.tile.items > lines * terms:
                inside = arith.CmpIOp(arith.CmpIPredicate.ult, cell, index_constant(lines * terms)).result
                with When(inside):
                    self._fetch_one(n, added(origin, line), added(begin, term), place)
            else:
                self._fetch_one(n, added(origin, line), added(begin, term), place)

    def _fetch_one(self, n: int, line: ir.Value, term: ir.Value, place: ir.Value) -> None:
        value = self.shape.widened(self.elements.factor(n, line, term))
        memref.StoreOp(value, self.factors, [place])

    def _factor(self, at: int, lines: int, line: ir.Value, term: ir.Value) -> ir.Value:
        """What `_fetch` has put there."""
        return memref.LoadOp(self.factors, [added(added(scaled(term, lines + 1), line), at)]).result

    def _multiply(
        self,
        terms: int,
        left: Callable[[ir.Value, int], ir.Value],
        right: Callable[[ir.Value, int], ir.Value],
        cells: tuple[int, int],
        held: list[ir.Value],
    ) -> list[ir.Value]:
        rows, across = cells
        loop = scf.ForOp(index_constant(0), index_constant(terms), index_constant(1), held)
        with ir.InsertionPoint(loop.body):
            sums, term = list(loop.inner_iter_args), loop.induction_variable
            factors = [left(term, r) for r in range(rows)]
            for c in range(across):
                factor = right(term, c)
                for r in range(rows):
                    sums[r * across + c] = _multiply_add(factors[r], factor, sums[r * across + c])
            scf.YieldOp(sums)
        return list(loop.results)

    # -- softmax -----------------------------------------------------------------------------

    def _weigh(self, top: ir.Value, total: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Powers in place of scores; the maximum of the work-item's row, and the sum of its own powers."""
        base = None
        if self.elements.shifted:
            top, base, shrink = self._shift(top)
            total = arith.MulFOp(total, shrink).result
            BarrierOp.create()  # everybody has seen all scores of the row
            is_first = arith.CmpIOp(arith.CmpIPredicate.eq, self.part, index_constant(0)).result
            with When(is_first):
                memref.StoreOp(shrink, self.shrinks, [self.own_row])
        for step in range(ATTENTION_KEYS // self.tile.row_items):
            at = self._score_at(self.own_row, added(self.part, step * self.tile.row_items))
            score = memref.LoadOp(self.scores, [at]).result
            weight = power(score, base)
            memref.StoreOp(weight, self.scores, [at])
            total = arith.AddFOp(total, weight).result
        BarrierOp.create()
        return top, total

    def _shift(self, top: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
        """The new maximum, what is taken off for it, and what the sums before are to be scaled by."""
        find = scf.ForOp(index_constant(0), index_constant(ATTENTION_KEYS), index_constant(1), [top])
        with ir.InsertionPoint(find.body):
            at = self._score_at(self.own_row, find.induction_variable)
            score = memref.LoadOp(self.scores, [at]).result
            scf.YieldOp([larger(score, find.inner_iter_args[0])])
        found = find.results[0]
        base = subtracted(found)
        return found, base, power(top, base)

    def _finish(self, top: ir.Value, total: ir.Value, *cells: ir.Value) -> None:
        """Sums of rows by way of shared memory, then the results."""
        del top
        tile = self.tile
        BarrierOp.create()
        memref.StoreOp(total, self.scores, [self._score_at(self.own_row, self.part)])
        BarrierOp.create()
        for r in range(tile.rows):
            row = added(self.y, r * PRODUCT_SIDE)
            sums = [
                memref.LoadOp(self.scores, [self._score_at(row, index_constant(part))]).result
                for part in range(tile.row_items)
            ]
            while len(sums) > 1:
                sums = [arith.AddFOp(a, b).result for a, b in zip(sums[::2], sums[1::2], strict=True)]
            for c in range(tile.across):
                value = arith.DivFOp(cells[r * tile.across + c], sums[0]).result
                column = added(self.panel, added(self.x, c * PRODUCT_SIDE))
                self.elements.finish(added(self.first, row), column, value)

    def _score_at(self, row: ir.Value, column: ir.Value) -> ir.Value:
        return added(scaled(row, ATTENTION_KEYS + 1), column)


def _multiply_add(a: ir.Value, b: ir.Value, held: ir.Value) -> ir.Value:
    """May be one operation."""
    product = arith.MulFOp(a, b)
    total = arith.AddFOp(held, product.result)
    for op in (product, total):
        add_fastmath(op.operation, "contract")
    return total.result
