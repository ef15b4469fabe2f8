"""x^y as e^(y log x).

f32: the logarithm in f64 has bits to spare. f64, and f32 where there is no f64: an error of log x grows by as much as
y log x, which goes up to 745, so the logarithm is made in two words: with s = (m - 1) / (m + 1) and t = s^2 it is
2s + 2/3 s t in two words and s t^2 p(t) in one. Polynomial: `minimax` fits "log_quotient_tail".
Special values as C99 Annex F 9.4.4 has them.
"""

from __future__ import annotations

import math

from pykern.passes.arithmetic.vector_math.double_word import DoubleWord, exact_fma, fast_two_sum, two_product
from pykern.passes.arithmetic.vector_math.emit import Real, fma, polynomial, select
from pykern.passes.arithmetic.vector_math.exponential import OVERFLOW, UNDERFLOW, exponential
from pykern.passes.arithmetic.vector_math.formats import F32, F64
from pykern.passes.arithmetic.vector_math.logarithm import log, split
from pykern.passes.arithmetic.vector_math.small_powers import small_power

_TAIL = (
    0.3999999999999998, 0.28571428571445057, 0.22222222217548984, 0.18181818868859084, 0.15384556965508256,
    0.1333631394479935, 0.11674886129273387, 0.11988471477965039,
)  # fmt: skip
_MOST = 2.0**100
"""An exponent so large makes every power but those of 1 infinite or 0."""
_LN2 = {
    F32: (0.693147182464599609375, -1.904654323148236e-09),
    F64: (0.6931471805599453, 2.3190468138462996e-17),
}
_TWO_THIRDS = {
    F32: (0.666666686534881591796875, -1.9868214925130208e-08),
    F64: (0.6666666666666666, 3.700743415417188e-17),
}


def pow(x: Real, y: Real) -> Real:
    small = small_power(x, y)
    if small is not None:
        return small
    result = _of_magnitude(x, y)
    negative = x < 0.0
    whole = y.trunc().equals(y)
    half = y * 0.5
    odd = whole & half.trunc().differs(half)
    result = result.with_sign(x.sign().where(odd))
    result = select(negative & (abs(x) < math.inf) & ~whole, math.nan, result)
    result = select(x.is_nan(), x, result)
    return select(x.equals(1.0) | y.equals(0.0) | (x.equals(-1.0) & abs(y).equals(math.inf)), 1.0, result)


def _of_magnitude(x: Real, y: Real) -> Real:
    """|x|^y for everything but |x| = 1 with y infinite."""
    if x.format == F32 and x.scope.doubles:
        product = y.to(F64) * log(abs(x).to(F64))
        return exponential(_bounded(product)).to(F32)
    size = abs(x)
    logarithm = _log(size)
    if not y.scope.fused:
        y = y.at_most(_MOST).at_least(-_MOST)  # products of two words take no larger ones
    high = select(size.equals(0.0), -math.inf, select(size.equals(math.inf), size, logarithm.high))
    product, lost = two_product(high, y)
    tail = fma(logarithm.low, y, lost)
    tail = select(abs(product) < 800.0, tail, 0.0)  # beyond, it may be NaN
    return exponential(_bounded(product), tail=tail)


def _bounded(power: Real) -> Real:
    return power.at_most(OVERFLOW[power.format]).at_least(UNDERFLOW[power.format])


def _log(x: Real) -> DoubleWord:
    """log x to 2^-63 of it (in f32 2^-40), for x positive and finite."""
    k, f = split(x)
    below = f + 2.0
    s = f / below
    # f + 2 is rounded: s is corrected by what it is off from f / (f + 2)
    rest = exact_fma(-s, below, f) - s * (f - (below - 2.0))
    quotient = DoubleWord(*fast_two_sum(s, rest / below))
    t = quotient * quotient
    cubic = quotient * t * DoubleWord(*(x.like(part) for part in _TWO_THIRDS[x.format]))
    fifth = t.high * t.high * quotient.high * polynomial(t.high, _TAIL)
    twice = DoubleWord(2.0 * quotient.high, 2.0 * quotient.low)
    mantissa = twice + DoubleWord(*fast_two_sum(cubic.high, cubic.low + fifth))
    more, less = _LN2[x.format]
    high, low = two_product(k, more)
    return DoubleWord(high, fma(k, less, low)) + mantissa
