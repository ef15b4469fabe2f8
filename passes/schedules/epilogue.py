"""What happens to finished sums: they join what memory holds, and what reads them is computed in the tile.

Comes in: a register tile and its sums. Goes out: stores. The op's body is the sum; where it has a second output,
what that yields is computed from the sum and further operands (bias, scale, residual), vector by vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith

if TYPE_CHECKING:
    from pykern.passes.schedules.register_tile import Tile


class Epilogue:
    """The end of one tile."""

    def __init__(self, tile: Tile) -> None:
        self.tile = tile

    def finish(self, sums: list[ir.Value]) -> None:
        tile = self.tile
        for r in range(tile.rows):
            for v, (lane, count) in enumerate(tile.vectors):
                value = sums[r * len(tile.vectors) + v]
                held = tile.held(tile.inputs, r, lane, count)
                if held is not None:
                    add = arith.AddFOp if isinstance(tile.element, ir.FloatType) else arith.AddIOp
                    value = add(held, value).result
                tile.write(tile.inputs, r, lane, count, value)
