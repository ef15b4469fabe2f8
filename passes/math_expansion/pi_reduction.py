"""Angles of any size brought to a quarter turn around 0: ``x = q pi/2 + r``, |r| <= pi/4.

f32 (after Payne and Hanek, "Radian reduction for trigonometric functions", 1983): a product with as many
bits of 2/pi as f32 can ask for, in f64, exact where it has to be. Bits of 2/pi whose product with x is a
multiple of 4 are left out, which makes four sets of constants, by the exponent of x.
f64 (Cody and Waite, "Software manual for the elementary functions", 1980): x - q pi/2 with pi/2 in three
parts, for |x| up to `MODERATE`; larger arguments are the business of `huge_angles`.
"""

from __future__ import annotations

import functools

from pykern.passes.math_expansion.double_word import fast_two_sum, two_product
from pykern.passes.math_expansion.emit import Real, Whole, fma, select
from pykern.passes.math_expansion.formats import F64

MODERATE = 2.0**28
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
TWO_OVER_PI = 0.6366197723675814
_DIGITS = 256  # of 2/pi, binary


def reduced_f32(x: Real) -> tuple[Real, Whole]:
    """r in f64, and q in the low two bits of an integer, for x an f32 not less than 0."""
    high, middle, low = _chosen_parts(x)
    wide = x.to(F64)
    whole, turns = _nearest(wide * high)
    part = wide * high - whole  # exact: 24 bits times 28
    whole, more_turns = _nearest(wide * middle)
    part = part + (wide * middle - whole)
    whole, last_turns = _nearest(part)
    quarter_turns = fma(wide, low, part - whole)
    return quarter_turns * HALF_PI[0], turns + more_turns + last_turns


def reduced_f64(x: Real) -> tuple[Real, Real, Whole]:
    """r in two parts, and q, for 0 <= x <= MODERATE."""
    shifted = fma(x, TWO_OVER_PI, F64.rounder)
    q = shifted - F64.rounder
    first = fma(q, -HALF_PI[0], x)  # exact
    second, lost = two_product(q, HALF_PI[1])
    high, low = fast_two_sum(first, -second)
    return high, fma(q, -HALF_PI[2], low - lost), shifted.bits()


def _nearest(x: Real) -> tuple[Real, Whole]:
    """The nearest integer as a float and, modulo a power of two, as an integer; x less than 2^51."""
    shifted = x + F64.rounder
    return shifted - F64.rounder, shifted.bits()


_STEP = 26
_FIRST = 51  # below 2^51 all bits count; the exponent of f32 ends below 51 + 3 * 26


def _chosen_parts(x: Real) -> tuple[Real, Real, Real]:
    """Bits of 2/pi: 28, 28 and 53 of them, from where they begin to matter for x."""
    sets = [two_over_pi_parts(_STEP * i) for i in range(1 if x.scope.finite else 4)]
    parts = [x.scope.real(F64, number) for number in sets[0]]
    for i, numbers in enumerate(sets[1:]):
        large = x >= 2.0 ** (_FIRST + _STEP * i)
        parts = [select(large, number, part) for number, part in zip(numbers, parts, strict=True)]
    return parts[0], parts[1], parts[2]


@functools.cache
def two_over_pi_parts(skipped: int) -> tuple[float, float, float]:
    """The fraction bits of 2/pi after the first `skipped`: 28 bits, the next 28, the next 53."""
    bits = two_over_pi()
    parts, position = [], skipped
    for width in (28, 28, 53):
        end = position + width
        chunk = (bits >> (_DIGITS - end)) & ((1 << width) - 1)
        parts.append(float(chunk) * 2.0**-end)
        position = end
    return parts[0], parts[1], parts[2]


@functools.cache
def two_over_pi() -> int:
    """floor(2/pi * 2^_DIGITS), by Machin's formula: pi/4 = 4 atan(1/5) - atan(1/239)."""
    guard = _DIGITS + 32
    quarter = 4 * _inverse_tangent(5, guard) - _inverse_tangent(239, guard)
    return (1 << (guard + _DIGITS)) // (2 * quarter)


def _inverse_tangent(n: int, bits: int) -> int:
    """atan(1/n) * 2^bits, a few units too small or too large."""
    power, total, k = (1 << bits) // n, 0, 0
    while power:
        total += (-1) ** k * (power // (2 * k + 1))
        power //= n * n
        k += 1
    return total
