"""exp, exp2 and expm1.

e^x = 2^n e^r with n the integer nearest to x log2(e), so that |r| <= ln(2)/2 (Cody and Waite); n is read
off the low bits of a float. Polynomials: `minimax` fits "exp" and "exp2".
"""

from __future__ import annotations

from pykern.passes.arithmetic.vector_math.emit import Real, Whole, fma, polynomial, select
from pykern.passes.arithmetic.vector_math.formats import F32, F64, Format

LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first has zeros at its end, so that n times it is exact (Cephes; fdlibm)
LN2_HIGH = {F32: 0.693359375, F64: 6.93147180369123816490e-01}
LN2_LOW = {F32: -2.12194440e-4, F64: 1.90821492927058770002e-10}
OVERFLOW = {F32: 89.0, F64: 710.0}  # e^x and beyond are infinite
UNDERFLOW = {F32: -104.5, F64: -746.0}  # e^x and below round to 0
TOO_SMALL = {F32: -88.0, F64: -709.0}  # 2^n of the nearest n has no normal number any more

# e^r = 1 + r + r^2 p(r)
_EXP = {
    F32: (0.49999997, 0.166665435, 0.0416672006, 0.00836651307, 0.00138825749),
    F64: (
        0.5000000000000006, 0.16666666666666588, 0.04166666666657683, 0.008333333333389549,
        0.0013888888931538185, 0.00019841269718986562, 2.4801505307723397e-05, 2.7557407594839335e-06,
        2.7626023726468385e-07, 2.5053745760440877e-08,
    ),
}  # fmt: skip
# 2^r = 1 + r p(r)
_EXP2 = {
    F32: (0.693147182, 0.240226477, 0.0555033237, 0.00961843692, 0.0013398875, 0.000153533838),
    F64: (
        0.6931471805599453, 0.2402265069591013, 0.055504108664820084, 0.009618129107594119,
        0.0013333558146774913, 0.00015403530457113048, 1.5252733492904732e-05, 1.3215435281983697e-06,
        1.017819965028916e-07, 7.0737832876014996e-09, 4.434760915970727e-10,
    ),
}  # fmt: skip


def exp(x: Real) -> Real:
    f = x.format
    return exponential(x.at_most(OVERFLOW[f]).at_least(UNDERFLOW[f]))


def quick_exp(x: Real) -> Real:
    """For `afn`: a quarter of the instructions less; results below 2^-126.5 (f64: 2^-1022.5) are 0, and those
    above 2^127.5 (2^1023.5) infinite."""
    f = x.format
    return exponential_near(x.at_most(OVERFLOW[f]).at_least(TOO_SMALL[f]))


def exp2(x: Real) -> Real:
    f = x.format
    x = x.at_most(f.bias + 2.0).at_least(-f.bias - f.mantissa - 1.0)
    n, exponent = nearest_integer(x, 1.0, 2 * f.bias)
    return scaled(exp2_fraction(x - n), exponent)


def exp2_fraction(r: Real) -> Real:
    """2^r for |r| <= 1/2."""
    return fma(r, polynomial(r, _EXP2[r.format]), 1.0)


def expm1(x: Real) -> Real:
    """2^n p + (2^n - 1) with p = e^r - 1, all halved so that 2^n stays finite."""
    f = x.format
    low = {F32: -18.0, F64: -40.0}[f]  # the result is -1 there
    bounded = x.at_most(OVERFLOW[f]).at_least(low)
    r, exponent = reduce_by_ln2(bounded, f.bias - 1)
    half = power_of_two(exponent, f)
    result = 2.0 * fma(half, exp_fraction_less_1(r), half - 0.5)
    return select(abs(x) < 2.0 ** -(f.mantissa + 2), x, result)


def exponential(x: Real, tail: Real | None = None, factor: Real | None = None, halvings: int = 0) -> Real:
    """``e^(x + tail) * factor / 2^halvings``, rounded into the subnormals once.

    For UNDERFLOW <= x <= OVERFLOW + 2 or x NaN; `tail` is a correction far below x.
    """
    f = x.format
    r, exponent = reduce_by_ln2(x, 2 * f.bias)
    if tail is not None:
        r = r + tail
    p = exp_fraction(r)
    return scaled(p if factor is None else p * factor, exponent - halvings if halvings else exponent)


def exponential_near(x: Real) -> Real:
    """e^x for x that keeps it far from overflow and underflow."""
    r, exponent = reduce_by_ln2(x, x.format.bias)
    return exp_fraction(r) * power_of_two(exponent, x.format)


def exp_fraction(r: Real) -> Real:
    """e^r for |r| <= ln(2)/2."""
    return fma(fma(r, polynomial(r, _EXP[r.format]), 1.0), r, 1.0)


def exp_fraction_less_1(r: Real) -> Real:
    """e^r - 1 for |r| <= ln(2)/2."""
    return fma(r * r, polynomial(r, _EXP[r.format]), r)


def nearest_integer(x: Real, factor: float, offset: int) -> tuple[Real, Whole]:
    """``x * factor`` rounded to n: as a float, and ``n + offset`` in the low bits of an integer."""
    rounder = x.format.rounder + offset
    shifted = x + rounder if factor == 1.0 else fma(x, factor, rounder)
    return shifted - rounder, shifted.bits()


def reduce_by_ln2(x: Real, offset: int) -> tuple[Real, Whole]:
    """r of ``x = n ln 2 + r``, and ``n + offset`` in the low bits of an integer."""
    n, exponent = nearest_integer(x, LOG2_E, offset)
    factor = -LN2_HIGH[x.format]
    # the product is exact; compilers of machines that may round twice regroup one fma of another
    high = fma(n, factor, x) if x.scope.fused else x + n * factor
    return fma(n, -LN2_LOW[x.format], high), exponent


def power_of_two(exponent: Whole, format: Format) -> Real:
    """2^n from ``n + bias``."""
    return (exponent << format.mantissa).real()


def scaled(p: Real, exponent: Whole) -> Real:
    """``p * 2^n`` from ``n + 2 bias``: two factors, since 2^n alone may be subnormal or infinite."""
    half = exponent >> 1
    return p * power_of_two(half, p.format) * power_of_two(exponent - half, p.format)
