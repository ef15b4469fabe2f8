"""Long chains of elementwise ops are fused chunk by chunk: upstream's fusion takes time with the square of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.passmanager import PassManager

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.code_size import CHAIN_CHUNK, CHAIN_RUN
from pykern.passes.framework import Pass
from pykern.passes.fusion.add_fusion_barriers import FUSION_BARRIER
from pykern.passes.fusion.elementwise_runs import join_runs
from pykern.passes.kernels import named

_FUSE = "builtin.module(func.func(linalg-fuse-elementwise-ops))"


@dataclass(frozen=True)
class FuseLongChains(Pass):
    """Fuse within chunks of so many ops, and again within chunks of what that leaves, until few ops are left.

    Upstream copies all that was fused before for each op that joins it. Programs of less than two chunks are left
    to it, and what is left here goes on to it. Runs of very many elementwise ops over one shape are joined before:
    where a value has two readers, chunks too would grow with the square of them.

    In:  linalg.generic on tensors.
    Out: the same, fewer of them.
    """

    name: ClassVar[str] = "kern-fuse-long-chains"

    chunk: int = CHAIN_CHUNK
    run_of: int = CHAIN_RUN

    def run(self, module: ir.Module) -> None:
        join_runs(module, self.run_of)
        fuse_in_chunks(module, self.chunk)


def fuse_in_chunks(module: ir.Module, chunk: int) -> None:
    """Upstream's fusion within chunks of so many ops, until there are less than two; the rest is left as it is."""
    before, generics = 0, named(module.operation, "linalg.generic")
    while len(generics) >= 2 * chunk and len(generics) != before:
        before = len(generics)
        _fuse(module, generics[chunk - 1 :: chunk])
        generics = named(module.operation, "linalg.generic")


def _fuse(module: ir.Module, ends: list[ir.Operation]) -> None:
    for op in ends:
        with ir.InsertionPoint.after(op), op.location:
            for result in op.results:
                ir.Operation.create(
                    FUSION_BARRIER, operands=[result], attributes={kern.CHUNK: ir.UnitAttr.get()}
                )
    fuse_elementwise(module)
    for op in named(module.operation, FUSION_BARRIER):
        if kern.CHUNK in op.attributes:
            op.erase()


def fuse_elementwise(module: ir.Module) -> None:
    """Upstream's fusion of elementwise ops, of which a result has one reader."""
    PassManager.parse(_FUSE).run(module.operation)
