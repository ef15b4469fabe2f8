"""The cotangent of a tensor read at computed places: what flows to each read, and where, then one loop.

Two reads may meet at one place, so the sum runs in order; all arithmetic stays in parallel ops.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from pykern.passes.ir.structured import Structured, loops_in
from pykern.passes.ir.values import defining, free_values, made_by

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
        flow = flowing[read].settled() if read in flowing else None
    if flow is None:
        builder.drop()
        return
    map = identity_map(op.loops)
    (flow,) = builder.finish([Output(empty(op.extents, flow.type), map, flow)])
    places = _places(adjoint, lookup)
    known, held = cotangents.gate(lookup.value), cotangents.take(lookup.value)
    gate = _gate(adjoint, read, lookup.value, places)
    start = zero(lookup.value, adjoint.scope) if held is None else held
    total = _scattered(flow, places, op.extents, start, [])
    cotangents.add(lookup.value, total, gate if held is None else either(known, gate))


@dataclass(frozen=True)
class Place:
    """Where reads are along one dimension: at the number of a loop, or where a tensor says for some of the loops, which
    has one element along the others."""

    loops: frozenset[int]
    known: ir.Value | None

    def at(self, numbers: list[ir.Value]) -> ir.Value:
        """The place in an iteration."""
        if self.known is None:
            (loop,) = self.loops
            return numbers[loop]
        return tensor.extract(
            self.known, [x if n in self.loops else as_value(0) for n, x in enumerate(numbers)]
        )


def _places(adjoint: Adjoint, lookup: Lookup) -> list[Place]:
    """The places along all dimensions, computed once for all iterations of a loop that they do not need: a row that is
    looked up has its elements where its loop is."""
    op = adjoint.op
    values = list(lookup.extract.operands)[1:]
    loops = [frozenset(_loops(op, value)) for value in values]
    given = [made_by(value, "linalg.index") is not None for value in values]
    needed = frozenset[int]().union(
        *(some for some, is_given in zip(loops, given, strict=True) if not is_given)
    )
    extents = [length if n in needed else 1 for n, length in enumerate(op.extents)]
    builder = GenericBuilder(op.loops, lambda: extents)
    with builder.body:
        frame = Frame(op, adjoint.scope, builder)
        wanted = [frame.primal.value(v) for v, is_given in zip(values, given, strict=True) if not is_given]
    if not wanted:
        builder.drop()
        return [Place(some, None) for some in loops]
    map = identity_map(op.loops)
    known = iter(builder.finish([Output(empty(extents, v.type), map, v) for v in wanted]))
    return [
        Place(some, None) if is_given else Place(needed, next(known))
        for some, is_given in zip(loops, given, strict=True)
    ]


def _loops(op: Structured, value: ir.Value) -> set[int]:
    """The loops of an op that a value in its body depends on."""
    found: set[int] = set()
    waiting, seen = [value], set[ir.Value]()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if each in op.arguments:
            found |= loops_in(op.maps[op.arguments.index(each)])
            continue
        maker = defining(each)
        if maker is None or maker.block != op.block:
            continue
        if maker.name == "linalg.index":
            found.add(ir.IntegerAttr(maker.attributes["dim"]).value)
        waiting += free_values(maker)
    return found


def _gate(adjoint: Adjoint, read: ir.Value, source: ir.Value, places: list[Place]) -> MaybeGate:
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
    flow: ir.Value, places: list[Place], extents: list[int], into: ir.Value, at: list[ir.Value]
) -> ir.Value:
    """`into`, with every element of `flow` added at its place, or of bits whether there is one."""
    if len(at) == len(extents):
        where = [place.at(at) for place in places]
        total = combined(tensor.extract(into, where), tensor.extract(flow, at))
        return tensor.insert(total, into, where)
    loop = scf.ForOp(as_value(0), as_value(extents[len(at)]), as_value(1), [into])
    with ir.InsertionPoint(loop.body):
        inner = [*at, loop.induction_variable]
        scf.YieldOp([_scattered(flow, places, extents, loop.inner_iter_args[0], inner)])
    return loop.results[0]
