"""Cheap elementwise ops become one before they are reversed.

The slices of a stencil then meet in one op, whose adjoint is one gather (`stencil`); apart, each slice is
added to the cotangent on its own, over memory again and again. Reductions, and what is worth keeping
rather than computing again for the adjoint (anything but additions and multiplications), stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from pykern.passes.analysis.cost_model.code_size import CHAIN_CHUNK
from pykern.passes.fusion.add_fusion_barriers import FUSION_BARRIER
from pykern.passes.fusion.fuse_long_chains import fuse_elementwise, fuse_in_chunks
from pykern.passes.fusion.remove_fusion_barriers import RemoveFusionBarriers
from pykern.passes.ir.structured import indexing_maps, reduces
from pykern.passes.kernels import named

_CHEAP = {"arith.addf", "arith.subf", "arith.mulf", "arith.negf", "arith.constant", "linalg.yield"}


def join_cheap(module: ir.Module) -> None:
    """Fuse elementwise ops that only add and multiply, where a result has one reader."""
    generics = named(module.operation, "linalg.generic")
    dear = [op for op in generics if not _is_cheap(op)]
    if len(generics) - len(dear) < 2:
        return
    for op in dear:
        with op.location:
            _hold(op.operands, ir.InsertionPoint(op))
            _hold(op.results, ir.InsertionPoint.after(op))
    fuse_in_chunks(module, CHAIN_CHUNK)  # upstream alone takes the square of a chain
    fuse_elementwise(module)
    RemoveFusionBarriers().run(module)


def _hold(values: Iterable[ir.Value], place: ir.InsertionPoint) -> None:
    """A second reader: upstream fuses only what has one."""
    with place:
        for value in values:
            if isinstance(value.type, ir.RankedTensorType):
                ir.Operation.create(FUSION_BARRIER, operands=[value])


def _is_cheap(op: ir.Operation) -> bool:
    return (
        not reduces(op)
        and all(m.is_permutation for m in indexing_maps(op))
        and all(inner.operation.name in _CHEAP for inner in op.regions[0].blocks[0].operations)
    )
