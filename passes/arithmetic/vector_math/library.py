"""hypot, remainder and nextafter."""

from __future__ import annotations

import math

from pykern.passes.arithmetic.vector_math.emit import Real, choose, select
from pykern.passes.arithmetic.vector_math.formats import F32, F64

_SCALED = {F32: (2.0**60, 2.0**-50, 2.0**100), F64: (2.0**500, 2.0**-450, 2.0**600)}
"""Above and below which numbers are scaled before they are squared, and by how much."""


def hypot(x: Real, y: Real) -> Real:
    """Infinite where one of the two is, also beside NaN. f32 is computed in f64 where there is one, others scaled."""
    a, b = abs(x), abs(y)
    if x.format == F32 and x.scope.doubles:
        wide_a, wide_b = a.to(F64), b.to(F64)
        result = (wide_a * wide_a + wide_b * wide_b).sqrt().to(F32)
    else:
        most, least, scale = _SCALED[x.format]
        large = select(a > b, a, b)
        down, up = large > most, large < least
        factor = select(down, x.like(1 / scale), select(up, x.like(scale), 1.0))
        back = select(down, x.like(scale), select(up, x.like(1 / scale), 1.0))
        a_scaled, b_scaled = a * factor, b * factor
        result = (a_scaled * a_scaled + b_scaled * b_scaled).sqrt() * back
    return select(a.equals(math.inf) | b.equals(math.inf), math.inf, result)


def remainder(x: Real, y: Real) -> Real:
    """``x - n y`` with n the whole number nearest to x / y, to even between two (IEEE 754). Exact."""
    a, b = abs(x), abs(y)
    largest = x.like(_largest(x))
    rest = select(b.compare("<=", largest * 0.5), a.op("arith.remf", a, b + b), a)
    half = b * 0.5
    small = b < 2.0 * x.format.least_normal  # there half of b may be rounded
    over = select(small, (rest + rest) - b, rest - half) > 0.0
    rest = select(over, rest - b, rest)
    again = over & (select(small, (rest + rest) - b, rest - half) >= 0.0)  # one half stays: 0 is even
    rest = select(again, rest - b, rest)
    rest = select(rest.equals(0.0), 0.0, rest).with_sign(x.sign())
    return select(x.is_nan() | y.is_nan() | b.equals(0.0) | a.equals(math.inf), math.nan, rest)


def nextafter(x: Real, y: Real) -> Real:
    """The float next to x towards y."""
    towards_zero = (abs(x) > abs(y)) | (x.sign() ^ y.sign()).compare("!=", 0)
    pattern = x.bits()
    stepped = choose(towards_zero, pattern - 1, pattern + 1).real()
    least = (y.sign() | 1).real()
    result = select(x.equals(0.0), least, stepped)
    result = select(x.equals(y), y, result)
    return select(x.is_nan() | y.is_nan(), x + y, result)


def _largest(x: Real) -> float:
    return 3.4028234663852886e38 if x.format == F32 else 1.7976931348623157e308
