"""Sums over what is computed of windows, and how much memory they take."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import pykern as pk


@pk.jit
def variance(x):
    return sliding_window_view(x, 5).var(axis=1)


@pk.jit
def written(x):
    w = sliding_window_view(x, 7)
    d = w - w.mean(axis=1)[:, None]
    return (d * d).sum(axis=1) / 7


@pk.jit
def from_moments(x):
    w = sliding_window_view(x, 5)
    return (w * w).mean(axis=1) - w.mean(axis=1) ** 2


@pk.jit
def deviations(x):
    w = sliding_window_view(x, (3, 2))
    return np.abs(w - w.max(axis=(2, 3), keepdims=True)).sum(axis=(2, 3))


@pk.jit
def along_places(x):
    """Summed over the places of windows, for each of their elements."""
    w = sliding_window_view(x, 5)
    return (w * w).sum(axis=0)


@pk.jit
def greatest(x, y):
    w = sliding_window_view(x, 5)
    return (w * y[:, None]).max(axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("program", [variance, written, from_moments, along_places])
@pytest.mark.parametrize("n", [7, 8, 100, 1003])
def test_of_a_vector(rng, program, n, dtype):
    x = rng.standard_normal(n).astype(dtype)
    expected = program.__wrapped__(x.astype(np.float64))
    np.testing.assert_allclose(program(x), expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 2), (5, 9), (40, 33)])
def test_of_a_matrix(rng, shape):
    x = rng.standard_normal(shape)
    np.testing.assert_allclose(deviations(x), deviations.__wrapped__(x))
    np.testing.assert_allclose(
        deviations(x.T[::-1].copy().T[:, ::-1]), deviations.__wrapped__(x.T[::-1].T[:, ::-1])
    )


def test_beside_another_array(rng):
    x, y = rng.standard_normal(50), rng.standard_normal(46)
    x[3] = np.nan
    np.testing.assert_allclose(greatest(x, y), greatest.__wrapped__(x, y))


def test_no_window_is_kept(rng):
    """An array of all windows would be five times the vector."""
    x = rng.standard_normal(1000).astype(np.float32)
    for program in (variance, from_moments):
        text = program.lower(x).as_text("kern-make-nests")
        assert "996x5xf32" not in text


def test_its_gradient(rng):
    x = rng.standard_normal(12)
    gradient = pk.grad(lambda x: variance(x).sum())(x)
    step = 1e-6
    for k in range(12):
        more, less = x.copy(), x.copy()
        more[k] += step
        less[k] -= step
        expected = (variance.__wrapped__(more).sum() - variance.__wrapped__(less).sum()) / (2 * step)
        assert gradient[k] == pytest.approx(expected, abs=1e-6)
