"""erf and erfc.

erf in f32: x/4 + x p(t) / q(t) with t = x^2, within 3 units in the last place. A quarter of x is exact, so that most of
what is rounded in the quotient does not show where erf comes near 1.
erf in f64: a polynomial near 0; further out 1 - e^p(x), where p fits the logarithm of erfc.
erfc: e^(-x^2) p(t) / (1 + 2x) with t = (x - 4) / (x + 4), so that one polynomial reaches from 0 to where
erfc vanishes (the substitution of Shepherd and Laframboise, "Chebyshev approximation of
(1 + 2x) exp(x^2) erfc x", 1981). Polynomials: `minimax` fits "erf", "erf_far", "erfc", `rational` the quotient.
"""

from __future__ import annotations

from pykern.passes.arithmetic.vector_math.double_word import two_product
from pykern.passes.arithmetic.vector_math.emit import Real, fma, polynomial, select
from pykern.passes.arithmetic.vector_math.exponential import exponential, exponential_near
from pykern.passes.arithmetic.vector_math.formats import F32, F64

# erf x = x / 4 + x p(t) / q(t), t = x^2, for x to 4, in f32
_ABOVE = (0.878379166, 0.0673327148, 0.0242642518, 8.15656967e-05, -1.18325088e-05, -7.36807669e-06)  # fmt: skip
_BELOW = (1.0, 0.504859686, 0.115350984, 0.015207421, 0.00118557899, 3.7419104e-05)
# erf x = x + x p(t), t = x^2, in f64
_NEAR = (
    0.12837916709551256, -0.3761263890318352, 0.11283791670944185, -0.026866170643111476,
    0.005223977606118561, -0.0008548325929319047, 0.00012055293577039872, -1.4924712304690757e-05,
    1.644713160417576e-06, -1.6206314008193444e-07, 1.3710981466848314e-08, -7.779470462045632e-10,
)  # fmt: skip
# erf x = 1 - e^p(x), in f64
_FAR = (
    -1.063370686441156e-06, -1.128368714217016, -0.6366675702914469, -0.10263767161876854,
    0.018865422476350042, 0.0005840166831170844, -0.002098732920775372, 0.0009199165440034253,
    -0.00023063617608872828, 2.7994580497489677e-05, 3.6116676940723324e-06, -2.673106829883396e-06,
    6.877706131076904e-07, -1.0822337386883641e-07, 1.0903587892505666e-08, -6.518304394897266e-10,
    1.7704711696981747e-11,
)  # fmt: skip
_ERFC = {
    F32: (
        1.23299515, -0.139621109, 0.0153796328, 0.0680968687, -0.101038687, 0.0937352031, -0.0663328916,
        0.0371540338, -0.0161911976, 0.00507065188, -0.000761321513, -0.000255220017, 0.000140838209,
        1.10645833e-05,
    ),
    F64: (
        1.2329951186255526, -0.1396211168405629, 0.015379652102619764, 0.0680970542547366,
        -0.10103906603630115, 0.09373283499682382, -0.0663303658125639, 0.03716751556185256,
        -0.016197734048424253, 0.0050319697635688165, -0.0007577734048623037, -0.00019925556126075807,
        0.00015062247156594205, -2.4402941521970012e-05, -1.1225283000437919e-05, 5.717295294316673e-06,
        3.0195630728248235e-07, -8.342404894103278e-07, 6.238919414684934e-08, 1.1456139156903602e-07,
        -7.778919215148353e-09, -1.3386294614665367e-08, -1.7176303310866318e-09,
    ),
}  # fmt: skip
_CENTRE = 4.0


def erf(x: Real) -> Real:
    return _erf_f32(x) if x.format == F32 else _erf_f64(x)


def _erf_f32(x: Real) -> Real:
    x = x.at_most(4.0).at_least(-4.0)  # erf rounds to 1 there
    t = x * x
    return fma(polynomial(t, _ABOVE) / polynomial(t, _BELOW), x, x * 0.25)


def _erf_f64(x: Real) -> Real:
    size = abs(x)
    near = fma(size, polynomial(x * x, _NEAR), size)
    far = 1.0 - exponential_near(polynomial(size.at_most(6.0), _FAR))  # erf rounds to 1 there
    return select(size < 1.0, near, far).copysign(x)


def erfc(x: Real) -> Real:
    """In f64 for both formats, where there is one: the result of f32 goes down to its subnormals."""
    wide = x.to(F64) if x.scope.doubles else x
    if x.format == F64:
        near = 1.0 - fma(x, polynomial(x * x, _NEAR), x)
        return select(abs(x) < 0.5, near, _erfc_far(x, wide))
    if not x.scope.doubles:
        return select(abs(x) < 0.25, 1.0 - erf(x), _erfc_far(x, x))
    return _erfc_far(x, wide).to(F32)


def _erfc_far(x: Real, wide: Real) -> Real:
    size = abs(wide).at_most({F32: 10.2, F64: 27.5}[x.format])  # erfc rounds to 0 there
    t = (size - _CENTRE) / (size + _CENTRE)
    factor = polynomial(t, _ERFC[x.format]) / fma(size, 2.0, 1.0)
    square, lost = two_product(size, size)
    upper = exponential(-square, tail=-lost, factor=factor)
    return select(wide < 0.0, 2.0 - upper, upper)
