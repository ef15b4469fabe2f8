"""The staged form: a block of every transposed input is transposed into memory of the function's own, then the op's
loops run over the block.

Comes in: what `squares` takes. Goes out: loops that transpose, and for each line of the block a loop along the lane,
as `emit` has it, for any body; passes behind make vectors of it and write past the cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import memref, vector

from pykern.passes.analysis.cost_model.caches import LINE_BYTES
from pykern.passes.codegen.cpu.contraction.product import width
from pykern.passes.codegen.cpu.transposed.squares import Range, Squares
from pykern.passes.ir.lengths import as_value, minus, plus
from pykern.passes.ir.loops import Counted


@dataclass
class StagedSquares(Squares):
    """Each element of the results is computed once: they may be read, too."""

    stages: dict[int, ir.Value] = field(default_factory=dict)

    def emit(self) -> None:
        self.stages = {n: self._stage(n) for n in self.transposition.inputs if self._is_read(n)}
        super().emit()

    def _stage(self, n: int) -> ir.Value:
        """Memory for a block, its rows a cache line longer: those a power of two apart would share lines."""
        element = self._element(n)
        rows, columns = (
            self.transposition.blocks[group] for group in (self.transposition.line, self.transposition.lane)
        )
        kind = ir.MemRefType.get([rows, columns + LINE_BYTES * 8 // width(element)], element)
        return memref.AllocaOp(kind, [], [], alignment=LINE_BYTES).result

    def _block(self, line: Range, lane: Range) -> None:
        transposition = self.transposition
        whole = {
            transposition.line: self._whole(transposition.line, line),
            transposition.lane: self._whole(transposition.lane, lane),
        }
        self.begins = {group: block[0] for group, block in whole.items()}
        with self._each_square(whole[transposition.line], whole[transposition.lane]):
            for n, stage in self.stages.items():
                first, lane_at = self._in_block()
                for r, vectors in enumerate(self._transposed(n)):
                    vector.StoreOp(vectors, stage, [as_value(plus(first, r)), lane_at])
        self.bounds |= {transposition.line: line, transposition.lane: lane}
        with Counted(*line, 1, alone=True) as self.counters[transposition.line]:
            self._nest([transposition.lane], self._in_memory)

    def _load(self, n: int) -> ir.Value:
        if n in self.stages:
            return memref.LoadOp(self.stages[n], self._in_block()).result
        return super()._load(n)

    def _in_block(self) -> list[ir.Value]:
        """The indices of line and lane within the block."""
        return [
            as_value(minus(self.counters[g], self.begins[g]))
            for g in (self.transposition.line, self.transposition.lane)
        ]
