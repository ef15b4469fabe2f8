"""Register tiles become vector code, each by what it is: of numbers, or of narrow ones in pairs and quads.

Comes in: linalg.generic marked `kern.tile`, of known lengths. Goes out: what `register_tile` and `narrow_tile` write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.codegen.cpu.contraction.narrow_tile import NarrowTile
from pykern.passes.codegen.cpu.contraction.register_tile import Tile
from pykern.passes.framework import Pass
from pykern.passes.kernels import named


@dataclass(frozen=True)
class EmitRegisterTiles(Pass):
    """Turn register tiles into vectors.

    In:  linalg.generic on buffers, marked `kern.tile`.
    Out: vector and arith ops in loops over terms.
    """

    name: ClassVar[str] = "kern-emit-register-tiles"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "linalg.generic"):
            if kern.TILE in op.attributes:
                with ir.InsertionPoint(op), op.location:
                    _emit(op)
                op.erase()


def _emit(op: ir.Operation) -> None:
    tile = NarrowTile if kern.DOT in op.attributes else Tile
    tile(op).emit()
