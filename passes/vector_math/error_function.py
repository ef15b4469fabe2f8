"""erf and erfc in f64, good enough to be rounded to f32.

Below 1 Taylor's series of erf; above, erfc(x) = exp(-x**2) * erfcx(x) with erfcx as a polynomial of
degree 13 in (x - 2) / (x + 2), interpolated at Chebyshev nodes on 1 <= x <= 11 by mpmath with 60 digits
(relative error below 1e-10).
"""

from __future__ import annotations

import math

from pykern.passes.vector_math.emit import Real, polynomial
from pykern.passes.vector_math.exponential import exp

TERMS = 14
ERFCX = (
    0.25539567631051235, -0.4271858474145995, 0.24165819424043372, -0.07897858092171767,
    0.003732892418510432, 0.0069974578055031125, -0.0008471380259548601, -0.0009819119184105213,
    4.339322923420705e-05, 0.0001739787643844319, 2.920008151697011e-05, -2.806695321845056e-05,
    -1.926737771891124e-05, 1.0027807225345441e-05,
)  # fmt: skip
SERIES = tuple(2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(TERMS))


def erf_f64(x: Real) -> Real:
    magnitude = abs(x)
    inner = x * polynomial(x * x, SERIES)
    outer = (1.0 - _erfc_above_one(magnitude.within(1.0, 11.0))).sign_of(x)
    return inner.select(magnitude.compare("OLT", 1.0), outer).keep_nan(x)


def erfc_f64(x: Real) -> Real:
    magnitude = abs(x)
    inner = 1.0 - x * polynomial(x * x, SERIES)
    tail = _erfc_above_one(magnitude.within(1.0, 11.0))
    outer = (2.0 - tail).select(x.compare("OLT", 0.0), tail)
    # below 1 the difference cancels at most 3 bits, which f64 has to spare
    return inner.select(magnitude.compare("OLT", 1.0), outer).keep_nan(x)


def _erfc_above_one(x: Real) -> Real:
    """erfc on 1 .. 11, where it falls below what f32 holds."""
    return exp(-(x * x)) * polynomial((x - 2.0) / (x + 2.0), ERFCX)
