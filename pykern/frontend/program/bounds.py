"""An index of run time is brought inside of an array: what lies outside of it is its edge."""

from __future__ import annotations

from mlir import ir

from pykern.frontend import arithmetic
from pykern.frontend.casts import convert, materialise
from pykern.frontend.values import Scalar
from pykern.passes.analysis.integer_ranges import Interval, Ranges
from pykern.types import weak_int


def brought_inside(index: Scalar, length: int, size: int = 1) -> ir.Value:
    """A run-time index: negative from the end, and at the edge where it, or `size` from it, would be outside. One that
    a loop counts within these bounds stays as it is."""
    index = convert(index, weak_int)
    if index.const is None and Ranges().of(value := materialise(index)).inside(Interval(0, length - size)):
        return value
    last, nil = Scalar(weak_int, const=length - size), Scalar(weak_int, const=0)
    negative = arithmetic.binary("<", index, nil)
    lifted = arithmetic.binary("+", index, Scalar(weak_int, const=length))
    chosen = ir.Operation.create(
        "arith.select",
        results=[ir.IndexType.get()],
        operands=[materialise(negative), materialise(lifted), materialise(index)],
    ).result
    inside = arithmetic.maximum(arithmetic.minimum(Scalar(weak_int, chosen), last), nil)
    return materialise(inside)
