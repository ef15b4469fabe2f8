"""x^y where y is known when compiling, and is a small integer or half of an odd one: products and square roots.

Comes in: the base and the exponent. Goes out: the power, or None for other exponents. f32 is computed in f64, and not
here where there is none. In f64, larger integer powers are products of double words, so that errors do not add up.
Read next: `power`, which takes all other exponents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from mlir import ir

from pykern.passes.arithmetic.vector_math.double_word import DoubleWord, exact_fma
from pykern.passes.arithmetic.vector_math.emit import Real, select
from pykern.passes.arithmetic.vector_math.formats import F32, F64
from pykern.passes.ir.values import made_by

LARGEST = 64
"""The largest integer exponent. Up to it f64 loses less than half a unit of f32, and products are quicker than a
logarithm."""
LARGEST_PLAIN = 7
"""The largest integer exponent for which rounded products of f64 are at most 3.5 units off; 4 with one quotient."""
LARGEST_HALF = 2.5
"""The largest half for which the rounding errors of products in f64 stay below two units."""
_SMALL, _LARGE = 2.0**-1000, 2.0**1000
"""Between these a number and its reciprocal have all their digits: neither is subnormal."""

_Number = TypeVar("_Number")


def small_power(x: Real, y: Real) -> Real | None:
    """x^y, or None where `y` is no such constant."""
    number = _known(y)
    if number is None or 2 * number != int(2 * number) or number == 0:
        return None
    whole = number == int(number)
    if abs(number) > (LARGEST if whole else LARGEST_HALF):
        return None
    if x.format == F32:
        if not x.scope.doubles:
            return None
        wide = x.to(F64)
        return (_product(wide, int(number)) if whole else _half(wide, number)).to(F32)
    return _exact(x, int(number)) if whole else _half(x, number)


def _known(y: Real) -> float | None:
    """The finite value of a constant that is the same in all lanes; None for others."""
    op = made_by(y.value, "arith.constant")
    if op is None:
        return None
    value = op.attributes["value"]
    if isinstance(value, ir.DenseElementsAttr):
        if not value.is_splat:
            return None
        value = value.get_splat_value()
    found = ir.FloatAttr(value).value
    return found if math.isfinite(found) else None


def _squared(x: _Number, exponent: int, times: Callable[[_Number, _Number], _Number]) -> _Number:
    """A positive integer power, by repeated squaring."""
    result: _Number | None = None
    while True:
        if exponent & 1:
            result = x if result is None else times(result, x)
        exponent >>= 1
        if not exponent:
            assert result is not None
            return result
        x = times(x, x)


def _product(x: Real, exponent: int) -> Real:
    """An integer power, each product rounded."""
    base = 1.0 / x if exponent < 0 else x
    return _squared(base, abs(exponent), lambda a, b: a * b)


def _exact(x: Real, exponent: int) -> Real:
    """An integer power in f64, as rounded products; for larger exponents as products of double words.

    Where double words give zero or NaN, because products underflow or overflow, the rounded products count. A negative
    power of few products is the reciprocal of the positive one, unless that is close to overflow or underflow.
    """
    plain = _product(x, exponent)
    if 0 < exponent <= LARGEST_PLAIN or exponent == -1:
        return plain
    if -LARGEST_PLAIN <= exponent < 0:
        power = _product(x, -exponent)
        size = abs(power)
        return select((size > _SMALL) & (size < _LARGE), 1.0 / power, plain)
    high = 1.0 / x if exponent < 0 else x
    low = exact_fma(-high, x, 1.0) * high if exponent < 0 else x.like(0.0)
    found = _squared(DoubleWord(high, low), abs(exponent), lambda a, b: a * b)
    total = found.high + found.low
    return select(abs(total) > 0.0, total, plain)


def _half(x: Real, number: float) -> Real:
    """A power whose exponent is half of an odd number; -0 and -inf have those of 0 and inf, as in C's `pow`."""
    size = select(x.equals(0.0) | x.equals(-math.inf), abs(x), x)
    if number == -0.5:
        return 1.0 / size.sqrt()  # the reciprocal of a subnormal number may overflow
    base = 1.0 / size if number < 0 else size
    root, whole = base.sqrt(), int(abs(number))
    return root * _squared(base, whole, lambda a, b: a * b) if whole else root
