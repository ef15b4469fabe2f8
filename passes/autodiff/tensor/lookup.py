"""The cotangent of a tensor read at computed places: what flows to each read, and where, then one loop.

Two reads may meet at one place, so the sum runs in order; all arithmetic stays in a parallel op.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import scf, tensor

from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output, combined
from pykern.passes.autodiff.tensor.cotangents import zero
from pykern.passes.autodiff.tensor.frame import Frame
from pykern.passes.autodiff.tensor.gates import MaybeGate, byte, closed, either
from pykern.passes.autodiff.tensor.sweep import backward
from pykern.passes.autodiff.tensor.targets import Lookup
from pykern.passes.autodiff.tensor.values import identity_map
from pykern.passes.ir.lengths import as_value, empty, sizes_of

if TYPE_CHECKING:
    from pykern.passes.autodiff.tensor.structured_reverse import Adjoint


def add_lookups(adjoint: Adjoint, lookups: list[Lookup]) -> None:
    """Add what flows to each read to the cotangent of the tensor read."""
    for lookup in lookups:
        _add(adjoint, lookup)


def _add(adjoint: Adjoint, lookup: Lookup) -> None:
    op, read = adjoint.op, lookup.extract.results[0]
    cotangents = adjoint.cotangents
    builder = GenericBuilder(op.loops, lambda: op.extents)
    with builder.body:
        frame = Frame(op, adjoint.scope, builder)
        flowing = backward(
            op, frame.primal, [seed.flow(frame, adjoint.risky) for seed in adjoint.seeds], [read]
        )
        places = [frame.primal.value(place) for place in list(lookup.extract.operands)[1:]]
        flow = flowing[read].settled() if read in flowing else None
    if flow is None:
        builder.drop()
        return
    map = identity_map(op.loops)
    values = [flow, *places]
    flow, *places = builder.finish([Output(empty(op.extents, v.type), map, v) for v in values])
    known, held = cotangents.gate(lookup.value), cotangents.take(lookup.value)
    gate = _gate(adjoint, read, lookup.value, places)
    start = zero(lookup.value, adjoint.scope) if held is None else held
    total = _scattered(flow, places, op.extents, start, [])
    cotangents.add(lookup.value, total, gate if held is None else either(known, gate))


def _gate(adjoint: Adjoint, read: ir.Value, source: ir.Value, places: list[ir.Value]) -> MaybeGate:
    """Open at the places of which a read gets something."""
    if not adjoint.closes([read]):
        return None

    def made() -> ir.Value:
        builder = GenericBuilder(adjoint.op.loops, lambda: adjoint.op.extents)
        map = identity_map(adjoint.op.loops)
        with builder.body:
            open = adjoint.open(Frame(adjoint.op, adjoint.scope, builder), [read])
        (flags,) = builder.finish([Output(empty(adjoint.op.extents, byte()), map, open)])
        start = closed(sizes_of(adjoint.scope.value(source)))
        return _scattered(flags, places, adjoint.op.extents, start, [])

    return made


def _scattered(
    flow: ir.Value, places: list[ir.Value], extents: list[int], into: ir.Value, at: list[ir.Value]
) -> ir.Value:
    """`into`, with every element of `flow` added at its place, or of bits whether there is one."""
    if len(at) == len(extents):
        where = [tensor.extract(place, at) for place in places]
        total = combined(tensor.extract(into, where), tensor.extract(flow, at))
        return tensor.insert(total, into, where)
    loop = scf.ForOp(as_value(0), as_value(extents[len(at)]), as_value(1), [into])
    with ir.InsertionPoint(loop.body):
        inner = [*at, loop.induction_variable]
        scf.YieldOp([_scattered(flow, places, extents, loop.inner_iter_args[0], inner)])
    return loop.results[0]
