"""A raised kernel, linalg on tensors, as plain loops over its arrays: upstream's lowerings, no schedule of ours.

Upstream's deallocation keeps account of ownership in buffers of i1, which its lowering to LLVM does not
take. Here loops carry buffers that stay in their place, so that no account is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import linalg, memref

from pykern.errors import PassError
from pykern.passes.framework import Pass, Pipeline, Upstream
from pykern.passes.fusion.add_fusion_barriers import AddFusionBarriers
from pykern.passes.fusion.remove_fusion_barriers import RemoveFusionBarriers
from pykern.passes.kernels import named


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


@dataclass(frozen=True)
class CopiesToLinalg(Pass):
    """Copies between arrays become linalg, and loops with it.

    In:  memref.copy, for which the lowering of memrefs calls a runtime library, element by element.
    Out: linalg.copy. A copy of a buffer to itself is gone.
    """

    name: ClassVar[str] = "kern-copies-to-linalg"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "memref.copy"):
            source, target = op.operands
            if source != target:
                with ir.InsertionPoint(op), op.location:
                    linalg.copy(source, outs=[target])
            op.erase()


@dataclass(frozen=True)
class FreeBuffers(Pass):
    """Give every buffer back at the end of the block that took it.

    In:  memref.alloc of which nothing is left after its block. Out: a memref.dealloc for each.
    """

    name: ClassVar[str] = "kern-free-buffers"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "memref.alloc"):
            if _leaves(op.results[0], op.block):
                raise PassError("a buffer outlives the block it was made in")
            end = op.block.operations[len(op.block.operations) - 1]
            with ir.InsertionPoint(end), op.location:
                memref.DeallocOp(op.results[0])


def _leaves(buffer: ir.Value, block: ir.Block) -> bool:
    """Whether the buffer, or a view of it, is handed out of the block."""
    for use in buffer.uses:
        user = use.owner.operation
        if user.name == "scf.yield":
            around = user.parent
            assert around is not None
            if user.block == block or _leaves(around.operation.results[use.operand_number], block):
                return True
        elif any(_leaves(r, block) for r in user.results if isinstance(r.type, ir.MemRefType)):
            return True
    return False
