"""sin, cos and tan.

The argument is reduced by `pi_reduction`; then sin or cos of what is left, whichever the quadrant asks
for. Polynomials: `minimax` fits "sin" and "cos".
"""

from __future__ import annotations

from pykern.passes.arithmetic.vector_math.emit import Real, Whole, fma, polynomial, select
from pykern.passes.arithmetic.vector_math.formats import F32, F64
from pykern.passes.arithmetic.vector_math.huge_angles import unless_huge
from pykern.passes.arithmetic.vector_math.payne_hanek import reduced_if
from pykern.passes.arithmetic.vector_math.pi_reduction import (
    MODERATE,
    reduced_f32,
    reduced_f64,
    shortly_reduced_f32,
)

# sin r = r + r t p(t), t = r^2
_SIN = {
    F32: (-0.166666552, 0.0083321603, -0.000195152825),
    F64: (
        -0.1666666666666663, 0.00833333333332212, -0.00019841269829590116, 2.7557313621574674e-06,
        -2.5050747791274392e-08, 1.5896231750484322e-10,
    ),
}  # fmt: skip
# cos r = 1 - t/2 + t^2 p(t)
_COS = {
    F32: (0.0416666456, -0.00138873165, 2.44331641e-05),
    F64: (
        0.041666666666666595, -0.0013888888888873058, 2.480158728885221e-05, -2.7557314179433605e-07,
        2.087570085964535e-09, -1.1358537396848105e-11,
    ),
}  # fmt: skip


def sin(x: Real) -> Real:
    return unless_huge("sin", x, lambda: _sin(x))


def cos(x: Real) -> Real:
    return unless_huge("cos", x, lambda: _cos(x))


def tan(x: Real) -> Real:
    return unless_huge("tan", x, lambda: _tan(x))


def _reduced_f64(x: Real) -> tuple[Real, Real, Whole]:
    """r in two parts and the quadrant of x from 0; beyond MODERATE only where no library stands in for it."""
    usual = reduced_f64(x)
    return usual if x.scope.library else reduced_if(x > MODERATE[F64], x, usual)


def _reduced_f32(x: Real) -> tuple[Real, Whole]:
    """The same of an f32, r in f64."""
    if x.scope.moderate:
        return shortly_reduced_f32(x)
    r, quadrant = reduced_f32(x)
    if not x.scope.library:
        r, _, quadrant = reduced_if(x > MODERATE[F32], x.to(F64), (r, r.like(0.0), quadrant))
    return r, quadrant


def _sin(x: Real) -> Real:
    sine, cosine, quadrant = _sine_and_cosine(x)
    return _by_quadrant(sine, cosine, quadrant).with_sign(x.sign())


def _cos(x: Real) -> Real:
    sine, cosine, quadrant = _sine_and_cosine(x)
    return _by_quadrant(sine, cosine, quadrant + 1)


def _by_quadrant(sine: Real, cosine: Real, quadrant: Whole) -> Real:
    """sin of ``r + quadrant pi/2``."""
    chosen = select((quadrant & 1).compare("==", 0), sine, cosine)
    return chosen.with_sign((quadrant & 2) << (chosen.format.bits - 2))


def _sine_and_cosine(x: Real) -> tuple[Real, Real, Whole]:
    """sin r, cos r and the quadrant, all in the format of x."""
    if x.format == F64:
        r, tail, quadrant = _reduced_f64(abs(x))
        return _sine(r, _SIN[F64], tail), _cosine(r, _COS[F64], tail), quadrant
    r, quadrant = _reduced_f32(abs(x))
    r = r.to(F32)
    return _sine(r, _SIN[F32]), _cosine(r, _COS[F32]), quadrant.to(32)


def _sine(r: Real, coefficients: tuple[float, ...], tail: Real | None = None) -> Real:
    t = r * r
    p = polynomial(t, coefficients)
    return fma(r * t, p, r) if tail is None else r + fma(r * t, p, tail)


def _cosine(r: Real, coefficients: tuple[float, ...], tail: Real | None = None) -> Real:
    t = r * r
    rest = t * t * polynomial(t, coefficients)
    if tail is not None:
        rest = fma(-r, tail, rest)
    return fma(t, -0.5, 1.0) + rest


def _tan(x: Real) -> Real:
    """sin / cos, or -cos / sin in odd quadrants; f32 is divided in f64, so rounded once."""
    if x.format == F64:
        sine, cosine, quadrant = _sine_and_cosine(x)
    else:
        r, quadrant = _reduced_f32(abs(x))
        sine, cosine = _sine(r, _SIN[F32]), _cosine(r, _COS[F32])
    odd = (quadrant & 1).compare("==", 1)
    quotient = select(odd, cosine, sine) / select(odd, -sine, cosine)
    return quotient.to(x.format).with_sign(x.sign())
