"""Kernels that read what other work-items' branches guard, or cells of rows that they write: NumPy's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def shorter(p, k):
    i, j = pk.index()
    p[i, j] = min(p[i, j], p[i, k] + p[k, j])


@pk.kernel
def shorter_by_branch(p, k):
    i, j = pk.index()
    through = p[i, k] + p[k, j]
    if through < p[i, j]:
        p[i, j] = through


@pk.kernel
def eliminated(a, k):
    i, j = pk.index()
    a[i, j] -= a[i, k] / a[k, k] * a[k, j]


@pk.kernel
def life(o, t):
    i, j = pk.index()
    h, w = t.shape
    n = 0
    for a in range(-1, 2):
        for b in range(-1, 2):
            if a != 0 or b != 0:
                n += t[(i + a) % h, (j + b) % w]
    o[i, j] = 1 if n == 3 or (n == 2 and t[i, j] == 1) else 0


def lived(t):
    n = sum(np.roll(t, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - t
    return ((n == 3) | ((n == 2) & (t == 1))).astype(t.dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32])
@pytest.mark.parametrize("kernel", [shorter, shorter_by_branch])
def test_shortest_paths(kernel, dtype):
    rng = np.random.default_rng(2)
    for n in (0, 1, 7, 37):
        found = rng.integers(1, 60, (n, n)).astype(dtype)
        expected = found.copy()
        for k in range(n):
            kernel(found, k, ndrange=found.shape)
            expected = np.minimum(expected, expected[:, k][:, None] + expected[k])
        np.testing.assert_array_equal(found, expected)


def test_elimination():
    rng = np.random.default_rng(2)
    n = 35
    found = rng.random((n, n)) + n * np.eye(n)
    expected = found.copy()
    for k in range(n):
        eliminated(found, k, ndrange=(range(k + 1, n), range(k + 1, n)))
        expected[k + 1 :, k + 1 :] -= np.outer(expected[k + 1 :, k] / expected[k, k], expected[k, k + 1 :])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 33), (40, 70)])
def test_life(shape):
    t = np.random.default_rng(4).integers(0, 2, shape).astype(np.uint8)
    found = np.empty_like(t)
    life(found, t, ndrange=shape)
    np.testing.assert_array_equal(found, lived(t))


def test_life_of_a_part():
    """A launch over more rows than `t` has would read outside; over fewer it does not."""
    t = np.random.default_rng(4).integers(0, 2, (20, 50)).astype(np.uint8)
    found = np.zeros((30, 60), np.uint8)
    life(found, t, ndrange=(9, 41))
    np.testing.assert_array_equal(found[:9, :41], lived(t)[:9, :41])
    assert not found[9:].any() and not found[:, 41:].any()
