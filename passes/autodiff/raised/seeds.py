"""Where the cotangent of a linalg op's result enters its body, by the kind of the result.

elementwise, sum    ybar, at what is yielded
maximum, minimum    ybar / (number of ties), at each contribution equal to the result
product             ybar * (product of all other contributions), at each contribution
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith

from pykern.passes.autodiff.raised.builder import GenericBuilder, Output, elementwise
from pykern.passes.autodiff.raised.cotangents import Cotangents
from pykern.passes.autodiff.raised.frame import Frame
from pykern.passes.autodiff.raised.product import other_factors
from pykern.passes.autodiff.raised.refuse import refused
from pykern.passes.autodiff.raised.scope import Scope
from pykern.passes.autodiff.raised.structured import Kind, Structured
from pykern.passes.autodiff.raised.values import constant, full, sizes_of

Seed = Callable[[Frame], "tuple[ir.Value, ir.Value]"]
"""In a body: the primal value where a cotangent enters, and the cotangent."""


def seeds(op: Structured, scope: Scope, cotangents: Cotangents) -> list[Seed]:
    """One for each result that has a cotangent; the accumulators' own cotangents are added right away."""
    made = []
    for output in range(len(op.outputs)):
        cotangent = cotangents.take(op.op.results[output])
        if cotangent is not None:
            made.append(_SEEDS[op.combined[output].kind](op, output, cotangent, scope, cotangents))
    return made


def _whole(op: Structured, output: int, ybar: ir.Value, scope: Scope, cotangents: Cotangents) -> Seed:
    map = op.output_map(output)
    return lambda frame: (op.yielded[output], frame.bring(ybar, map))


def _sum(op: Structured, output: int, ybar: ir.Value, scope: Scope, cotangents: Cotangents) -> Seed:
    cotangents.add(op.outputs[output], ybar)
    return _whole(op, output, ybar, scope, cotangents)


def _extremum(op: Structured, output: int, ybar: ir.Value, scope: Scope, cotangents: Cotangents) -> Seed:
    map, init = op.output_map(output), op.outputs[output]
    contribution = op.combined[output].contribution
    assert contribution is not None
    result = scope.value(op.op.results[output])
    share = elementwise(arith.divf, [ybar, ties(op, output, scope)])
    if init in cotangents.varied:
        cotangents.add(init, elementwise(where_equal, [scope.value(init), result, share]))

    def seed(frame: Frame) -> tuple[ir.Value, ir.Value]:
        here = frame.primal.value(contribution)
        return contribution, where_equal(here, frame.bring(result, map), frame.bring(share, map))

    return seed


def _product(op: Structured, output: int, ybar: ir.Value, scope: Scope, cotangents: Cotangents) -> Seed:
    map = op.output_map(output)
    contribution = op.combined[output].contribution
    assert contribution is not None
    others = other_factors(op, output, scope)
    if op.outputs[output] in cotangents.varied:
        cotangents.add(op.outputs[output], elementwise(arith.mulf, [ybar, others.of_init]))
    return lambda frame: (
        contribution,
        arith.mulf(frame.bring(ybar, map), frame.bring(others.of_contribution, others.map)),
    )


def _refused(op: Structured, output: int, ybar: ir.Value, scope: Scope, cotangents: Cotangents) -> Seed:
    raise refused(op.op, "this reduction is no sum, product, maximum or minimum")


_SEEDS: dict[Kind, Callable[..., Seed]] = {
    Kind.ELEMENTWISE: _whole,
    Kind.ADD: _sum,
    Kind.MAX: _extremum,
    Kind.MIN: _extremum,
    Kind.MUL: _product,
    Kind.OTHER: _refused,
}


def ties(op: Structured, output: int, scope: Scope) -> ir.Value:
    """How many contributions (and the initial value) equal each maximum or minimum."""
    contribution = op.combined[output].contribution
    assert contribution is not None
    result, map = scope.value(op.op.results[output]), op.output_map(output)
    one = full(sizes_of(result), result.type.element_type, 1.0)
    start = elementwise(where_equal, [scope.value(op.outputs[output]), result, one])
    builder = GenericBuilder(op.loops, lambda: op.extents)
    with builder.body:
        frame = Frame(op, scope, builder)
        here = frame.primal.value(contribution)
        count = where_equal(here, frame.bring(result, map), constant(here.type, 1.0))
    return builder.finish([Output(start, map, count, accumulate=True)])[0]


def where_equal(a: ir.Value, b: ir.Value, value: ir.Value) -> ir.Value:
    equal = arith.cmpf(arith.CmpFPredicate.OEQ, a, b)
    return arith.select(equal, value, constant(value.type, 0.0))
