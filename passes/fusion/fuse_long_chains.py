"""Long chains of elementwise ops are fused piece by piece: upstream's fusion takes time with the square of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.passmanager import PassManager

from pykern.passes.framework import Pass
from pykern.passes.fusion.elementwise_runs import join_runs
from pykern.passes.fusion.hold_fusion import HOLD
from pykern.passes.kernels import named

_FUSE = "builtin.module(func.func(linalg-fuse-elementwise-ops))"
_MARK = "kern.piece"
PIECE = 16
"""Ops of a piece."""


@dataclass(frozen=True)
class FuseLongChains(Pass):
    """Fuse within pieces of so many ops, and again within pieces of what that leaves, until few ops are left.

    Upstream copies all that was fused before for each op that joins it. Programs of less than two pieces are left
    to it, and what is left here goes on to it. Runs of very many elementwise ops over one shape are joined before:
    where a value has two readers, pieces too would grow with the square of them.

    In:  linalg.generic on tensors.
    Out: the same, fewer of them.
    """

    name: ClassVar[str] = "kern-fuse-long-chains"

    piece: int = PIECE
    run_of: int = 128

    def run(self, module: ir.Module) -> None:
        join_runs(module, self.run_of)
        fuse_pieces(module, self.piece)


def fuse_pieces(module: ir.Module, piece: int) -> None:
    """Upstream's fusion within pieces of so many ops, until there are less than two; the rest is left as it is."""
    before, generics = 0, named(module.operation, "linalg.generic")
    while len(generics) >= 2 * piece and len(generics) != before:
        before = len(generics)
        _fuse(module, generics[piece - 1 :: piece])
        generics = named(module.operation, "linalg.generic")


def _fuse(module: ir.Module, ends: list[ir.Operation]) -> None:
    for op in ends:
        with ir.InsertionPoint.after(op), op.location:
            for result in op.results:
                ir.Operation.create(HOLD, operands=[result], attributes={_MARK: ir.UnitAttr.get()})
    PassManager.parse(_FUSE).run(module.operation)
    for op in named(module.operation, HOLD):
        if _MARK in op.attributes:
            op.erase()
