"""Copies of factors, several terms at a time: faster than `packing`, for what lies side by side.

Comes in: what `packing` takes. Goes out: the same function. `LinePacking` is for factors whose rows (columns) lie side
by side: some terms of all tiles, then the next ones, so that memory is read in long lines. `TransposedPacking` is for
those whose terms lie side by side: small squares are read as vectors of terms and transposed in registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir import ir
from mlir.dialects import arith, memref, vector

from pykern.passes.analysis.cost_model.registers import PACKED_LINES, SQUARE_BITS
from pykern.passes.codegen.cpu.contraction.packing import Packing
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, as_value, least, minus, plus, times
from pykern.passes.ir.loops import Counted
from pykern.passes.ir.vectors import part
from pykern.passes.kernels import index_constant
from pykern.passes.vectorize.square import transposed_square


def packing_of(*facts: Any) -> Packing:
    """The packing for a factor, from the same facts."""
    plain = Packing(*facts)
    p = plain.product
    strides = p.strides(plain.number)
    if len(p.k) == 1 and strides[plain.along] == 1:
        return LinePacking(*facts)
    if len(p.k) == 1 and strides[p.k[0]] == 1 and plain.job.lanes in (2, 4, 8, 16):
        return TransposedPacking(*facts)
    return plain


@dataclass
class LinePacking(Packing):
    """Some terms of all tiles, then the next ones."""

    def _tiles(self, at: dict[int, Number], place: list[ir.Value], lo: ir.Value, hi: ir.Value) -> None:
        bound = as_value(self.bound)
        with Counted(index_constant(0), bound, PACKED_LINES) as first:
            last = as_value(least(plus(first, PACKED_LINES), bound))
            with Counted(lo, hi, 1) as tile:
                self._cut(
                    tile, lambda begin, count: self._lines(at, [*place, tile], begin, count, first, last)
                )
        if self.slices.is_filled and self.slices.is_short:
            with Counted(lo, hi, 1) as tile:
                self._nothing_behind([*place, tile], 0, self.width)

    def _lines(
        self,
        at: dict[int, Number],
        place: list[ir.Value],
        begin: Number,
        count: int,
        first: ir.Value,
        last: ir.Value,
    ) -> None:
        [term] = self.product.k
        with Counted(first, last, 1, alone=True) as t:
            self._line({**at, term: plus(t, self.start)}, place, t, begin, count)


@dataclass
class TransposedPacking(Packing):
    """Squares of as many terms as a vector of `SQUARE_BITS` bits has elements."""

    @property
    def side(self) -> int:
        return min(self.job.lanes, SQUARE_BITS // self.product.bits)

    def _tiles(self, at: dict[int, Number], place: list[ir.Value], lo: ir.Value, hi: ir.Value) -> None:
        kind = ir.MemRefType(self.into.type)
        *outer, terms, width = kind.shape
        flat = ir.MemRefType.get([*outer, terms * width], kind.element_type)
        strides, _ = flat.get_strides_and_offset()
        self.lines = memref.ReinterpretCastOp(flat, self.into, [], [], [], [0], flat.shape, strides).result
        super()._tiles(at, place, lo, hi)

    def _tile(self, at: dict[int, Number], place: list[ir.Value], begin: Number, count: int) -> None:
        [term] = self.product.k
        bound, wide = self.bound, self.side
        fewest = (self.product.lengths[term] - 1) % self.slices.step + 1
        uneven = self.slices.step % wide or fewest % wide
        whole: Number = bound  # the last square may share terms with the one before
        if uneven and fewest < wide:
            whole = bound - bound % wide if isinstance(bound, int) else _multiple(bound, wide)
        if whole != 0:
            with Counted(index_constant(0), as_value(whole), wide, alone=True) as t:
                first = least(t, minus(bound, wide)) if uneven and fewest >= wide else t
                self._squares({**at, term: plus(first, self.start)}, [*place, as_value(first)], begin)
        if uneven and fewest < wide:
            with Counted(as_value(whole), as_value(bound), 1, alone=True) as t:
                self._line({**at, term: plus(t, self.start)}, place, t, begin, count)
        self._nothing_behind(place, begin, count)

    def _squares(self, at: dict[int, Number], place: list[ir.Value], begin: Number) -> None:
        """Pack all rows of a tile, with one loop over squares where the squares are alike."""
        wide = self.side
        if self.width % wide or self.width == wide:
            for row in range(0, self.width, wide):
                self._square(at, place, begin, row, min(wide, self.width - row))
            return
        with Counted(index_constant(0), index_constant(self.width), wide, alone=True) as row:
            self._square(at, place, begin, row, wide)

    def _square(
        self, at: dict[int, Number], place: list[ir.Value], begin: Number, row: Number, rows: int
    ) -> None:
        """Transpose one square: `rows` rows from `row` on, with as many terms of each as a vector has elements."""
        p, wide = self.product, self.side
        lines = [
            self.factor.vector({**at, self.along: self._row(begin, plus(row, r))}, p.k[0], wide)
            for r in range(rows)
        ]
        zero = constant(ir.VectorType.get([wide], p.element), 0)
        lines += [zero] * (wide - len(lines))
        *tile, term = place
        start = plus(times(term, self.width), row)
        for t, line in enumerate(transposed_square(lines, p.bits)):
            piece = line
            # a whole vector is stored quicker: what is too much of it belongs to the terms that come next, not to
            # the next tile or what lies behind the copy
            if rows < wide and (rows < self.width or (wide - t) * self.width < wide):
                piece = part(line, 0, rows)
            vector.StoreOp(piece, self.lines, [*tile, as_value(plus(start, t * self.width))])


def _multiple(number: ir.Value, of: int) -> ir.Value:
    return arith.AndIOp(number, index_constant(-of)).result
