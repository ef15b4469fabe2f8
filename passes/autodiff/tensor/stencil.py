"""The cotangent of a tensor of which shifted slices meet in one op: one gather over the tensor.

Each element of the tensor sums up what comes back from its neighbours: no scatter, no atomics. The
core, to which something comes back from every slice, reads what flows to the slices as it is. Around
it, where neighbours are missing, that is padded with zeros. Where the body reads nothing of the primal,
what flows is the result's own cotangent, and the body's adjoint happens in the gather.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith, linalg

from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output, elementwise
from pykern.passes.autodiff.tensor.cotangents import Hollow, blank
from pykern.passes.autodiff.tensor.frame import Frame
from pykern.passes.autodiff.tensor.gates import MaybeGate, closed, either
from pykern.passes.autodiff.tensor.targets import Target
from pykern.passes.autodiff.tensor.values import constant, element, identity_map, shape
from pykern.passes.ir.boxes import Box, box_of, cut, cut_padded, put
from pykern.passes.ir.lengths import as_value, empty
from pykern.passes.ir.values import defining

if TYPE_CHECKING:
    from pykern.passes.autodiff.tensor.structured_reverse import Adjoint


def add_slices(adjoint: Adjoint, source: ir.Value, cuts: list[Target]) -> None:
    """Add what flows to the slices `cuts` of `source` to the cotangent of `source`."""
    parts = _parts(adjoint, cuts)
    if parts is not None:
        cuts = [target for target in cuts if target in parts]
    if not cuts:
        return
    whole, core = Box.of(shape(source)), _core(cuts)
    split = 2 * core.volume >= whole.volume
    hollow = adjoint.cotangents.take_hollow(source) if split else None
    known, held = adjoint.cotangents.gate(source), adjoint.cotangents.take(source)
    gate = _gate(adjoint, source, cuts)
    if hollow is not None:
        gate = None
    elif held is not None:
        gate = either(gate, known)
    total = blank(source, adjoint.scope) if held is None else held
    for box in (*whole.around(core), core) if split else (whole,):
        part = _gathered(adjoint, cuts, parts, box, cut(total, box), held is not None, hollow)
        total = put(part, total, box)
    adjoint.cotangents.add(source, total, gate)


def _gate(adjoint: Adjoint, source: ir.Value, cuts: list[Target]) -> MaybeGate:
    """The gate of the source: open where the gate of any slice is open."""
    slices = [(_place(target), adjoint.gate(target)) for target in cuts]
    if any(gate is None for _, gate in slices):
        return None

    def made() -> ir.Value:
        total = closed(shape(source))
        for box, gate in slices:
            if gate is not None:
                total = put(elementwise(arith.ori, [cut(total, box), gate()]), total, box)
        return total

    return made


def _parts(adjoint: Adjoint, cuts: list[Target]) -> dict[Target, ir.Value] | None:
    """The cotangent of every slice that has one, as tensors; slices to which the same flows share one.

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


def _core(cuts: list[Target]) -> Box:
    """The box of the source that is part of every slice."""
    core = _place(cuts[0])
    for target in cuts[1:]:
        core = core.meet(_place(target))
    return core


def _gathered(
    adjoint: Adjoint,
    cuts: list[Target],
    parts: dict[Target, ir.Value] | None,
    box: Box,
    start: ir.Value,
    accumulate: bool,
    hollow: Hollow | None,
) -> ir.Value:
    """The cotangent of the source in `box`: `start` if `accumulate`, what is around the hole, and the slices'."""
    around = [box.moved([-o for o in _place(target).low]) for target in cuts]
    reach = Box(
        tuple(map(min, zip(*(b.low for b in around), strict=True))),
        tuple(map(max, zip(*(b.high for b in around), strict=True))),
    )
    builder = GenericBuilder(len(box.low))
    moves, total = _Moves(builder, reach), _around(hollow, box, builder)
    if reach.meet(Box.of(_place(cuts[0]).sizes)).volume:  # else nothing of any slice comes here
        for target, here in zip(cuts, around, strict=True):
            if parts is None:
                frame = _MovedFrame(adjoint, builder, moves, here)
                with builder.body:
                    ((_, value),) = adjoint.swept(frame, [target])
            else:
                value = moves.element(parts[target], here)
            with builder.body:
                total = value if total is None else arith.addf(total, value)
    if total is None:
        builder.drop()
        return start if accumulate else linalg.fill(constant(element(start.type), 0.0), outs=[start])
    return builder.finish([Output(start, identity_map(len(box.low)), total, accumulate)])[0]


def _around(hollow: Hollow | None, box: Box, builder: GenericBuilder) -> ir.Value | None:
    """In the body of an op over `box`: the element of what flows on around the hole, zero in it."""
    if hollow is None or hollow.hole is None or box.within(hollow.hole):
        return None
    map = identity_map(len(box.low))
    value = builder.input(cut(hollow.whole, box), map)
    if not box.meet(hollow.hole).volume:
        return value
    with builder.body:
        inside = None
        for d, (low, high) in enumerate(zip(hollow.hole.low, hollow.hole.high, strict=True)):
            tests = []
            if box.low[d] < low:
                tests.append((arith.CmpIPredicate.sge, low))
            if high < box.high[d]:
                tests.append((arith.CmpIPredicate.slt, high))
            for predicate, bound in tests:
                test = arith.cmpi(predicate, linalg.IndexOp(d).result, as_value(bound - box.low[d]))
                inside = test if inside is None else arith.andi(inside, test)
        return arith.select(inside, constant(value.type, 0.0), value)


class _Moves:
    """Tensors over the slices' places, of which `reach` is read: padded once where it reaches out of them."""

    def __init__(self, builder: GenericBuilder, reach: Box) -> None:
        self.builder, self.reach = builder, reach
        self._padded: dict[ir.Value, ir.Value] = {}
        self._moved: dict[tuple[ir.Value, Box], ir.Value] = {}

    def element(self, value: ir.Value, box: Box) -> ir.Value:
        """The elements of `value` in `box`, one at each place."""
        if (value, box) not in self._moved:
            if value not in self._padded:
                self._padded[value] = cut_padded(value, self.reach)
            self._moved[value, box] = cut(self._padded[value], box.moved([-a for a in self.reach.low]))
        return self.builder.input(self._moved[value, box], identity_map(len(box.low)))


class _MovedFrame(Frame):
    """The body's adjoint at places of the source, for a slice of which they are `box`."""

    def __init__(self, adjoint: Adjoint, builder: GenericBuilder, moves: _Moves, box: Box) -> None:
        super().__init__(adjoint.op, adjoint.scope, builder)
        self.moves, self.box = moves, box

    def bring(self, value: ir.Value, map: ir.AffineMap) -> ir.Value:
        with self.scope.here:
            return self.moves.element(value, self.box)


def _place(target: Target) -> Box:
    """The box that a slice covers in its source."""
    op = defining(target.value)
    place = None if op is None else box_of(op)
    assert place is not None
    return place
