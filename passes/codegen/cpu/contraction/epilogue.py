"""What happens to finished sums: they join what memory holds, and what reads them is computed in the tile.

Comes in: a register tile and its sums. Goes out: stores. The op's body is the sum; where it has a second output,
what that yields is computed from the sum and further operands (bias, scale, residual), vector by vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.passes.codegen.cpu.contraction.edges import Cut
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, as_value
from pykern.passes.ir.loops import Counted
from pykern.passes.ir.values import arguments_behind
from pykern.passes.kernels import body, function_around, index_constant
from pykern.passes.vectorize.lanes import computed

if TYPE_CHECKING:
    from pykern.passes.codegen.cpu.contraction.register_tile import Tile


class Epilogue:
    """The end of one tile."""

    def __init__(self, tile: Tile) -> None:
        self.tile = tile

    def begin(self) -> list[ir.Value]:
        """What sums start from: zero, or where their order is to be kept what they are added to."""
        tile = self.tile
        count = tile.rows * len(tile.vectors)
        return self._totals([None] * count) if self.ordered else [constant(tile.kind, 0)] * count

    @property
    def ordered(self) -> bool:
        return bool(self.tile.marks.get("ordered", 0))

    def finish(self, sums: list[ir.Value]) -> None:
        tile = self.tile
        whole = None if tile.cut is None else tile.cut.whole
        if tile.cut is None or whole is None:
            self._whole(sums)
            return
        cut = tile.cut
        if not self.reads:
            _either(whole, lambda: self._whole(sums), lambda: self._cut(sums, cut, self._line))
        elif tile.marks["last"] < 0:
            self._cut(sums, cut, self._read_line)
        else:
            last = tile.op.operands[tile.marks["last"]]
            _either(
                last, lambda: self._cut(sums, cut, self._read_line), lambda: self._cut(sums, cut, self._line)
            )

    def _whole(self, sums: list[ir.Value]) -> None:
        tile = self.tile
        totals = sums if self.ordered else self._totals(list(sums))
        last = tile.marks.get("last", -1)
        if not self.reads:
            self._store(totals)
        elif last < 0:
            self._read(totals)
        else:
            _either(tile.op.operands[last], lambda: self._read(totals), lambda: self._store(totals))

    @property
    def reads(self) -> bool:
        """Whether something is computed from the finished sums."""
        return len(self.tile.op.operands) > self.tile.inputs + 1

    def _totals(self, sums: list[ir.Value | None]) -> list[ir.Value]:
        """The sums (None: nothing yet) with what they start from: one branch for all of them."""
        tile = self.tile
        start, first = tile.marks.get("start", -1), tile.marks.get("first", -1)
        if start < 0:
            return self._added(sums)
        if first < 0:
            return self._started(sums, start)
        branch = scf.IfOp(tile.op.operands[first], [tile.kind] * len(sums), has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp(self._started(sums, start))
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp(self._added(sums))
        return list(branch.results)

    def _started(self, sums: list[ir.Value | None], start: int) -> list[ir.Value]:
        value = self.tile.start(start)
        if value is None:
            return [constant(self.tile.kind, 0) if each is None else each for each in sums]
        return [self._add(value, each) for each in sums]

    def _added(self, sums: list[ir.Value | None]) -> list[ir.Value]:
        """The sums added to the values in memory."""
        tile, made = self.tile, []
        for n, value in enumerate(sums):
            lane, count = tile.vectors[n % len(tile.vectors)]
            held = tile.read(tile.inputs, n // len(tile.vectors), lane, count, {})
            made.append(self._add(held, value))
        return made

    def _add(self, held: ir.Value, value: ir.Value | None) -> ir.Value:
        if value is None:
            return held
        is_float = isinstance(self.tile.element, ir.FloatType)
        return (arith.AddFOp if is_float else arith.AddIOp)(held, value).result

    def _cut(self, sums: list[ir.Value], cut: Cut, line: Callable[[ir.Value, ir.Value, int], None]) -> None:
        """Row by row those that are there, by `line`: the last tiles are few, and this is little code."""
        tile = self.tile
        buffer = self._buffered(sums)
        columns = sum(count for _, count in tile.vectors)
        with self._rows(cut.rows) as r:
            if cut.whole_lanes is None:
                line(buffer, r, columns)
            elif cut.whole_rows is None and not self.reads:  # only what is cut off comes here
                line(buffer, r, cut.lanes)
            else:
                _either(cut.whole_lanes, lambda: line(buffer, r, columns), lambda: line(buffer, r, cut.lanes))

    def _line(self, buffer: ir.Value, row: ir.Value, columns: int) -> None:
        """Store some sums of a row."""
        for lane, count, total in self._line_of_totals(buffer, row, columns):
            self.tile.write(self.tile.inputs, row, lane, count, total)

    def _read_line(self, buffer: ir.Value, row: ir.Value, columns: int) -> None:
        """Compute the reader of some sums of a row."""
        for lane, count, total in self._line_of_totals(buffer, row, columns):
            self.tile.write(self.tile.inputs + 1, row, lane, count, self._value(total, row, lane, count))

    def _line_of_totals(
        self, buffer: ir.Value, row: ir.Value, columns: int
    ) -> Iterator[tuple[int, int, ir.Value]]:
        """Lanes, how many of them are there, and their sums with what these start from."""
        tile = self.tile
        start, first = tile.marks.get("start", -1), tile.marks.get("first", -1)
        for lane in range(0, columns, tile.width):
            count = min(tile.width, columns - lane)
            value = vector.LoadOp(tile.kind, buffer, [row, index_constant(lane)]).result
            if start < 0 or first >= 0:
                total = self._add(tile.read(tile.inputs, row, lane, count, {}), value)
            if start >= 0:
                [begun] = self._started([value], start)
                total = begun if first < 0 else arith.SelectOp(tile.op.operands[first], begun, total).result
            yield lane, count, total

    def _store(self, totals: list[ir.Value]) -> None:
        """The sums themselves."""
        tile = self.tile
        for n, value in enumerate(totals):
            lane, count = tile.vectors[n % len(tile.vectors)]
            tile.write(tile.inputs, n // len(tile.vectors), lane, count, value)

    def _read(self, totals: list[ir.Value]) -> None:
        """What reads the sums; they go through memory of the tile, so that its code stands there once."""
        tile = self.tile
        buffer = self._buffered(totals)
        with self._rows(tile.rows) as r:
            for lane, count in tile.vectors:
                total = vector.LoadOp(tile.kind, buffer, [r, index_constant(lane)]).result
                tile.write(tile.inputs + 1, r, lane, count, self._value(total, r, lane, count))

    def _rows(self, number: Number) -> Counted:
        return Counted(index_constant(0), as_value(number), 1, alone=True)

    def _buffered(self, sums: list[ir.Value]) -> ir.Value:
        """The sums of a tile in memory, so that a loop can go over its rows."""
        tile = self.tile
        wide = len(tile.vectors)
        buffer = self._buffer(tile.rows, wide * tile.width)
        for n, value in enumerate(sums):
            row, lane = index_constant(n // wide), index_constant(n % wide * tile.width)
            vector.StoreOp(value, buffer, [row, lane])
        return buffer

    def _buffer(self, rows: int, columns: int) -> ir.Value:
        """Memory of the function's own: made once, not in every iteration."""
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 64)
        with ir.InsertionPoint.at_block_begin(body(function_around(self.tile.op))):
            kind = ir.MemRefType.get([rows, columns], self.tile.element)
            return memref.AllocaOp(kind, [], [], alignment=alignment).result

    def _value(self, total: ir.Value, row: Number, lane: int, count: int) -> ir.Value:
        """The body behind the sum, over vectors."""
        tile, block = self.tile, body(self.tile.op)
        first, second = terminator_operands(block)
        known = {first: total}
        needed = arguments_behind(second, known)
        for n, argument in enumerate(block.arguments):
            if argument in needed:
                known[argument] = tile.read(n, row, lane, count, {})
        return computed(second, known, tile.width)


def _either(condition: ir.Value, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Build an scf.if whose branches the two functions emit."""
    branch = scf.IfOp(condition, has_else=True)
    for block, emit in ((branch.then_block, then), (branch.else_block, otherwise)):
        with ir.InsertionPoint(block):
            emit()
            scf.YieldOp([])
