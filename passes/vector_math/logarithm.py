"""log and what is made of it: log2, log10, log1p, pow.

x = 2**e * m with m in [sqrt(1/2), sqrt(2)); log m by the series in s = f / (2 + f), f = m - 1
(fdlibm's e_log.c and e_logf.c: the algorithm and its coefficients).
"""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import arith
from mlir.dialects import math as math_dialect

from pykern.passes.vector_math.emit import Real, polynomial
from pykern.passes.vector_math.exponential import exp

COEFFICIENTS = {
    23: (0.66666662693023682, 0.40000972151756287, 0.28498786687850952, 0.24279078841209412),
    52: (
        6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
        1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860510658591e-01,
    ),
}  # fmt: skip
LN2 = {23: (6.9313812256e-01, 9.0580006145e-06), 52: (6.93147180369123816490e-01, 1.90821492927058770002e-10)}
SQRT_HALF = {23: 0x3F3504F3, 52: 0x3FE6A09E667F3BCD}
LEAST_NORMAL = {23: 2.0**-126, 52: 2.0**-1022}


def log(x: Real) -> Real:
    """The natural logarithm; -inf at 0, NaN below."""
    mantissa = x.mantissa
    shift = mantissa + 2
    small = x.compare("OLT", LEAST_NORMAL[mantissa])
    normal = (x * 2.0**shift).select(small, x)
    bits = normal.bits()
    exponent = (bits - SQRT_HALF[mantissa]) >> mantissa
    m = (bits - (exponent << mantissa)).as_real(x.kind)
    e = exponent.to_real(x.kind)
    e = (e - float(shift)).select(small, e)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    series = polynomial(z, COEFFICIENTS[mantissa]) * z
    half_square = 0.5 * f * f
    high, low = LN2[mantissa]
    inner = s.fma(half_square + series, e * low)
    result = e.fma(high, f - (half_square - inner))
    return _specials(x, result)


def _specials(x: Real, result: Real) -> Real:
    infinite = x.compare("OEQ", math.inf)
    zero = x.compare("OEQ", 0.0)
    negative = x.compare("OLT", 0.0)
    result = x.select(infinite, result)
    result = x.constant(-math.inf).select(zero, result)
    result = x.constant(math.nan).select(negative, result)
    return result.keep_nan(x)


def log2_f64(x: Real) -> Real:
    return log(x) * (1 / math.log(2))


def log10_f64(x: Real) -> Real:
    return log(x) * (1 / math.log(10))


def log1p_f64(x: Real) -> Real:
    """log(u) corrected by what 1 + x lost, u = 1 + x (Goldberg 1991, theorem 4)."""
    u = x + 1.0
    lost = x - (u - 1.0)
    corrected = log(u) + lost / u
    finite = abs(x).compare("OLT", math.inf)
    corrected = corrected.select(finite, log(u))
    corrected = x.constant(-math.inf).select(x.compare("OEQ", -1.0), corrected)
    return x.select(x.compare("OEQ", 0.0), corrected)  # keeps -0


def pow_f64(x: Real, y: Real) -> Real:
    """x**y in f64 for arguments that come from f32, with the special cases of C99 annex F."""
    magnitude = abs(x)
    product = y * log(magnitude)
    # 0 * inf: |x| is 1 with an infinite y, or y is 0; both are 1 below
    result = exp(product)
    whole = Real(math_dialect.TruncOp(y.value).result)
    is_integer = whole.compare("OEQ", y)
    half = Real(math_dialect.TruncOp((y * 0.5).value).result) * 2.0
    big = abs(y).compare("OGE", 2.0**53)
    odd = _and(_and(is_integer, half.compare("ONE", y)), _not(big))
    negative = (x.bits() >> 63).is_set(1)
    signed = (-result).select(_and(odd, negative), result)
    finite_negative = _and(x.compare("OLT", 0.0), magnitude.compare("OLT", math.inf))
    undefined = _and(finite_negative, _and(_not(is_integer), abs(y).compare("OLT", math.inf)))
    signed = x.constant(math.nan).select(undefined, signed)
    unit = _and(magnitude.compare("OEQ", 1.0), abs(y).compare("OEQ", math.inf))
    signed = x.constant(1.0).select(unit, signed)
    signed = (x + y).select(_or(x.compare("UNO", x), y.compare("UNO", y)), signed)
    one = _or(x.compare("OEQ", 1.0), y.compare("OEQ", 0.0))
    return x.constant(1.0).select(one, signed)


def _and(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.AndIOp(a, b).result


def _or(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.OrIOp(a, b).result


def _not(a: ir.Value) -> ir.Value:
    return arith.XOrIOp(a, arith.ConstantOp(a.type, 1).result).result
