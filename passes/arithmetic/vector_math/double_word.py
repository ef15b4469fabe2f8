"""Numbers as the unevaluated sum of two floats, twice as precise as one.

Algorithms: Dekker (1971), Knuth (TAOCP 2, 4.2.2); the names and error bounds are those of
Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
arithmetic" (2017). They need exact rounding: no fastmath flag may touch these ops.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.passes.arithmetic.vector_math.emit import Real, RealLike, fma


@dataclass(frozen=True, eq=False)
class DoubleWord:
    """``high + low``, `low` no more than half a unit in the last place of `high`."""

    high: Real
    low: Real

    def __add__(self, other: DoubleWord) -> DoubleWord:
        """AccurateDWPlusDW: relative error 3 u^2, also where they cancel."""
        high, low = two_sum(self.high, other.high)
        more, rest = two_sum(self.low, other.low)
        high, low = fast_two_sum(high, low + more)
        return DoubleWord(*fast_two_sum(high, rest + low))

    def __mul__(self, other: DoubleWord) -> DoubleWord:
        """DWTimesDW2: relative error 5 u^2."""
        high, low = two_product(self.high, other.high)
        crossed = fma(self.low, other.high, self.high * other.low)
        return DoubleWord(*fast_two_sum(high, low + crossed))

    def times(self, factor: Real) -> DoubleWord:
        """DWTimesFP3: relative error 2 u^2."""
        high, low = two_product(self.high, factor)
        return DoubleWord(*fast_two_sum(high, fma(self.low, factor, low)))


def two_sum(a: Real, b: Real) -> tuple[Real, Real]:
    """``a + b`` rounded, and exactly what it lost."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def fast_two_sum(a: Real, b: RealLike) -> tuple[Real, Real]:
    """`two_sum` where a is 0 or no smaller than b."""
    total = a + b
    return total, a.like(b) - (total - a)


def two_product(a: Real, b: RealLike) -> tuple[Real, Real]:
    """``a * b`` rounded, and exactly what it lost."""
    product = a * b
    if a.scope.fused:
        return product, fma(a, b, -product)
    (a_high, a_low), (b_high, b_low) = _split(a), _split(a.like(b))
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, lost


def exact_fma(a: Real, b: RealLike, c: RealLike) -> Real:
    """``a * b + c`` with the product whole: `fma`, or where a machine may round twice, what comes next to it."""
    if a.scope.fused:
        return fma(a, b, c)
    product, lost = two_product(a, b)
    total, rest = two_sum(product, a.like(c))
    return total + (rest + lost)


def _split(a: Real) -> tuple[Real, Real]:
    """Two halves of the digits (Veltkamp); not for numbers next to the largest."""
    stretched = a * (2.0 ** ((a.format.mantissa + 2) // 2) + 1.0)
    high = stretched - (stretched - a)
    return high, a - high
