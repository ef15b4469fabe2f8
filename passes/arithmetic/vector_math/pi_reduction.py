"""Angles of any size brought to a quarter turn around 0: ``x = q pi/2 + r``, |r| <= pi/4.

After Cody and Waite, "Software manual for the elementary functions", 1980: x - q pi/2 with pi/2 in two
parts for f32 (in f64), in three for f64, for |x| up to `MODERATE`; larger arguments are the business of
`huge_angles`.
"""

from __future__ import annotations

import math

from pykern.passes.arithmetic.vector_math.double_word import exact_fma, fast_two_sum, two_product
from pykern.passes.arithmetic.vector_math.emit import Real, Whole, fma
from pykern.passes.arithmetic.vector_math.formats import F32, F64

MODERATE = {F32: 2.0**40, F64: 2.0**28}
"""Up to here q times what the parts of pi/2 leave out stays far below the r of the hardest arguments."""
SHORT = 2.0**22
"""The same of the reduction of f32 without fma."""
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
TWO_OVER_PI = 0.6366197723675814
_FIRST = math.floor(HALF_PI[0] * 2.0**30) * 2.0**-30
"""The first 31 bits of pi/2: products with integers of 22 bits are exact."""
_REST = (HALF_PI[0] - _FIRST) + HALF_PI[1]


def reduced_f32(x: Real) -> tuple[Real, Whole]:
    """r in f64, and q in the low two bits of an integer, for x an f32 from 0 to MODERATE."""
    wide = x.to(F64)
    shifted = fma(wide, TWO_OVER_PI, F64.rounder)
    q = shifted - F64.rounder
    return exact_fma(
        q, -HALF_PI[1], exact_fma(q, -HALF_PI[0], wide)
    ), shifted.bits()  # the inner product is exact


def shortly_reduced_f32(x: Real) -> tuple[Real, Whole]:
    """The same for x from 0 to `SHORT`, also where a machine has no fma, or makes one of a product and a sum."""
    wide = x.to(F64)
    shifted = wide * TWO_OVER_PI + F64.rounder
    q = shifted - F64.rounder
    return (wide - q * _FIRST) - q * _REST, shifted.bits()


def reduced_f64(x: Real) -> tuple[Real, Real, Whole]:
    """r in two parts, and q, for x from 0 to MODERATE."""
    shifted = fma(x, TWO_OVER_PI, F64.rounder)
    q = shifted - F64.rounder
    first = exact_fma(q, -HALF_PI[0], x)  # exact
    second, lost = two_product(q, HALF_PI[1])
    high, low = fast_two_sum(first, -second)
    return high, fma(q, -HALF_PI[2], low - lost), shifted.bits()
