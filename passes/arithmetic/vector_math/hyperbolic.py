"""sinh, cosh and tanh, from e^x, and from polynomials near 0 where e^x would cancel.

tanh in f32: x/8 + x p(t) / q(t) with t = x^2, within 3 units in the last place, as `error_function` has erf.
Polynomials: `minimax` fits "sinh", `rational` the quotient.
"""

from __future__ import annotations

from pykern.passes.arithmetic.vector_math.emit import Real, fma, polynomial, select
from pykern.passes.arithmetic.vector_math.exponential import (
    OVERFLOW,
    exp_fraction_less_1,
    exponential,
    power_of_two,
    reduce_by_ln2,
)
from pykern.passes.arithmetic.vector_math.formats import F32, F64

# sinh x = x + x t p(t), t = x^2
_SINH = {
    F32: (0.166666672, 0.0083333496, 0.000198361595, 2.81695156e-06),
    F64: (
        0.16666666666666666, 0.008333333333333333, 0.000198412698412696, 2.7557319224116285e-06,
        2.505210834650952e-08, 1.605905060120996e-10, 7.646482898388522e-13, 2.848232955129257e-15,
    ),
}  # fmt: skip
# tanh x = x / 8 + x p(t) / q(t), t = x^2, for x to 9.125, in f32
_ABOVE = (0.875, 0.0779892206, 0.000459228497, -2.12138293e-05, -1.29543224e-07, -1.19811583e-11)
_BELOW = (1.0, 0.470082909, 0.0272231083, 0.000392768241, 1.27862018e-06)


def sinh(x: Real) -> Real:
    size = abs(x)
    t = x * x
    near = fma(size * t, polynomial(t, _SINH[x.format]), size)
    half = _half_exp(size)
    return select(size < 1.0, near, half - 0.25 / half).copysign(x)


def cosh(x: Real) -> Real:
    half = _half_exp(abs(x))
    return half + 0.25 / half


def _half_exp(size: Real) -> Real:
    """e^x / 2, which overflows later than e^x."""
    return exponential(size.at_most(OVERFLOW[size.format] + 2.0), halvings=1)


def tanh(x: Real) -> Real:
    return _tanh_f32(x) if x.format == F32 else _tanh_f64(x).copysign(x)


def _tanh_f32(x: Real) -> Real:
    x = x.at_most(9.125).at_least(-9.125)  # tanh rounds to 1 there
    t = x * x
    return fma(polynomial(t, _ABOVE) / polynomial(t, _BELOW), x, x * 0.125)


def _tanh_f64(x: Real) -> Real:
    """(e^2x - 1) / (e^2x + 1), numerator as expm1 has it."""
    doubled = 2.0 * abs(x).at_most(20.0)
    r, exponent = reduce_by_ln2(doubled, F64.bias)
    power = power_of_two(exponent, F64)
    p = exp_fraction_less_1(r)
    return fma(power, p, power - 1.0) / fma(power, p, power + 1.0)
