"""cbrt: a polynomial for the significand, one step of Halley, one of Newton with the residual in two words.

x = 2^k m with k = 3 n + rest, so that cbrt x = 2^n cbrt(2^rest m). f32 is computed in f64, where there is one, and
needs no second step. Polynomial: `minimax` fits "cbrt".
"""

from __future__ import annotations

import math

from pykern.passes.arithmetic.vector_math.double_word import exact_fma, two_product
from pykern.passes.arithmetic.vector_math.emit import Real, fma, polynomial, select
from pykern.passes.arithmetic.vector_math.exponential import nearest_integer, power_of_two
from pykern.passes.arithmetic.vector_math.formats import F64
from pykern.passes.arithmetic.vector_math.logarithm import split

_CBRT = (
    0.45166697527059796, 0.9048185342418821, -0.5356308335116412, 0.21693785753256895, -0.037788289795779056,
)  # fmt: skip
_CBRT_2 = 1.2599210498948732


def cbrt(x: Real) -> Real:
    format = F64 if x.scope.doubles else x.format
    size = abs(x).to(format)
    k, f = split(size)
    m = f + 1.0
    n, exponent = nearest_integer(k, 1.0 / 3.0, format.bias)
    rest = fma(n, -3.0, k)  # -1, 0 or 1
    more, less = rest > 0.5, rest < -0.5
    power = select(more, m.like(2.0), select(less, m.like(0.5), 1.0))
    root_of_power = select(more, m.like(_CBRT_2), select(less, m.like(1.0 / _CBRT_2), 1.0))
    a = m * power
    y = polynomial(m, _CBRT) * root_of_power
    cube = y * y * y
    y = y * (fma(a, 2.0, cube) / fma(cube, 2.0, a))
    if x.format == format:
        square, lost = two_product(y, y)
        residual = exact_fma(square, y, -a) + lost * y
        y = y - residual / (3.0 * square)
    result = y * power_of_two(exponent, format)
    usual = (size > 0.0) & (size < math.inf)
    return select(usual, result, size).to(x.format).copysign(x)
