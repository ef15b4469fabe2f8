"""The tangent of a linalg op: for each result one op over the primal's own loops.

elementwise, sum    the body's tangent; a sum starts from the tangent of its initial value
maximum, minimum    the mean of the tangents of all contributions equal to the result
anything else       primal and tangent reduced together, in one op (`joint`)
"""

from __future__ import annotations

from typing import Protocol

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output, elementwise
from pykern.passes.autodiff.tensor.frame import Frame
from pykern.passes.autodiff.tensor.joint import reduced_together
from pykern.passes.autodiff.tensor.seeds import ties, where_equal
from pykern.passes.autodiff.tensor.sweep import Elements, forward
from pykern.passes.autodiff.tensor.targets import lookups
from pykern.passes.autodiff.tensor.values import constant, element, is_tensor
from pykern.passes.ir.accumulators import StructuredKind, accumulation
from pykern.passes.ir.lengths import empty_like
from pykern.passes.ir.structured import Structured


class TangentWriter(Protocol):
    """What knows the primal's values and their tangents."""

    varied: set[ir.Value]
    tangents: dict[ir.Value, ir.Value]

    def value(self, value: ir.Value) -> ir.Value: ...
    def tangent(self, value: ir.Value) -> ir.Value: ...


def forward_structured(op: ir.Operation, writer: TangentWriter) -> dict[ir.Value, ir.Value]:
    """The tangents of the results that vary."""
    view = Structured(op)
    found = {}
    for output, result in enumerate(op.results):
        if result in writer.varied:
            kind = accumulation(view, output).kind
            if kind in (StructuredKind.ELEMENTWISE, StructuredKind.ADD):
                found[result] = _whole(view, output, writer)
            elif kind in (StructuredKind.MAX, StructuredKind.MIN):
                found[result] = _extremum(view, output, writer)
            else:
                found[result] = reduced_together(view, output, writer)
    return found


def element_tangents(op: Structured, frame: Frame, writer: TangentWriter) -> Elements:
    """The tangents that enter the body: of its arguments, captured scalars, and reads of captured tensors."""
    found: Elements = {}
    for place, value in enumerate(op.operands):
        output = place - len(op.inputs)
        if value in writer.tangents and (
            output < 0 or accumulation(op, output).kind is StructuredKind.ELEMENTWISE
        ):
            tangent = writer.tangents[value]
            found[op.arguments[place]] = frame.bring(tangent, op.maps[place]) if is_tensor(value) else tangent
    for value in op.captured:
        if value in writer.tangents and not is_tensor(value):
            found[value] = writer.tangents[value]
    for lookup in lookups(op, set(writer.tangents)):
        places = [frame.primal.value(place) for place in list(lookup.extract.operands)[1:]]
        found[lookup.extract.results[0]] = tensor.extract(writer.tangents[lookup.value], places)
    return found


def _whole(op: Structured, output: int, writer: TangentWriter) -> ir.Value:
    init, map = op.outputs[output], op.output_map(output)
    is_sum = accumulation(op, output).kind is StructuredKind.ADD
    start = writer.tangent(init) if is_sum else empty_like(writer.value(init))
    builder = GenericBuilder(op.loops, lambda: op.extents)
    with builder.body:
        frame = Frame(op, writer, builder)
        flowing = forward(op, frame.primal, element_tangents(op, frame, writer))
        tangent = flowing.get(op.yielded[output])
        if tangent is None:
            tangent = constant(element(init.type), 0.0)
    return builder.finish([Output(start, map, tangent, accumulate=is_sum)])[0]


def _extremum(op: Structured, output: int, writer: TangentWriter) -> ir.Value:
    init, map = op.outputs[output], op.output_map(output)
    contribution = accumulation(op, output).contribution
    assert contribution is not None
    result = writer.value(op.op.results[output])
    count = ties(op, output, writer)
    start = elementwise(
        lambda old, best, tangent, n: where_equal(old, best, arith.divf(tangent, n)),
        [writer.value(init), result, writer.tangent(init), count],
    )
    builder = GenericBuilder(op.loops, lambda: op.extents)
    with builder.body:
        frame = Frame(op, writer, builder)
        flowing = forward(op, frame.primal, element_tangents(op, frame, writer))
        tangent = flowing.get(contribution)
        if tangent is None:
            tangent = constant(element(init.type), 0.0)
        share = arith.divf(tangent, frame.bring(count, map))
        part = where_equal(frame.primal.value(contribution), frame.bring(result, map), share)
    return builder.finish([Output(start, map, part, accumulate=True)])[0]
