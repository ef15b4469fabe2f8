"""Where the cotangent of a linalg op's result enters its body, by the kind of the result.

elementwise, sum    ybar, at what is yielded
maximum, minimum    ybar / (number of ties), at each contribution equal to the result
product             ybar * (product of all other contributions), at each contribution
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.autodiff.rules.gates import Flow, both
from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output, elementwise
from pykern.passes.autodiff.tensor.cotangents import Cotangents
from pykern.passes.autodiff.tensor.frame import Frame
from pykern.passes.autodiff.tensor.gates import MaybeGate, as_bit, as_byte, byte
from pykern.passes.autodiff.tensor.gates import both as both_gates
from pykern.passes.autodiff.tensor.product import other_factors
from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.values import constant, full
from pykern.passes.ir.accumulators import StructuredKind, accumulation
from pykern.passes.ir.lengths import empty, sizes_of
from pykern.passes.ir.structured import Structured

_EQUAL = arith.CmpFPredicate.OEQ


@dataclass(frozen=True)
class Seed:
    """A cotangent that enters a body at its value `at`: ``cotangent(frame)`` is its element.

    It flows where `gate`, that of the result, is open at the loops of `map`, and where ``chosen(frame)`` says so;
    `factored`: it was multiplied by what may be infinite.
    """

    at: ir.Value
    cotangent: Callable[[Frame], ir.Value]
    map: ir.AffineMap
    gate: MaybeGate = None
    chosen: Callable[[Frame], ir.Value] | None = None
    factored: bool = False

    @property
    def gated(self) -> bool:
        return self.gate is not None or self.chosen is not None

    def flow(self, frame: Frame, gates: bool) -> tuple[ir.Value, Flow]:
        """The value where it enters and what flows there, with its gate if `gates`."""
        return self.at, Flow(self.cotangent(frame), self.open(frame) if gates else None, self.factored)

    def open(self, frame: Frame) -> ir.Value | None:
        """The gate's element."""
        chosen = None if self.chosen is None else self.chosen(frame)
        if self.gate is None:
            return chosen
        with frame.scope.here:
            bytes_ = self.gate()
        return both(as_bit(frame.bring(bytes_, self.map)), chosen)


def seeds(op: Structured, scope: Scope, cotangents: Cotangents) -> list[Seed]:
    """One for each result that has a cotangent; the accumulators' own cotangents are added right away."""
    made = []
    for output in range(len(op.outputs)):
        gate, cotangent = cotangents.gate(op.op.results[output]), cotangents.take(op.op.results[output])
        if cotangent is not None:
            rule = _SEEDS[accumulation(op, output).kind]
            made.append(rule(op, output, cotangent, gate, cotangents, scope))
            if accumulation(op, output).kind is StructuredKind.ADD:
                cotangents.add(op.outputs[output], cotangent, gate)
    return made


def _whole(
    op: Structured, output: int, ybar: ir.Value, gate: MaybeGate, cotangents: Cotangents, scope: Scope
) -> Seed:
    map = op.output_map(output)
    return Seed(op.yielded[output], lambda frame: frame.bring(ybar, map), map, gate)


def _extremum(
    op: Structured, output: int, ybar: ir.Value, gate: MaybeGate, cotangents: Cotangents, scope: Scope
) -> Seed:
    map, init = op.output_map(output), op.outputs[output]
    contribution = accumulation(op, output).contribution
    assert contribution is not None
    result = scope.value(op.op.results[output])
    share = elementwise(arith.divf, [ybar, ties(op, output, scope)])
    if init in cotangents.varied:
        start = scope.value(init)

        def taken_at_start() -> ir.Value:
            return elementwise(_are_equal, [start, result], empty(sizes_of(result), byte()))

        cotangents.add(
            init, elementwise(where_equal, [start, result, share]), both_gates(gate, taken_at_start)
        )

    def taken(frame: Frame) -> ir.Value:
        return arith.cmpf(_EQUAL, frame.primal.value(contribution), frame.bring(result, map))

    def seed(frame: Frame) -> ir.Value:
        here = frame.primal.value(contribution)
        return where_equal(here, frame.bring(result, map), frame.bring(share, map))

    return Seed(contribution, seed, map, gate, taken)


def _product(
    op: Structured, output: int, ybar: ir.Value, gate: MaybeGate, cotangents: Cotangents, scope: Scope
) -> Seed:
    map = op.output_map(output)
    contribution = accumulation(op, output).contribution
    assert contribution is not None
    others = other_factors(op, output, scope)
    if op.outputs[output] in cotangents.varied:
        cotangents.add(op.outputs[output], elementwise(arith.mulf, [ybar, others.of_init]), gate)
    return Seed(
        contribution,
        lambda frame: arith.mulf(frame.bring(ybar, map), frame.bring(others.of_contribution, others.map)),
        map,
        gate,
        factored=True,
    )


def _refused(
    op: Structured, output: int, ybar: ir.Value, gate: MaybeGate, cotangents: Cotangents, scope: Scope
) -> Seed:
    raise refused(op.op, "this reduction is no sum, product, maximum or minimum")


_SEEDS: dict[StructuredKind, Callable[..., Seed]] = {
    StructuredKind.ELEMENTWISE: _whole,
    StructuredKind.ADD: _whole,
    StructuredKind.MAX: _extremum,
    StructuredKind.MIN: _extremum,
    StructuredKind.MUL: _product,
    StructuredKind.OTHER: _refused,
}


def ties(op: Structured, output: int, scope: Scope) -> ir.Value:
    """How many contributions (and the initial value) equal each maximum or minimum."""
    contribution = accumulation(op, output).contribution
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
    equal = arith.cmpf(_EQUAL, a, b)
    return arith.select(equal, value, constant(value.type, 0.0))


def _are_equal(a: ir.Value, b: ir.Value) -> ir.Value:
    return as_byte(arith.cmpf(_EQUAL, a, b))
