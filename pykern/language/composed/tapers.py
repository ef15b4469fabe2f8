"""Functions of NumPy that make tapers: windows for signals."""

from __future__ import annotations

import numpy as np


def _places(m):
    """The places of `m` samples, from ``1 - m`` in steps of two."""
    return np.arange(1 - m, m, 2).astype(np.float64)


def hanning(M):
    """Give the Hann taper."""
    return 0.5 + 0.5 * np.cos(np.pi * _places(M) / (M - 1)) if M > 1 else np.ones(M)


def hamming(M):
    """Give the Hamming taper."""
    return 0.54 + 0.46 * np.cos(np.pi * _places(M) / (M - 1)) if M > 1 else np.ones(M)


def blackman(M):
    """Give the Blackman taper."""
    if M <= 1:
        return np.ones(M)
    angle = np.pi * _places(M) / (M - 1)
    return 0.42 + 0.5 * np.cos(angle) + 0.08 * np.cos(2.0 * angle)


def bartlett(M):
    """Give the triangle that is zero at both ends."""
    if M <= 1:
        return np.ones(M)
    n = _places(M)
    return np.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


def kaiser(M, beta):
    """Give the Kaiser taper."""
    if M <= 1:
        return np.ones(M)
    centre = (M - 1) / 2.0
    inside = 1 - ((np.arange(M) - centre) / centre) ** 2.0
    return np.i0(beta * np.sqrt(inside)) / np.i0(np.array([beta * 1.0]))
