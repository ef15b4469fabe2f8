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
    rank = len(shape(source))
    builder = GenericBuilder(rank)
    moves = _Moves(builder, shape(source), [_offsets(target) for target in cuts])
    parts = _parts(adjoint, cuts)
    total = None
    for target in cuts:
        here = None
        if parts is None:
            frame = _MovedFrame(adjoint, builder, moves, _offsets(target))
            with builder.body:
                here = next((value for _, value in adjoint.swept(frame, [target])), None)
        elif target in parts:
            here = moves.element(parts[target], _offsets(target))
        if here is not None:
            with builder.body:
                total = here if total is None else arith.addf(total, here)
    if total is None:
        builder.drop()
        return
    held = adjoint.cotangents.take(source)
    init = blank(source, adjoint.scope) if held is None else held
    result = builder.finish([Output(init, identity_map(rank), total, accumulate=held is not None)])[0]
    adjoint.cotangents.add(source, result)


def _parts(adjoint: Adjoint, cuts: list[Target]) -> dict[Target, ir.Value] | None:
    """The cotangent of every slice, as tensors; slices to which the same flows share one.

    None where the gather can compute them itself: the body's adjoint reads cotangents alone.
    """
    builder = GenericBuilder(adjoint.op.loops, lambda: adjoint.op.extents)
    map = identity_map(adjoint.op.loops)
    with builder.body:
        frame = Frame(adjoint.op, adjoint.scope, builder)
        swept = adjoint.swept(frame, cuts)
    if not swept or (not frame.reads_primal and builder.maps == {str(map)}):
        builder.drop()
        return None if swept else {}
    distinct = list(dict.fromkeys(value for _, value in swept))
    outputs = [Output(empty(adjoint.op.extents, v.type), map, v) for v in distinct]
    tensors = dict(zip(distinct, builder.finish(outputs), strict=True))
    return {target: tensors[value] for target, value in swept}


class _Moves:
    """Tensors over the slices' places, padded once, and read from the source's places."""

    def __init__(self, builder: GenericBuilder, sizes: list[int], offsets: list[list[int]]) -> None:
        self.builder, self.sizes = builder, sizes
        self.low = [max(column) for column in zip(*offsets, strict=True)]
        self._padded: dict[ir.Value, ir.Value] = {}
        self._moved: dict[tuple[ir.Value, tuple[int, ...]], ir.Value] = {}

    def element(self, value: ir.Value, offsets: list[int]) -> ir.Value:
        """At each place of the source the element of `value` from the slice at `offsets`."""
        key = (value, tuple(offsets))
        if key not in self._moved:
            if value not in self._padded:
                room = [max(n, size) for n, size in zip(shape(value), self.sizes, strict=True)]
                high = [total - n for total, n in zip(room, shape(value), strict=True)]
                self._padded[value] = _pad(value, self.low, high)
            start = [low - offset for low, offset in zip(self.low, offsets, strict=True)]
            self._moved[key] = _cut(self._padded[value], start, self.sizes)
        return self.builder.input(self._moved[key], identity_map(len(self.sizes)))


class _MovedFrame(Frame):
    """The body's adjoint at a place of the source, for the slice at `offsets`."""

    def __init__(self, adjoint: Adjoint, builder: GenericBuilder, moves: _Moves, offsets: list[int]) -> None:
        super().__init__(adjoint.op, adjoint.scope, builder)
        self.moves, self.offsets = moves, offsets

    def bring(self, value: ir.Value, map: ir.AffineMap) -> ir.Value:
        with self.scope.here:
            return self.moves.element(value, self.offsets)


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
