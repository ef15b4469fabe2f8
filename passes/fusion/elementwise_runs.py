"""Long runs of elementwise ops become one op each, at once.

Comes in: a module with `linalg.generic` on tensors. Goes out: the same, where ops that go over the same elements one by
one, many of them in a row, are one. Used by `fuse_long_chains`, for what upstream does in the square of their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.fusion.joined_op import join_ops
from pykern.passes.ir.structured import Structured, reduces
from pykern.passes.ir.values import has_uses


@dataclass
class Run:
    """Elementwise ops over one shape, in the order of their block."""

    shape: tuple[int, ...]
    members: list[ir.Operation] = field(default_factory=list)
    results: set[ir.Value] = field(default_factory=set)


def join_runs(module: ir.Module, least: int) -> None:
    """Join runs of at least so many ops. What stands between them reads none of their results."""
    for block in [
        b for op in module.body.operations for region in op.operation.regions for b in region.blocks
    ]:
        for run in list(_runs(block)):
            if len(run.members) >= least:
                join_ops(run.members)


def _runs(block: ir.Block) -> Iterator[Run]:
    run = Run(())
    for op in block.operations:
        shape = _elementwise_shape(op.operation)
        if shape is not None and (shape == run.shape or not run.members):
            run.shape = shape
            run.members.append(op.operation)
            run.results.update(op.operation.results)
        elif run.members and (
            op.operation.regions or any(value in run.results for value in op.operation.operands)
        ):
            yield run
            run = Run(())
            if shape is not None:
                run = Run(shape, [op.operation], set(op.operation.results))
    yield run


def _elementwise_shape(op: ir.Operation) -> tuple[int, ...] | None:
    """The lengths that an op goes over, if it computes each element of its results from those of its operands."""
    if op.name != "linalg.generic" or not op.results or reduces(op):
        return None
    types = [value.type for value in op.operands]
    if not all(isinstance(kind, ir.RankedTensorType) and kind.has_static_shape for kind in types):
        return None
    view = Structured(op)
    identity = ir.AffineMap.get_identity(view.loops, op.context)
    reads_initial = any(map(has_uses, view.arguments[len(view.inputs) :]))
    if reads_initial or any(one != identity for one in view.maps) or any(each.regions for each in view.ops):
        return None
    return tuple(ir.RankedTensorType(types[0]).shape)
