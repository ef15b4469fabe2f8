"""Where the quotients of polynomials come from: minimax fits in double precision.

Comes in: nothing (``python -m pykern.passes.arithmetic.vector_math.rational``; needs mpmath and NumPy). Goes out: the
coefficients and the error of each fit. The compiler never imports this file.

The fit is a least-squares problem that is linear in both polynomials, solved again and again with the weights of
Lawson's algorithm, which move towards the places of the largest errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp

mp.dps = 40
ROUNDS = 120


def fit(
    function: Callable[[Any], Any], weight: Callable[[Any], Any], high: float, degrees: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, float]:
    """p and q, degree 0 first, q(0) = 1, with the least ``|weight * (function - p / q)|`` on (0, high]; that error."""
    angles = np.pi * (2 * np.arange(400) + 1) / 800
    points = high / 2 * (1 - np.cos(angles)) + 1e-9
    target = np.array([float(function(mp.mpf(t))) for t in points])
    wanted = np.array([float(weight(mp.mpf(t))) for t in points])
    above, below = (np.vander(points / high, degree + 1, increasing=True) for degree in degrees)
    shares, quotient = np.ones_like(points), np.ones_like(points)
    best: tuple[float, np.ndarray, np.ndarray] = (np.inf, np.zeros(0), np.zeros(0))
    for _ in range(ROUNDS):
        scale = np.sqrt(shares) * wanted / np.abs(quotient)
        system = np.hstack([above * scale[:, None], -below[:, 1:] * (target * scale)[:, None]])
        solved = np.linalg.lstsq(system, target * scale, rcond=None)[0]
        p, q = solved[: degrees[0] + 1], np.concatenate([[1.0], solved[degrees[0] + 1 :]])
        quotient = below @ q
        error = np.abs(wanted * (target - above @ p / quotient))
        if error.max() < best[0]:
            best = float(error.max()), p, q
        shares = np.maximum(shares * error / (shares * error).sum(), 1e-12)
    _, p, q = best
    return p / high ** np.arange(len(p)), q / high ** np.arange(len(q)), best[0]


def quotient_of(
    name: str, function: Callable[[Any], Any], part: float, high: float, degrees: tuple[int, int]
) -> None:
    """Print p and q of ``function x = part x + x p(t) / q(t)``, ``t = x^2``, for x to `high`."""

    def rest(t: Any) -> Any:
        x = mp.sqrt(t)
        return function(x) / x - part

    p, q, error = fit(rest, lambda t: 1 / (rest(t) + part), high**2, degrees)
    print(f"{name} f32: 2^{np.log2(error):.1f}")
    for each in (p, q):
        print(f"    ({', '.join(f'{np.float32(c):.9g}' for c in each)}),")


def main() -> None:
    quotient_of("erf", mp.erf, 0.25, 4.0, (5, 5))
    quotient_of("tanh", mp.tanh, 0.125, 9.125, (5, 4))


if __name__ == "__main__":
    main()
