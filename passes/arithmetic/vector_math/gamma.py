"""gamma and lgamma, in f64 (f32 is rounded from it).

gamma is Lanczos' approximation with Boost's coefficients "lanczos13m53"; how its parts are put together
follows musl's tgamma.c. lgamma is a polynomial around its zeros 1 and 2 (`minimax` "lgamma"), what
``lgamma(x) = lgamma(x - n) + log((x - 1) ... (x - n))`` reaches from there, and Stirling's series beyond 8.5.
Errors met: gamma 6, lgamma 6 units in the last place of f64, more near the zeros of lgamma below 0.
"""

from __future__ import annotations

import math

from pykern.passes.arithmetic.vector_math.emit import Real, Truth, polynomial, select
from pykern.passes.arithmetic.vector_math.exponential import exp
from pykern.passes.arithmetic.vector_math.formats import F64
from pykern.passes.arithmetic.vector_math.logarithm import log
from pykern.passes.arithmetic.vector_math.power import pow
from pykern.passes.arithmetic.vector_math.trigonometric import sin

_G = 5.524680040776729583740234375
_NUMERATOR = (
    23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408,
)  # fmt: skip
_DENOMINATOR = (
    0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0, 2637558.0, 357423.0, 32670.0,
    1925.0, 66.0, 1.0,
)  # fmt: skip

_CENTRE = 1.75
# lgamma(x) = (x - 1)(x - 2) p(x - 1.75), x from 0.9 to 2.5
_NEAR = (
    0.45013931210925634, -0.11948158662524298, 0.04452044719849481, -0.019053957830207167, 0.008776370426447393,
    -0.004226194127863509, 0.0020955338424757026, -0.001060566033328932, 0.0005448976009431714,
    -0.0002831911101942067, 0.0001485108777660356, -7.84584284728619e-05, 4.1741545940192365e-05,
    -2.2295062324806803e-05, 1.1803200174858718e-05, -6.4043713308073274e-06, 3.902974667825854e-06,
    -1.936012419418018e-06, 2.490231006234089e-07, -5.439802734612305e-07, 1.2261276693995881e-06,
    -1.1798475105271109e-07, -5.539294421188364e-07, -1.1056787972722162e-07, 2.4134564386849623e-07,
)  # fmt: skip
# Stirling: lgamma(x) = (x - 1/2)(log x - 1) + log(2 pi)/2 - 1/2 + z p(z^2), z = 1/x
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_HALF_LOG = 0.41893853320467274178


def gamma(x: Real) -> Real:
    """NaN for whole numbers below 0 and for -infinity, infinite at 0, with its sign."""
    return _gamma(x.to(F64)).to(x.format)


def lgamma(x: Real) -> Real:
    """log |gamma(x)|; infinite at 0 and below it at whole numbers."""
    return _lgamma(x.to(F64)).to(x.format)


def _gamma(x: Real) -> Real:
    size = abs(x)
    below = x < 0.0
    y = size + _G
    lost = select(size > _G, (y - size) - _G, (y - _G) - size)  # what the sum was rounded by
    z = size - 0.5
    r = _ratio(size) * exp(-y)
    r = select(below, -math.pi / (_sin_pi(size) * size * r), r)
    r = r + select(below, -lost, lost) * (_G + 0.5) * r / y
    half_power = pow(y, select(below, -z, z) * 0.5)
    result = r * half_power * half_power
    result = select(size >= 184.0, select(below, result.like(0.0).copysign(_sin_pi(x)), math.inf), result)
    result = select(size < 2.0**-54, 1.0 / x, result)
    result = select((below & _is_whole(x)) | x.equals(-math.inf), math.nan, result)
    return select(x.is_nan(), x, result)


def _ratio(x: Real) -> Real:
    """Numerator over denominator; from 8 on in 1/x, where x^12 would lose."""
    inverse = 1.0 / x
    large = x >= 8.0
    t = select(large, inverse, x)

    def chosen(coefficients: tuple[float, ...]) -> Real:
        pairs = zip(coefficients, reversed(coefficients), strict=True)
        return polynomial(t, [select(large, x.like(high), low) for low, high in pairs])

    return chosen(_NUMERATOR) / chosen(_DENOMINATOR)


def _lgamma(x: Real) -> Real:
    size = abs(x)
    positive = _of_positive(size)
    reflected = log(math.pi / abs(size * _sin_pi(size))) - positive
    result = select(x < 0.0, reflected, positive)
    result = select(size < 2.0**-70, -log(size), result)
    result = select((x.compare("<=", 0.0) & _is_whole(x)) | size.equals(math.inf), math.inf, result)
    return select(x.is_nan(), x, result)


def _of_positive(x: Real) -> Real:
    tiny, large = x < 0.9, x >= 8.5
    # y from 0.9 to 2.5, and the product of what stands between
    y, product = select(tiny, x + 1.0, x), x.like(1.0)
    for n in range(1, 8):
        lower = x - float(n)
        further = lower >= 1.5
        product = select(further, product * lower, product)
        y = select(further, lower, y)
    roots = select(tiny, x * (x - 1.0), (y - 1.0) * (y - 2.0))
    near = roots * polynomial(y - _CENTRE, _NEAR)
    moved = near + select(tiny, -log(x), log(product))
    z = 1.0 / x
    stirling = (x - 0.5) * (log(x) - 1.0) + (z * polynomial(z * z, _STIRLING) + _HALF_LOG)
    return select(large, stirling, moved)


def _sin_pi(x: Real) -> Real:
    """sin(pi x), exactly 0 for whole x."""
    half = x * 0.5
    turn = 2.0 * (half - half.trunc())  # from -2 to 2, exact
    turn = select(abs(turn) > 1.0, turn - x.like(2.0).copysign(turn), turn)
    turn = select(abs(turn) > 0.5, x.like(1.0).copysign(turn) - turn, turn)
    return sin(turn * math.pi)


def _is_whole(x: Real) -> Truth:
    return x.trunc().equals(x)
