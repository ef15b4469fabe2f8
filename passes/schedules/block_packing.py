"""Copies of factors, several terms at a time: faster than `packing`, for what lies side by side.

Comes in: what `packing` takes. Goes out: the same function. `LinePacking` is for factors whose rows (columns) lie side
by side: some terms of all tiles, then the next ones, so that memory is read in long lines. `TurnedPacking` is for those
whose terms lie side by side: small squares are read as vectors of terms and turned in registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir import ir
from mlir.dialects import arith, vector

from pykern.passes.kernels import index_constant
from pykern.passes.schedules.access import Number, as_value, least, plus
from pykern.passes.schedules.loops import Counted
from pykern.passes.schedules.packing import Packing

TERMS = 8
"""Lines of a factor that are read side by side."""
MANY = 8
"""Tiles from which the last one's speed matters little."""
PART = 128
"""Bits within which processors exchange elements of two registers with one instruction."""


def packing_of(*facts: Any) -> Packing:
    """The packing for a factor, from the same facts."""
    plain = Packing(*facts)
    p = plain.product
    strides = p.strides(plain.number)
    if len(p.k) == 1 and strides[plain.along] == 1:
        return LinePacking(*facts)
    if len(p.k) == 1 and strides[p.k[0]] == 1 and plain.job.lanes in (2, 4, 8, 16):
        return TurnedPacking(*facts)
    return plain


@dataclass
class LinePacking(Packing):
    """Some terms of all tiles, then the next ones."""

    def _tiles(self, at: dict[int, Number], place: list[ir.Value], lo: ir.Value, hi: ir.Value) -> None:
        bound = as_value(self.bound)
        with Counted(index_constant(0), bound, TERMS) as first:
            last = as_value(least(plus(first, TERMS), bound))
            with Counted(lo, hi, 1) as tile:
                self._cut(
                    tile, lambda begin, count: self._lines(at, [*place, tile], begin, count, first, last)
                )
        if self.is_short:
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
class TurnedPacking(Packing):
    """Squares of as many terms as a vector has elements."""

    def _tile(self, at: dict[int, Number], place: list[ir.Value], begin: Number, count: int) -> None:
        if count < self.width and self.product.lengths[self.along] >= MANY * self.width:
            super()._tile(at, place, begin, count)  # one tile of many: less code
            return
        [term] = self.product.k
        bound, wide = self.bound, self.job.lanes
        whole: Number = bound - bound % wide if isinstance(bound, int) else _multiple(bound, wide)
        if whole != 0:
            with Counted(index_constant(0), as_value(whole), wide, alone=True) as t:
                for row in range(0, self.width, wide):
                    self._square({**at, term: plus(t, self.start)}, [*place, t], begin, row, count)
        if not isinstance(whole, int) or whole != bound:
            with Counted(as_value(whole), as_value(bound), 1, alone=True) as t:
                self._line({**at, term: plus(t, self.start)}, place, t, begin, count)
        self._nothing_behind(place, begin, count)

    def _square(
        self, at: dict[int, Number], place: list[ir.Value], begin: Number, row: int, count: int
    ) -> None:
        """Rows from `row` on, as many terms of each."""
        p, wide = self.product, self.job.lanes
        rows = min(wide, self.width - row)
        lines = []
        for r in range(row, row + min(rows, max(0, count - row))):
            lines.append(self.factor.vector({**at, self.along: plus(begin, r)}, p.k[0], wide))
        zero = vector.BroadcastOp(ir.VectorType.get([wide], p.element), self._zero()).result
        lines += [zero] * (wide - len(lines))
        *tile, term = place
        for t, line in enumerate(turned(lines, p.bits)):
            part = line
            if rows < wide:
                narrow = ir.VectorType.get([rows], p.element)
                part = vector.ExtractStridedSliceOp(narrow, line, [0], [rows], [1]).result
            vector.StoreOp(part, self.into, [*tile, as_value(plus(term, t)), index_constant(row)])


def turned(lines: list[ir.Value], bits: int) -> list[ir.Value]:
    """A square of as many vectors as each has elements, its rows made columns."""
    wide = len(lines)
    columns = [list(range(wide))] * wide  # of the square that the elements of each line came from
    for size, low, high in exchanges(wide, max(1, PART // bits)):
        made, came = list(lines), list(columns)
        for n in (n for n in range(wide) if not n & size):
            for place, mask in ((n, low), (n + size, high)):
                made[place] = vector.ShuffleOp(lines[n], lines[n + size], mask).result
                both = columns[n] + columns[n + size]
                came[place] = [both[m] for m in mask]
        lines, columns = made, came
    return [line for _, line in sorted(zip((c[0] for c in columns), lines, strict=True), key=lambda x: x[0])]


def exchanges(wide: int, part: int) -> list[tuple[int, list[int], list[int]]]:
    """Steps that turn a square: lines so far apart change groups of so many elements, by two shuffles.

    Groups smaller than a part stay in their part of a register: one instruction each.
    """
    steps = []
    size = 1
    while size < wide:
        unit = part if size < part else wide
        low, high = (
            [
                source + begin + half + group + n
                for begin in range(0, wide, unit)
                for group in range(0, unit // 2, size)
                for source in (0, wide)
                for n in range(size)
            ]
            for half in (0, unit // 2)
        )
        steps.append((size, low, high))
        size *= 2
    return steps


def _multiple(number: ir.Value, of: int) -> ir.Value:
    return arith.AndIOp(number, index_constant(-of)).result
