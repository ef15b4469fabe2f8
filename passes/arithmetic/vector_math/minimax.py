"""Where the polynomials come from: minimax fits in high precision.

Comes in: a name of `FITS` (``python -m pykern.passes.arithmetic.vector_math.minimax sin``; needs mpmath).
Goes out: the coefficients in both formats and the error bound of each, as the family files hold them.
The compiler never imports this file.

The fit is the exchange algorithm of Remez on a Chebyshev grid. The formulas keep their leading terms
exact and fit a small correction, so rounding the coefficients afterwards costs nothing that matters.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mpmath import mp, mpf

mp.dps = 60
Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Fit:
    """Minimise ``|weight(t) * (function(t) - p(t))|`` over an interval; degrees of p for f32 and f64."""

    function: Function
    weight: Function
    low: Any
    high: Any
    degrees: tuple[int | None, int | None]


def _of_square(function: Function) -> Function:
    return lambda t: function(mp.sqrt(t))


def _odd(function: Function, limit: Any, degrees: tuple[int | None, int | None]) -> Fit:
    """``f(x) = x + x * t * p(t)`` with ``t = x*x``; the error is relative to f."""
    rest = _of_square(lambda x: (function(x) / x - 1) / x**2)
    return Fit(rest, _of_square(lambda x: x**3 / function(x)), mpf(0), mpf(limit) ** 2, degrees)


_LN2 = mp.log(2)
_ROOT = mp.sqrt(mpf(2))
_ERFC_CENTRE = 4


def _scaled_erfc(x: Any) -> Any:
    return mp.exp(x**2) * mp.erfc(x) * (1 + 2 * x)


def _lgamma_without_roots(x: Any) -> Any:
    return mp.loggamma(x) / ((x - 1) * (x - 2))


FITS: dict[str, Fit] = {
    # e^r = 1 + r + r^2 p(r); as precise as expm1 needs it
    "exp": Fit(lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.expm1(r), -_LN2 / 2, _LN2 / 2, (4, 9)),
    # 2^r = 1 + r p(r)
    "exp2": Fit(lambda r: (2**r - 1) / r, lambda r: r / 2**r, mpf(-0.5), mpf(0.5), (5, 10)),
    # log(1 + f) = f - f^2/2 + f^3 p(f)
    "log": Fit(
        lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
        lambda f: f**3 / mp.log1p(f),
        1 / _ROOT - 1,
        _ROOT - 1,
        (8, None),
    ),
    # log((1 + s) / (1 - s)) = 2s + s t p(t), t = s^2
    "log_quotient": Fit(
        _of_square(lambda s: (2 * mp.atanh(s) / s - 2) / s**2),
        _of_square(lambda s: s**3 / (2 * mp.atanh(s))),
        mpf(0),
        ((_ROOT - 1) / (_ROOT + 1)) ** 2,
        (4, 6),
    ),
    # the same, less its second term: 2s + 2/3 s t + s t^2 p(t)
    "log_quotient_tail": Fit(
        _of_square(lambda s: (2 * mp.atanh(s) / s - 2 - 2 * s**2 / 3) / s**4),
        _of_square(lambda s: s**5 / (2 * mp.atanh(s))),
        mpf(0),
        ((_ROOT - 1) / (_ROOT + 1)) ** 2,
        (None, 7),
    ),
    # cos x = 1 - t/2 + t^2 p(t), t = x^2
    "cos": Fit(
        _of_square(lambda x: (mp.cos(x) - 1 + x**2 / 2) / x**4),
        _of_square(lambda x: x**4 / mp.cos(x)),
        mpf(0),
        (mp.pi / 4) ** 2,
        (2, 5),
    ),
    "sin": _odd(mp.sin, mp.pi / 4, (2, 5)),
    "sinh": _odd(mp.sinh, 1, (3, 7)),
    "atan": _odd(mp.atan, 0.5, (5, 12)),
    "asin": _odd(mp.asin, 0.5, (4, 11)),
    # erf x = x + x p(t), t = x^2
    "erf": Fit(
        _of_square(lambda x: mp.erf(x) / x - 1),
        _of_square(lambda x: x / mp.erf(x)),
        mpf(0),
        mpf(1),
        (None, 11),
    ),
    # erf x = 1 - e^p(x): what is left of 1 matters ever less
    "erf_far": Fit(
        lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x) / mp.erf(x), mpf(1), mpf(6), (None, 16)
    ),
    # erfc x = e^(-x^2) p(t) / (1 + 2x), t = (x - K) / (x + K): one polynomial from 0 to where erfc vanishes
    "erfc": Fit(
        lambda t: _scaled_erfc(_ERFC_CENTRE * (1 + t) / (1 - t)),
        lambda t: 1 / _scaled_erfc(_ERFC_CENTRE * (1 + t) / (1 - t)),
        mpf(-1),
        (mpf(28) - _ERFC_CENTRE) / (28 + _ERFC_CENTRE),
        (13, 22),
    ),
    # lgamma x = (x - 1)(x - 2) p(u), u = x - 1.75
    "lgamma": Fit(
        lambda u: _lgamma_without_roots(u + mpf("1.75")),
        lambda u: 1 / _lgamma_without_roots(u + mpf("1.75")),
        mpf("-0.85"),
        mpf("0.75"),
        (None, 24),
    ),
    # cube root of [1, 2)
    "cbrt": Fit(mp.cbrt, lambda m: 1 / mp.cbrt(m), 1 / _ROOT, _ROOT, (None, 4)),
}


def rounded(value: Any, bits: int) -> Any:
    """`value` to the nearest float of 32 or 64 bits."""
    return mpf(float(value)) if bits == 64 else mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def fit(problem: Fit, degree: int, bits: int) -> tuple[list[float], Any]:
    """Coefficients of degree 0 upwards, rounded to `bits`, and the weighted error they leave."""
    count = 60 * (degree + 2)
    middle, half = (problem.low + problem.high) / 2, (problem.high - problem.low) / 2
    grid = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    target = [problem.function(t) for t in grid]
    weight = [abs(problem.weight(t)) for t in grid]
    best = [rounded(c, bits) for c in _remez(grid, target, weight, degree)]
    error = max(
        abs(w * (y - mp.polyval(best[::-1], t))) for t, y, w in zip(grid, target, weight, strict=True)
    )
    return [float(c) for c in best], error


def _remez(grid: Sequence[Any], target: Sequence[Any], weight: Sequence[Any], degree: int) -> list[Any]:
    """The best polynomial of `degree` on the grid."""
    size, count = degree + 2, len(grid)
    chosen = [round((1 - mp.cos(mp.pi * i / (size - 1))) / 2 * (count - 1)) for i in range(size)]
    for _ in range(30):
        rows = [
            [grid[i] ** k for k in range(degree + 1)] + [(-1) ** j / weight[i]] for j, i in enumerate(chosen)
        ]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([target[i] for i in chosen]))
        polynomial, level = list(solution)[:-1], abs(solution[degree + 1])
        error = [
            w * (y - mp.polyval(polynomial[::-1], t)) for t, y, w in zip(grid, target, weight, strict=True)
        ]
        peaks = _alternating_peaks(error, size)
        if max(abs(e) for e in error) <= level * mpf("1.001") or len(peaks) < size:
            break
        chosen = peaks
    return polynomial


def _alternating_peaks(error: Sequence[Any], size: int) -> list[int]:
    """Where the error is largest within each run of one sign; the `size` best neighbouring ones."""
    peaks: list[int] = []
    for i, e in enumerate(error):
        if peaks and (e > 0) == (error[peaks[-1]] > 0):
            if abs(e) > abs(error[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > size:
        peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
    return peaks


def main(names: Sequence[str]) -> None:
    for name in names or FITS:
        for bits, degree in zip((32, 64), FITS[name].degrees, strict=True):
            if degree is not None:
                coefficients, error = fit(FITS[name], degree, bits)
                print(f"{name} f{bits}: 2^{float(mp.log(error, 2)):.1f}")
                print(f"    ({', '.join(_text(c, bits) for c in coefficients)}),")


def _text(value: float, bits: int) -> str:
    return repr(value) if bits == 64 else f"{value:.9g}"


if __name__ == "__main__":
    main(sys.argv[1:])
