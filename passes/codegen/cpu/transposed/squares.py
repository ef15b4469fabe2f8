"""Squares of transposed inputs, block by block.

Comes in: a `Transposition` and the op's operands as the new function has them. Goes out: loops over blocks of squares
at the insertion point. A square is as many vectors as each has elements, read along their own lines and transposed by
shuffles. The last squares share elements with the ones before where a length is no multiple.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import vector

from pykern.passes.analysis.cost_model.registers import EXCHANGE_BITS
from pykern.passes.codegen.cpu.contraction.product import width
from pykern.passes.codegen.cpu.loop_nest.emit import Loops
from pykern.passes.codegen.cpu.transposed.find import Transposition
from pykern.passes.ir.lengths import as_value, least, minus, plus
from pykern.passes.ir.loops import Counted
from pykern.passes.vectorize.square import transposed_square

Range = tuple[ir.Value, ir.Value]
"""The begin and end of a range."""


@dataclass
class Squares(Loops):
    """What both forms share. `bounds` of lane and line, if given, begin and end with a block or the last element."""

    transposition: Transposition = field(kw_only=True)

    def emit(self) -> None:
        transposition = self.transposition
        self.collapsed = [self._collapse(n) for n in range(len(self.operands))]
        self._nest(
            [g for g in self.space.order if g not in (transposition.lane, transposition.line)],
            self._in_blocks_of_both,
        )

    def _in_blocks_of_both(self) -> None:
        with self._blocks(self.transposition.line) as line, self._blocks(self.transposition.lane) as lane:
            self._block(line, lane)

    def _block(self, line: Range, lane: Range) -> None:
        raise NotImplementedError

    @contextlib.contextmanager
    def _blocks(self, group: int) -> Iterator[Range]:
        """Loop over blocks; gives the begin and end of each."""
        size, length = self.transposition.blocks[group], self.space.lengths[group]
        with Counted(*self._bounds(group), size, alone=True) as begin:
            yield begin, as_value(least(plus(begin, size), length))

    def _whole(self, group: int, block: Range) -> Range:
        """The same block, or as many elements that end where it ends: one that has room for a square."""
        size, length = self.transposition.blocks[group], self.space.lengths[group]
        if length % self.transposition.side == 0:
            return block
        begin = as_value(least(block[0], length - size))
        return begin, as_value(plus(begin, size))

    @contextlib.contextmanager
    def _each_square(self, line: Range, lane: Range) -> Iterator[None]:
        """One square of a block after the other: all along a line, where transposed inputs lie, then the next ones."""
        transposition, counters = self.transposition, self.counters
        with (
            self._places(transposition.lane, lane) as counters[transposition.lane],
            self._places(transposition.line, line) as counters[transposition.line],
        ):
            yield

    @contextlib.contextmanager
    def _places(self, group: int, block: Range) -> Iterator[ir.Value]:
        """Loop over the places where squares begin; the last square begins where a whole one still fits."""
        side = self.transposition.side
        with Counted(*block, side, alone=True) as begin:
            even = self.space.lengths[group] % side == 0
            yield begin if even else as_value(least(begin, minus(block[1], side)))

    def _transposed(self, n: int) -> list[ir.Value]:
        """An input's square, read along its own lines, as vectors along the lane."""
        transposition, begin = self.transposition, self.counters[self.transposition.lane]
        lines = []
        for k in range(transposition.side):
            self.counters[transposition.lane] = as_value(plus(begin, k))
            lines.append(self._vector(n))
        self.counters[transposition.lane] = begin
        return transposed_square(lines, max(width(self._element(n)), EXCHANGE_BITS // transposition.side))

    def _vector(self, n: int) -> ir.Value:
        """Elements of an operand that lie side by side."""
        return vector.LoadOp(self._in_lanes(self._element(n)), self.collapsed[n], self._indices(n)).result

    def _element(self, n: int) -> ir.Type:
        return ir.MemRefType(self.operands[n].type).element_type

    def _in_lanes(self, element: ir.Type) -> ir.Type:
        return ir.VectorType.get([self.transposition.side], element)
