"""A reduction of any form with its tangent: one op carries both accumulators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import linalg, tensor

from pykern.passes.autodiff.tensor.sweep import Elements, Recomputed, forward
from pykern.passes.autodiff.tensor.targets import lookups
from pykern.passes.autodiff.tensor.values import constant, element, is_float, is_tensor
from pykern.passes.ir.structured import Structured

if TYPE_CHECKING:
    from pykern.passes.autodiff.tensor.structured_forward import TangentWriter


def reduced_together(op: Structured, output: int, writer: TangentWriter) -> ir.Value:
    """The tangent of result `output`; the op computes all results anew, for any may depend on any."""
    inputs = [writer.value(v) for v in op.inputs]
    carried = [writer.value(v) for v in op.outputs]
    moving = [k for k, v in enumerate(op.inputs) if v in writer.tangents]
    floats = [k for k, v in enumerate(op.outputs) if is_float(v.type)]
    tangents = [writer.tangents[op.inputs[k]] for k in moving]
    starts = [writer.tangent(op.outputs[k]) for k in floats]
    first, last = op.maps[: len(inputs)], op.maps[len(inputs) :]
    maps = [*first, *(first[k] for k in moving), *last, *(last[k] for k in floats)]
    results = [*carried, *starts]
    made = linalg.GenericOp(
        [v.type for v in results],
        [*inputs, *tangents],
        results,
        ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
        _kinds(op),
    ).operation
    types = [element(v.type) for v in (*inputs, *tangents, *results)]
    block = made.regions[0].blocks.append(*types)
    with ir.InsertionPoint(block):
        given = iter(block.arguments)
        values = [next(given) for _ in inputs]
        moved = {op.arguments[k]: next(given) for k in moving}
        values += [next(given) for _ in carried]
        moved |= {op.arguments[len(inputs) + k]: next(given) for k in floats}
        primal = Recomputed(
            op, lambda place: values[place], writer.value, lambda loop: linalg.IndexOp(loop).result
        )
        flowing = forward(op, primal, moved | _captured(op, primal, writer))
        new = [flowing.get(op.yielded[k]) for k in floats]
        zeros = [constant(element(op.outputs[k].type), 0.0) for k in floats]
        tangents = [zero if value is None else value for value, zero in zip(new, zeros, strict=True)]
        linalg.YieldOp([*(primal.value(v) for v in op.yielded), *tangents])
    return made.results[len(carried) + floats.index(output)]


def _captured(op: Structured, primal: Recomputed, writer: TangentWriter) -> Elements:
    found = {v: writer.tangents[v] for v in op.captured if v in writer.tangents and not is_tensor(v)}
    for lookup in lookups(op, set(writer.tangents)):
        places = [primal.value(place) for place in list(lookup.extract.operands)[1:]]
        found[lookup.extract.results[0]] = tensor.extract(writer.tangents[lookup.value], places)
    return found


def _kinds(op: Structured) -> ir.ArrayAttr:
    """Parallel where every result names the loop."""
    named = [{str(e) for e in map.results} for map in op.maps[len(op.inputs) :]]
    kinds = ["parallel" if all(f"d{d}" in one for one in named) else "reduction" for d in range(op.loops)]
    return ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds])
