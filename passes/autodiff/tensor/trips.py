"""How often a loop runs, and the induction variable of a trip."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes.autodiff.tensor.values import as_index
from pykern.passes.ir.lengths import Number, as_value, divided, minus, most, plus, times


def room(op: ir.Operation, count: Number) -> Number:
    """The number of iterations that a stack of states needs room for."""
    if isinstance(count, int) or kern.TRIPS_AT_MOST not in op.attributes:
        return count
    return ir.IntegerAttr(op.attributes[kern.TRIPS_AT_MOST]).value


@dataclass(frozen=True)
class Trips:
    """The trips of ``for lower to upper step step``, counted from 0 at the current insertion point."""

    lower: Number
    step: Number
    count: Number
    type: ir.Type

    @classmethod
    def of(cls, lower: ir.Value, upper: ir.Value, step: ir.Value) -> Trips:
        first, last, stride = as_index(lower), as_index(upper), as_index(step)
        room = most(minus(plus(minus(last, first), stride), 1), 0)
        return cls(first, stride, divided(room, stride), lower.type)

    def variable(self, trip: Number) -> ir.Value:
        """The induction variable of a trip."""
        value = as_value(plus(self.lower, times(trip, self.step)))
        return value if isinstance(self.type, ir.IndexType) else arith.index_cast(self.type, value)

    def trip(self, variable: ir.Value) -> Number:
        """The number of the iteration that an induction variable belongs to, counted from 0."""
        return divided(minus(as_index(variable), self.lower), self.step)
