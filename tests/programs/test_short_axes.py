"""Arrays of all pairs of points, whose last axis is split: against NumPy, and what has to stay as it is."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

N = 29


@pk.jit
def distances(x, y):
    return pk.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=-1))


@pk.jit
def nearest(x, y):
    return pk.abs(x[:, None] - y[None]).max(axis=-1).min(axis=1)


@pk.jit
def bodies(x, m):
    d = x[None] - x[:, None]
    r = (d * d).sum(axis=-1) + 1e-3
    return ((m[None] / (r * pk.sqrt(r)))[:, :, None] * d).sum(axis=1)


@pk.jit
def scaled(x, y, weight):
    """A weight for each coordinate, sums along another axis, and a product of all terms."""
    d = (x[:, None] - y[None]) * weight
    return d.sum(axis=1), (1 + d * d).prod(axis=2, keepdims=True), d.mean(axis=0)


@pk.jit
def returned(x, y):
    """The array of pairs is a result: it stays."""
    d = x[:, None] - y[None]
    return d, (d * d).sum(axis=-1)


@pk.jit
def both_ways(x):
    """Pairs in both orders."""
    d = x[:, None] * x[None]
    return (d - d.transpose(1, 0, 2)).sum(axis=2), (d + 2 * d.transpose(2, 1, 0)[0][:, :, None]).sum(axis=1)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("program", [distances, nearest])
def test_distances(program, length, rng):
    x, y = (
        rng.standard_normal((37, length)).astype(np.float32),
        rng.standard_normal((53, length)).astype(np.float32),
    )
    d = x[:, None].astype(np.float64) - y[None]
    expected = np.sqrt((d * d).sum(axis=-1)) if program is distances else np.abs(d).max(axis=-1).min(axis=1)
    np.testing.assert_allclose(program(x, y), expected, rtol=1e-5)


def test_the_order_of_terms_is_kept(rng):
    """A sum of three terms is added up as NumPy adds three."""
    x, y = rng.standard_normal((2, 41, 3)).astype(np.float32) * [1e8, 1, 1e-8]
    x, y = x.astype(np.float32), y.astype(np.float32)

    @pk.jit
    def summed(x, y):
        return (x[:, None] - y[None]).sum(axis=-1)

    np.testing.assert_array_equal(summed(x, y), (x[:, None] - y[None]).sum(axis=-1))


def test_bodies(rng):
    x, m = rng.random((67, 3)), rng.random(67)
    d = x[None] - x[:, None]
    r = (d * d).sum(axis=-1) + 1e-3
    np.testing.assert_allclose(bodies(x, m), ((m / r**1.5)[:, :, None] * d).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_sums_along_each_axis(dtype, rng):
    x, y = (10 * rng.standard_normal((N, 3))).astype(dtype), (10 * rng.standard_normal((31, 3))).astype(dtype)
    weight = np.array([1, -2, 3], dtype)
    for found, expected in zip(scaled(x, y, weight), _scaled(x, y, weight), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def _scaled(x, y, weight):
    d = (x[:, None] - y[None]) * weight
    return d.sum(axis=1), (1 + d * d).prod(axis=2, keepdims=True), d.mean(axis=0)


def test_what_stays(rng):
    x, y = rng.standard_normal((N, 3)), rng.standard_normal((31, 3))
    d = x[:, None] - y[None]
    found = returned(x, y)
    np.testing.assert_array_equal(found[0], d)
    np.testing.assert_allclose(found[1], (d * d).sum(axis=-1))
    x = rng.standard_normal((3, 3))
    d = x[:, None] * x[None]
    found = both_ways(x)
    np.testing.assert_allclose(found[0], (d - d.transpose(1, 0, 2)).sum(axis=2), atol=1e-12)
    np.testing.assert_allclose(found[1], (d + 2 * d.transpose(2, 1, 0)[0][:, :, None]).sum(axis=1))


def test_special_values(rng):
    x, y = rng.standard_normal((N, 3)), rng.standard_normal((31, 3))
    x[3, 1], y[5, 2], x[7] = np.nan, np.inf, -0.0
    d = x[:, None] - y[None]
    np.testing.assert_allclose(distances(x, y), np.sqrt((d * d).sum(axis=-1)))
    assert distances(x[:0], y).shape == (0, 31)


def test_gradient(rng):
    x, y = rng.random((N, 3)), 2 + rng.random((31, 3))
    d = x[:, None] - y[None]
    expected = (d / np.sqrt((d * d).sum(axis=-1))[:, :, None]).sum(axis=1)
    found = pk.grad(lambda x, y: pk.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=-1)).sum())(x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
