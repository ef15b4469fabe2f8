"""log, log2, log10 and log1p.

x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), as fdlibm's e_log.c has it. In f64 log(1 + f)
is written with s = f / (2 + f) as there; in f32 as a polynomial in f. Fits: `minimax` "log" and "log_quotient".
"""

from __future__ import annotations

import math

from pykern.passes.arithmetic.vector_math.double_word import exact_fma, two_sum
from pykern.passes.arithmetic.vector_math.emit import Real, Whole, fma, polynomial, select
from pykern.passes.arithmetic.vector_math.exponential import LN2_HIGH, LN2_LOW
from pykern.passes.arithmetic.vector_math.formats import F32, F64, Format

# log(1 + f) = f - f^2/2 + f^3 p(f)
_LOG32 = (
    0.333333135,
    -0.250000089,
    0.200021192,
    -0.166679963,
    0.142195523,
    -0.124055915,
    0.118881591,
    -0.116756342,
    0.0674662665,
)
# log((1 + s) / (1 - s)) = 2s + s t p(t), t = s^2
_LOG64 = (
    0.6666666666666734,
    0.3999999999941637,
    0.28571428742015503,
    0.22222198610806995,
    0.18183562403070908,
    0.15314098907915177,
    0.1479547423970822,
)
# 1 / ln 2, 1 / ln 10 and log10(2), each in two parts
_LOG2_E = {F32: (1.44269502, 1.92596303e-08), F64: (1.4426950408889634, 2.0355273740931033e-17)}
_LOG10_E = {F32: (0.434294492, -1.010305e-08), F64: (0.4342944819032518, 1.098319650216765e-17)}
_LOG10_2 = {F32: (0.30078125, 0.000248745637), F64: (3.01029995663611771306e-01, 3.69423907715893078616e-13)}


def log(x: Real) -> Real:
    k, f, rest = _parts(x)
    result = fma(k, LN2_HIGH[x.format], f + fma(k, LN2_LOW[x.format], rest))
    return _with_special_values(x, result)


def log2(x: Real) -> Real:
    k, f, rest = _parts(x)
    return _with_special_values(x, k + _scaled(f, rest, *_LOG2_E[x.format]))


def log10(x: Real) -> Real:
    k, f, rest = _parts(x)
    high, low = _LOG10_2[x.format]
    result = fma(k, high, fma(k, low, _scaled(f, rest, *_LOG10_E[x.format])))
    return _with_special_values(x, result)


def log1p(x: Real) -> Real:
    """log(u) with u = 1 + x; what u lost by rounding is added to f."""
    f = x.format
    u, lost = two_sum(x.like(1.0), x)
    exponent, m = _exponent_and_significand(u)
    k = _exponent_as_real(exponent, f) - (2.0**f.mantissa + f.bias)
    inverse = ((2 * f.bias - exponent) << f.mantissa).real()  # 2^-k
    # beyond, it changes nothing, and 2^-k may underflow
    fraction = select(x < 2.0 ** (f.mantissa + 2), exact_fma(lost, inverse, m - 1.0), m - 1.0)
    result = fma(k, LN2_HIGH[f], fraction + fma(k, LN2_LOW[f], _rest(fraction)))
    return _with_special_values(u, result).copysign(x)


def _parts(x: Real) -> tuple[Real, Real, Real]:
    """k and f of ``x = 2^k (1 + f)``, and ``log(1 + f) - f``."""
    k, f = split(x)
    return k, f, _rest(f)


def split(x: Real) -> tuple[Real, Real]:
    """k and f of ``x = 2^k (1 + f)``, for x positive and finite."""
    f = x.format
    subnormal = x < f.least_normal
    lift = f.mantissa + 1
    exponent, m = _exponent_and_significand(select(subnormal, x * 2.0**lift, x))
    zero = 2.0**f.mantissa + f.bias
    k = _exponent_as_real(exponent, f) - select(subnormal, x.like(zero + lift), zero)
    return k, m - 1.0


def _exponent_and_significand(x: Real) -> tuple[Whole, Real]:
    """``k + bias`` and m of ``x = 2^k m``, m from sqrt(1/2) to sqrt(2), for x normal and positive."""
    f = x.format
    least = f.pattern(math.sqrt(0.5))
    pattern = x.bits() + (f.one - least)
    return pattern >> f.mantissa, ((pattern & ((1 << f.mantissa) - 1)) + least).real()


def _exponent_as_real(exponent: Whole, format: Format) -> Real:
    """A small integer in the mantissa of 2^mantissa: 2^mantissa more than it is."""
    return (exponent | ((format.bias + format.mantissa) << format.mantissa)).real()


def _rest(f: Real) -> Real:
    """``log(1 + f) - f``."""
    if f.format == F32:
        return f * f * fma(f, polynomial(f, _LOG32), -0.5)
    s = f / (2.0 + f)
    t = s * s
    half_square = 0.5 * f * f
    return fma(s, fma(t, polynomial(t, _LOG64), half_square), -half_square)


def _scaled(f: Real, rest: Real, high: float, low: float) -> Real:
    """``(f + rest) * (high + low)``; the rest is a fifth of f at most."""
    return fma(f, high, fma(f, low, rest * high))


def _with_special_values(x: Real, result: Real) -> Real:
    """Infinity stays, 0 gives -infinity, what is less than 0 or NaN gives NaN."""
    outside = select(x.equals(0.0), x.like(-math.inf), math.nan)
    return select(x > 0.0, select(x < math.inf, result, x), outside)
