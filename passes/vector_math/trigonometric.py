"""sin, cos, tan in f64.

x = k * pi/2 + r by four constants of which the first three end in zeros, so that the products with k
are exact (fdlibm's e_rem_pio2.c, the constants too), then fdlibm's polynomials on |r| <= pi/4.
The reduction is good to `LIMIT`; beyond it the caller takes libm.
"""

from __future__ import annotations

from mlir.dialects import arith

from pykern.passes.vector_math.emit import Integer, Real, polynomial

LIMIT = 1.0e6
TWO_OVER_PI = 0.6366197723675814
PARTS = (
    1.57079632673412561417e00,
    6.07710050630396597660e-11,
    2.02226624871116645580e-21,
    8.47842766036889956997e-32,
)
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def sin(x: Real) -> Real:
    return _choose(x, 0)


def cos(x: Real) -> Real:
    return _choose(x, 1)


def tan(x: Real) -> Real:
    quadrant, sine, cosine = _parts(x)
    swapped = quadrant.is_set(1)
    return (-cosine / sine).select(swapped, sine / cosine)


def _choose(x: Real, offset: int) -> Real:
    quadrant, sine, cosine = _parts(x)
    shifted = quadrant + offset if offset else quadrant
    result = cosine.select(shifted.is_set(1), sine)
    return (-result).select(shifted.is_set(2), result)


def _parts(x: Real) -> tuple[Integer, Real, Real]:
    """The quadrant, and sine and cosine of the remainder."""
    bounded = x.within(-LIMIT, LIMIT)
    quotient = (bounded * TWO_OVER_PI).rounded()
    r = bounded
    for part in PARTS:
        r = (-quotient).fma(part, r)
    z = r * r
    sine = (z * r).fma(polynomial(z, SINE), r)
    half = 0.5 * z
    w = 1.0 - half
    cosine = w + ((1.0 - w) - half + z * z * polynomial(z, COSINE))
    sine = x.select(x.compare("OEQ", 0.0), sine)  # keeps -0
    infinite = arith.CmpFOp(arith.CmpFPredicate.UNO, (x - x).value, (x - x).value).result
    nan = x - x
    return quotient.to_integer(), nan.select(infinite, sine), nan.select(infinite, cosine)
