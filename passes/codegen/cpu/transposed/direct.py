"""The direct form: a square is transposed in registers, computed with, and written.

Comes in: what `squares` takes. Goes out: the op's body on vectors along the lane, once for every line of a square.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import vector

from pykern.passes.codegen.cpu.transposed.squares import Range, Squares
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.lengths import as_value, plus
from pykern.passes.ir.values import free_values
from pykern.passes.kernels import body
from pykern.passes.vectorize.lanes import LaneEmitter


@dataclass
class DirectSquares(Squares):
    """Bodies of a few elementwise ops."""

    def _block(self, line: Range, lane: Range) -> None:
        transposition = self.transposition
        with self._each_square(self._whole(transposition.line, line), self._whole(transposition.lane, lane)):
            lines = {n: self._transposed(n) for n in transposition.inputs if self._is_read(n)}
            begin = self.counters[transposition.line]
            for r in range(transposition.side):
                self.counters[transposition.line] = as_value(plus(begin, r))
                self._results({n: each[r] for n, each in lines.items()})

    def _results(self, lines: dict[int, ir.Value]) -> None:
        """The body for one line of a square."""
        block, emitter = body(self.space.op), LaneEmitter(self.transposition.side)
        emitter.give({v: v for v in free_values(self.space.op, nested_only=True)})
        for n, argument in enumerate(block.arguments):
            if self._is_read(n):
                emitter.give({argument: lines[n] if n in lines else self._read(n)})
        for n, result in enumerate(terminator_operands(block), self.space.inputs):
            vector.StoreOp(emitter.evaluated(result), self.collapsed[n], self._indices(n))

    def _read(self, n: int) -> ir.Value:
        """Elements of an operand along the lane, or the one that stands for all of them."""
        return self._vector(n) if n in self.transposition.along else self._load(n)

    def indices_to_counters(self) -> None:
        """Nothing to do: a body that runs on vectors has no indices."""
