"""Functions of NumPy on polynomials, whose highest coefficient comes first."""

from __future__ import annotations

from typing import Any

import numpy as np


def polyadd(a1, a2):
    """Add polynomials."""
    n = max(len(a1), len(a2))
    return np.pad(a1, (n - len(a1), 0)) + np.pad(a2, (n - len(a2), 0))


def polysub(a1, a2):
    """Subtract polynomials."""
    n = max(len(a1), len(a2))
    return np.pad(a1, (n - len(a1), 0)) - np.pad(a2, (n - len(a2), 0))


def polymul(a1, a2):
    """Multiply polynomials."""
    return np.convolve(a1, a2)


def polyder(p, m=1):
    """Give the derivative of order `m`."""
    found = p
    for _ in range(m):
        n = len(found) - 1
        found = found[:-1] * (n - np.arange(n))
    return found


def polyint(p, m=1, k: Any = 0.0):
    """Give the integral of order `m`, with the constant `k`, or with one for each step."""
    found = p
    for step in range(m):
        n = len(found)
        found = np.append(found / (n - np.arange(n)), k if np.ndim(k) == 0 else k[step])
    return found


def polyfit(x, y, deg):
    """Fit a polynomial by least squares, its columns scaled as in NumPy."""
    columns = np.vander(x + 0.0, deg + 1)
    scale = np.sqrt(np.sum(columns * columns, axis=0))
    found = np.linalg.lstsq(columns / scale, y)[0]
    return found / scale if y.ndim == 1 else found / scale[:, None]
