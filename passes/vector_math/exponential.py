"""exp and what is made of it: exp2, expm1, sinh, cosh, tanh.

exp(x) = 2**k * exp(r), k = round(x / ln 2), |r| <= ln 2 / 2; r by two constants whose first has zeros
behind (Cody and Waite 1980; the constants are fdlibm's), exp(r) by Taylor's series.
"""

from __future__ import annotations

import math

from pykern.passes.vector_math.emit import Real, polynomial, power_of_two

LOG2E = 1.4426950408889634
LN2 = {23: (0.693359375, -2.12194440e-4), 52: (6.93147180369123816490e-01, 1.90821492927058770002e-10)}
RANGE = {23: (-104.0, 89.0), 52: (-746.0, 710.0)}
DEGREE = {23: 7, 52: 13}


def exp(x: Real) -> Real:
    """e**x; overflows to inf, underflows through the subnormals to 0."""
    low, high = RANGE[x.mantissa]
    bounded = x.within(low, high)
    k, r = _reduce(bounded)
    series = polynomial(r, _taylor(DEGREE[x.mantissa]))
    half = k >> 1
    scaled = series * power_of_two(half, x) * power_of_two(k - half, x)
    return scaled.keep_nan(x)


def _reduce(x: Real):
    quotient = (x * LOG2E).rounded()
    high, low = LN2[x.mantissa]
    remainder = (-quotient).fma(high, x)
    remainder = (-quotient).fma(low, remainder)
    return quotient.to_integer(), remainder


def _taylor(degree: int) -> tuple[float, ...]:
    return tuple(1 / math.factorial(n) for n in range(degree + 1))


def expm1(x: Real) -> Real:
    """e**x - 1 for |x| below 700: exact near 0, where exp(x) - 1 cancels."""
    k, r = _reduce(x)
    series = polynomial(r, tuple(1 / math.factorial(n) for n in range(1, DEGREE[x.mantissa] + 1))) * r
    scale = power_of_two(k, x)
    return x.select(x.compare("OEQ", 0.0), series.fma(scale, scale - 1.0))  # keeps -0


def tanh(x: Real) -> Real:
    """``t / (t + 2)`` with t = expm1(2 |x|)."""
    largest = 10.0 if x.mantissa == 23 else 20.0  # from here on it is 1
    t = expm1(2.0 * abs(x).within(0.0, largest))
    return (t / (t + 2.0)).sign_of(x).keep_nan(x)


def exp2_f64(x: Real) -> Real:
    """2**x in f64, good enough to be rounded to f32."""
    return exp(x * math.log(2))


def expm1_f64(x: Real) -> Real:
    """For arguments that come from f32: beyond 90 it is inf there."""
    return expm1(x.within(-90.0, 90.0)).keep_nan(x)


def expm1_all(x: Real) -> Real:
    """For every f64: beyond 60 the 1 is lost in e^x."""
    return exp(x).select(x.compare("OGT", 60.0), expm1_f64(x))


def sinh_f64(x: Real) -> Real:
    """``(t + t / (t + 1)) / 2`` with t = expm1(|x|)."""
    t = expm1(abs(x).within(0.0, 100.0))
    return (0.5 * (t + t / (t + 1.0))).sign_of(x).keep_nan(x)


def cosh_f64(x: Real) -> Real:
    """``(e + 1 / e) / 2`` with e = exp(|x|)."""
    e = exp(abs(x).within(0.0, 100.0))
    return (0.5 * (e + 1.0 / e)).keep_nan(x)
