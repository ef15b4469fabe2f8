"""A raised kernel, linalg on tensors, as loops over its arrays.

Comes in: functions marked `kern.raised`. Goes out: the same functions on memrefs, with loops: what the
CPU's pipeline takes after its own loops were made. Read next: `passes.raise_to_linalg`, `raised_buffers`.
"""

from __future__ import annotations

from pykern.lowering.llvm.raised_buffers import CopiesToLinalg, FreeBuffers
from pykern.passes.framework import Pipeline, Upstream
from pykern.passes.fusion.add_fusion_barriers import AddFusionBarriers
from pykern.passes.fusion.remove_fusion_barriers import RemoveFusionBarriers


def raised_pipeline() -> Pipeline:
    """From tensors to loops over memrefs."""
    return Pipeline(
        (
            Upstream("canonicalize,cse"),
            AddFusionBarriers(),  # what would be computed many times over stays apart
            Upstream("func.func(linalg-fuse-elementwise-ops)"),
            RemoveFusionBarriers(),
            Upstream("canonicalize,cse"),
            Upstream("eliminate-empty-tensors"),  # values made for one slice are made in it
            Upstream("one-shot-bufferize,canonicalize,cse"),
            Upstream("convert-bufferization-to-memref"),
            CopiesToLinalg(),
            Upstream("func.func(convert-linalg-to-loops)"),
            Upstream("func.func(buffer-loop-hoisting),canonicalize,cse"),  # one allocation for all iterations
            FreeBuffers(),
            Upstream("loop-invariant-code-motion"),
        )
    )
