"""atan, atan2, asin and acos.

atan: brought to |z| <= 1/2 by atan a = pi/4 + atan((a - 1) / (a + 1)) and pi/2 - atan(1 / a).
asin: beyond 1/2, asin a = pi/2 - 2 asin(sqrt((1 - a) / 2)), where 1 - a is exact.
Polynomials: `minimax` fits "atan" and "asin".
"""

from __future__ import annotations

from pykern.passes.arithmetic.vector_math.emit import Real, Truth, fma, polynomial, select
from pykern.passes.arithmetic.vector_math.formats import F32, F64

# atan z = z + z t p(t), t = z^2
_ATAN = {
    F32: (
        -0.333333284, 0.199994892, -0.142720789, 0.109409861, -0.0798407719, 0.0387234464,
    ),
    F64: (
        -0.33333333333333315, 0.1999999999999327, -0.14285714284960999, 0.11111111068565085,
        -0.0909090766977689, 0.07692277080387332, -0.06666219009945606, 0.05877771434847389,
        -0.052298204168980365, 0.04588751189071096, -0.03710250846724209, 0.023633052221755883,
        -0.008352545734805926,
    ),
}  # fmt: skip
# asin z = z + z t p(t), t = z^2
_ASIN = {
    F32: (0.166667521, 0.0749529749, 0.0454703905, 0.0241794437, 0.0421664193),
    F64: (
        0.16666666666665408, 0.07500000000336994, 0.0446428568283408, 0.03038195913653992,
        0.02237175805947758, 0.01735970463730547, 0.01388523665750952, 0.012169203978421288,
        0.006528008057307979, 0.01952817622111944, -0.016224114389392596, 0.03191217588149995,
    ),
}  # fmt: skip
# pi/4 in two parts; small multiples of the first are exact
_EIGHTH = {
    F32: (0.7853975296020508, 6.337953975283657e-07),
    F64: (0.7853981633974474, 9.18794589678809e-16),
}
_MIDDLE = 0.5  # from here on a - 1 is exact
_UPPER = 2.5


def atan(x: Real) -> Real:
    size = abs(x)
    upper, middle = size > _UPPER, size > _MIDDLE
    dividend = select(upper, -1.0, select(middle, size - 1.0, size))
    divisor = select(upper, size, select(middle, size + 1.0, 1.0))
    eighths = select(upper, x.like(2.0), select(middle, x.like(1.0), 0.0))
    return _add_eighths(eighths, _atan_near(dividend / divisor, _ATAN[x.format])).copysign(x)


def atan2(y: Real, x: Real) -> Real:
    """The angle of the point (x, y). f32 is computed in f64, where there is one: a quotient's rounding would show."""
    if x.format == F32 and x.scope.doubles:
        return _atan2(y.to(F64), x.to(F64), _ATAN[F32]).to(F32)
    return _atan2(y, x, _ATAN[x.format])


def _atan2(y: Real, x: Real, coefficients: tuple[float, ...]) -> Real:
    a, b = abs(y), abs(x)
    steep = a > b
    small, large = select(steep, b, a), select(steep, a, b)
    slope = select(a.equals(b), 1.0, small / large)  # also inf / inf
    slope = select(large.equals(0.0), 0.0, slope)
    middle = slope > _MIDDLE
    z = _atan_near(select(middle, (slope - 1.0) / (slope + 1.0), slope), coefficients)
    left = _negative(x)
    # eighths of a turn, and whether z is counted backwards from there
    eighths = select(steep, x.like(2.0), select(left, x.like(4.0), 0.0))
    backwards = steep ^ left
    one = select(middle, x.like(1.0), 0.0)
    eighths = eighths + select(backwards, -one, one)
    angle = _add_eighths(eighths, select(backwards, -z, z)).copysign(y)
    return select(x.is_nan() | y.is_nan(), x + y, angle)


def asin(x: Real) -> Real:
    size = abs(x)
    inner = size <= 0.5
    z = _asin_near(size, inner)
    high, low = _EIGHTH[x.format]
    outer = fma(z, -2.0, 2.0 * high) + 2.0 * low
    return select(inner, z, outer).copysign(x)


def acos(x: Real) -> Real:
    size = abs(x)
    inner = size <= 0.5
    z = _asin_near(size, inner)
    left = x < 0.0
    eighths = select(inner, x.like(2.0), select(left, x.like(4.0), 0.0))
    z = select(inner, z, 2.0 * z)
    return _add_eighths(eighths, select(left ^ inner, -z, z))


def _asin_near(size: Real, inner: Truth) -> Real:
    """asin of the argument, or of sqrt((1 - size) / 2) where it is not `inner`."""
    halved = fma(size, -0.5, 0.5)
    t = select(inner, size * size, halved)
    z = select(inner, size, halved.sqrt())  # NaN beyond 1
    return fma(z * t, polynomial(t, _ASIN[size.format]), z)


def _atan_near(z: Real, coefficients: tuple[float, ...]) -> Real:
    """atan z for |z| <= 1/2."""
    t = z * z
    return fma(z * t, polynomial(t, coefficients), z)


def _add_eighths(eighths: Real, angle: Real) -> Real:
    """Add some eighths of a turn (45 degrees each) to an angle."""
    high, low = _EIGHTH[angle.format]
    return fma(eighths, high, fma(eighths, low, angle))


def _negative(x: Real) -> Truth:
    """Whether the sign bit is set: -0 too."""
    return x.bits().compare("<", 0)
