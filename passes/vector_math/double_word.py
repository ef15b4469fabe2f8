"""Numbers as the unevaluated sum of two floats, twice as precise as one.

Algorithms: Dekker (1971), Knuth (TAOCP 2, 4.2.2); the names and error bounds are those of
Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
arithmetic" (2017). They need exact rounding: no fastmath flag may touch these ops.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.passes.vector_math.emit import Real, RealLike, fma


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
    return product, fma(a, b, -product)
