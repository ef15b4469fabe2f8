"""The cotangent of a tensor of which shifted slices meet in one op: one gather over the tensor.

What flows to the slices is padded with zeros once, and each element of the tensor sums up what comes
back from its neighbours: no scatter, no atomics. Where the body reads nothing of the primal that is
the result's own cotangent, and the body's adjoint happens in the gather.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.passes.autodiff.raised.builder import GenericBuilder, Output
from pykern.passes.autodiff.raised.clone import defining
from pykern.passes.autodiff.raised.cotangents import blank
from pykern.passes.autodiff.raised.frame import Frame
from pykern.passes.autodiff.raised.targets import Target
from pykern.passes.autodiff.raised.values import constant, element, empty, identity_map, shape

if TYPE_CHECKING:
    from pykern.passes.autodiff.raised.structured_reverse import Adjoint


def add_slices(adjoint: Adjoint, source: ir.Value, cuts: list[Target]) -> None:
    """Add what flows to the slices `cuts` of `source` to the cotangent of `source`."""
    parts = _parts(adjoint, cuts)
    if not parts:
        return
    rank, sizes = len(shape(source)), shape(source)
    offsets = {target: _offsets(target) for target, _ in parts}
    low = [max(offsets[target][d] for target, _ in parts) for d in range(rank)]
    builder = GenericBuilder(rank)
    padded: dict[ir.Value, ir.Value] = {}
    total = None
    for target, part in parts:
        if part not in padded:
            room = [max(low[d] + shape(part)[d], low[d] + sizes[d]) for d in range(rank)]
            high = [room[d] - low[d] - shape(part)[d] for d in range(rank)]
            padded[part] = _pad(part, low, high)
        moved = _cut(padded[part], [low[d] - offsets[target][d] for d in range(rank)], sizes)
        with builder.body:
            here = builder.input(moved, identity_map(rank))
            total = here if total is None else arith.addf(total, here)
    held = adjoint.cotangents.take(source)
    init = blank(source, adjoint.scope) if held is None else held
    result = builder.finish([Output(init, identity_map(rank), total, accumulate=held is not None)])[0]
    adjoint.cotangents.add(source, result)


def _parts(adjoint: Adjoint, cuts: list[Target]) -> list[tuple[Target, ir.Value]]:
    """The cotangent of every slice, as tensors; slices to which the same flows share one."""
    builder = GenericBuilder(adjoint.op.loops)
    with builder.body:
        swept = adjoint.swept(Frame(adjoint.op, adjoint.scope, builder), cuts)
    distinct = list(dict.fromkeys(value for _, value in swept))
    if not distinct:
        builder.drop()
        return []
    map = identity_map(adjoint.op.loops)
    outputs = [Output(empty(adjoint.op.extents, v.type), map, v) for v in distinct]
    tensors = dict(zip(distinct, builder.finish(outputs), strict=True))
    return [(target, tensors[value]) for target, value in swept]


def _offsets(target: Target) -> list[int]:
    cut = defining(target.value)
    assert cut is not None
    return list(ir.DenseI64ArrayAttr(cut.attributes["static_offsets"]))


def _pad(value: ir.Value, low: list[int], high: list[int]) -> ir.Value:
    sizes = [a + n + b for a, n, b in zip(low, shape(value), high, strict=True)]
    op = tensor.PadOp(ir.RankedTensorType.get(sizes, element(value.type)), value, [], [], low, high)
    block = op.regions[0].blocks.append(*[ir.IndexType.get()] * len(sizes))
    with ir.InsertionPoint(block):
        tensor.YieldOp(constant(element(value.type), 0.0))
    return op.result


def _cut(value: ir.Value, offsets: list[int], sizes: list[int]) -> ir.Value:
    if shape(value) == sizes:
        return value
    type = ir.RankedTensorType.get(sizes, element(value.type))
    return tensor.extract_slice(type, value, [], [], [], offsets, sizes, [1] * len(sizes))
