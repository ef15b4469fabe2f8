"""Behind upstream's fusion: the barriers of `add_fusion_barriers` go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.fusion.add_fusion_barriers import FUSION_BARRIER
from pykern.passes.kernels import named


@dataclass(frozen=True)
class RemoveFusionBarriers(Pass):
    """Remove the ops that `kern-add-fusion-barriers` made.

    In:  `bufferization.dealloc_tensor` ops.
    Out: none.
    """

    name: ClassVar[str] = "kern-remove-fusion-barriers"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, FUSION_BARRIER):
            op.erase()
