"""Copies of factors in the order in which the tiles read them.

Comes in: a factor, the dimension that tiles run along, a slice of the terms. Goes out: a function that fills
`[outer dimensions.., tiles, terms, width]`: what a tile reads is one piece of memory, whatever the strides were (rows a
power of two apart would share lines of the first cache). What is beyond the last row or column is not used: there
the last one is repeated, or there are zeros.
Elements are converted on the way: a tile of bf16 multiplies f32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.dialect import attributes as kern
from pykern.passes.codegen.cpu.contraction.factors import Factor
from pykern.passes.codegen.cpu.contraction.nests import Job
from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.codegen.cpu.loop_nest.function import Nest
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, as_value, least, minus, plus, times
from pykern.passes.ir.loops import Counted
from pykern.passes.kernels import index_constant


@dataclass(frozen=True)
class Slice:
    """The terms of one slice: all of the dimensions `k`, `step` iterations of the first from `start` on."""

    product: Product
    step: int
    is_filled: bool
    """Whether there are zeros behind the terms of the last slice, if that is shorter."""

    @property
    def is_short(self) -> bool:
        """Whether the last slice has fewer terms."""
        return self.product.lengths[self.product.k[0]] % self.step != 0

    def bound(self, start: Number) -> Number:
        """Iterations of the first dimension of the terms, of the slice from `start` on."""
        return least(minus(self.product.lengths[self.product.k[0]], start), self.step)

    @property
    def terms(self) -> int:
        return self.step * self.product.size(self.product.k[1:])

    @property
    def count(self) -> int:
        return -(-self.product.lengths[self.product.k[0]] // self.step)


@dataclass
class Packing:
    """Packs one factor (0: left, 1: right)."""

    job: Job
    number: int
    along: int
    """The dimension that tiles run along."""
    width: int
    slices: Slice
    target: ir.Value

    @property
    def product(self) -> Product:
        return self.job.product

    @property
    def outer(self) -> tuple[int, ...]:
        own = self.product.m if self.number == 0 else self.product.n
        return tuple(d for d in own if d != self.along)

    def build(self, start: Number, batch: dict[int, ir.Value]) -> None:
        """A function that fills `target`: `nest`."""
        p = self.product
        passed = [
            *p.read_for(self.number),
            self.target,
            *batch.values(),
            *([] if isinstance(start, int) else [start]),
        ]
        tiles = -(-p.lengths[self.along] // self.width)
        shared = p.lengths[self.outer[0]] if self.outer else tiles
        self.nest = nest = Nest(self.job.place, p.op, passed, shared, has_body=False)
        with nest.inside() as (lo, hi):
            nest.function.attributes[kern.IN_VECTORS] = ir.UnitAttr.get()
            self.factor = Factor(p, self.number, nest.value)
            self.into = nest.value(self.target)
            at: dict[int, Number] = {d: nest.value(v) for d, v in batch.items()}
            self.start = start if isinstance(start, int) else nest.value(start)
            self._outer(list(self.outer), at, [], (lo, hi), tiles)
        self.copied = p.lengths[self.along] * p.size(self.outer) * self.slices.terms

    def _outer(
        self, left: list[int], at: dict[int, Number], place: list[ir.Value], bounds: tuple, tiles: int
    ) -> None:
        if left:
            lo, hi = bounds or (index_constant(0), index_constant(self.product.lengths[left[0]]))
            with Counted(lo, hi, 1) as i:
                self._outer(left[1:], {**at, left[0]: i}, [*place, i], (), tiles)
            return
        self._tiles(at, place, *(bounds or (index_constant(0), index_constant(tiles))))

    def _tiles(self, at: dict[int, Number], place: list[ir.Value], lo: ir.Value, hi: ir.Value) -> None:
        """The tiles from `lo` to `hi`."""
        with Counted(lo, hi, 1) as tile:
            self._cut(tile, lambda begin, count: self._tile(at, [*place, tile], begin, count))

    def _cut(self, tile: ir.Value, emit: Callable[[Number, int], None]) -> None:
        """`emit` for where a tile begins and how many rows it has: the last one may have fewer."""
        begin = times(tile, self.width)
        length = self.product.lengths[self.along]
        if length % self.width == 0 or self._repeats:
            emit(begin, self.width)
            return
        whole = arith.CmpIOp(arith.CmpIPredicate.slt, tile, index_constant(length // self.width)).result
        branch = scf.IfOp(whole, has_else=True)
        for block, count in (
            (branch.then_block, self.width),
            (branch.else_block, length % self.width),
        ):
            with ir.InsertionPoint(block):
                emit(begin, count)
                scf.YieldOp([])

    @property
    def _repeats(self) -> bool:
        """Whether rows are read one by one: then the last one is read once more where there are no more."""
        return self.product.strides(self.number)[self.along] != 1

    def _row(self, begin: Number, number: Number) -> Number:
        """A row of a tile; the first one is always there."""
        row, length = plus(begin, number), self.product.lengths[self.along]
        is_first = isinstance(number, int) and number == 0
        return row if is_first or length % self.width == 0 else least(row, length - 1)

    def _tile(self, at: dict[int, Number], place: list[ir.Value], begin: Number, count: int) -> None:
        """One tile: loops over the terms."""
        p = self.product
        first, bound = p.k[0], self.bound
        inner = p.size(p.k[1:])
        with Counted(index_constant(0), as_value(bound), 1, alone=True) as t:
            self._terms(
                list(p.k[1:]), {**at, first: plus(t, self.start)}, times(t, inner), place, begin, count
            )
        self._nothing_behind(place, begin, count)

    @property
    def bound(self) -> Number:
        """Iterations of the first dimension of the terms in this slice."""
        return self.slices.bound(self.start)

    def _nothing_behind(self, place: list[ir.Value], begin: Number, count: int) -> None:
        """Zeros for the terms that the last slice lacks."""
        p, bound = self.product, self.bound
        if not (self.slices.is_filled and self.slices.is_short):
            return
        behind = as_value(times(bound, p.size(p.k[1:])))
        with Counted(behind, index_constant(self.slices.terms), 1, alone=True) as t:
            self._line(None, place, t, begin, count)

    def _terms(
        self,
        left: list[int],
        at: dict[int, Number],
        number: Number,
        place: list[ir.Value],
        begin: Number,
        count: int,
    ) -> None:
        if not left:
            self._line(at, place, as_value(number), begin, count)
            return
        inner = self.product.size(tuple(left[1:]))
        with Counted(index_constant(0), index_constant(self.product.lengths[left[0]]), 1, alone=True) as t:
            more = plus(number, times(t, inner))
            self._terms(left[1:], {**at, left[0]: t}, more, place, begin, count)

    def _line(
        self, at: dict[int, Number] | None, place: list[ir.Value], term: ir.Value, begin: Number, count: int
    ) -> None:
        """The elements of one term: `count` of them, then zeros; all zeros where there is no term."""
        start = [*place, term, index_constant(0)]
        if at is None:
            kind = ir.VectorType.get([self.width], self.product.element)
            vector.StoreOp(constant(kind, 0), self.into, start)
            return
        if not self._repeats:
            value = self.factor.vector({**at, self.along: begin}, self.along, self.width, count)
            vector.StoreOp(value, self.into, start)
            return
        for r in range(self.width):
            value = self.factor.element({**at, self.along: self._row(begin, r)})
            memref.StoreOp(value, self.into, [*place, term, index_constant(r)])
