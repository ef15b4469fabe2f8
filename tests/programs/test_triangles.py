"""Products of which a kernel computes a triangle: the other cells keep what they held. Against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def lower(c, a, b):
    i, j = pk.index()
    if j <= i:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[j, k]
        c[i, j] = c[i, j] + s


@pk.kernel
def strictly_upper(c, a, b):
    i, j = pk.index()
    if i < j:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = 2 * s


@pk.kernel
def band(c, a, b):
    i, j = pk.index()
    if j >= i - 5:
        for k in range(a.shape[1]):
            c[i, j] += a[i, k] * b[k, j]


@pk.kernel(fastmath=True)
def two_products(c, a, b, factor):
    i, j = pk.index()
    if j <= i:
        s = c.dtype(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[j, k] + b[i, k] * a[j, k]
        c[i, j] = factor * c[i, j] + s


@pk.jit
def run_lower(c, a, b):
    lower(c, a, b, ndrange=c.shape)


@pk.jit
def run_upper(c, a, b):
    strictly_upper(c, a, b, ndrange=c.shape)


@pk.jit
def run_band(c, a, b):
    band(c, a, b, ndrange=c.shape)


@pk.jit
def run_two(c, a, b, factor):
    two_products(c, a, b, factor, ndrange=c.shape)


def arrays(rng, dtype, *shapes):
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def close(found, exact, size, terms):
    eps = np.finfo(found.dtype).eps
    assert np.all(np.abs(found - exact) <= 4 * (terms + 8) * eps * size + 1e-30)


def wide(*given):
    return [x.astype(np.float64) for x in given]


SIZES = [(37, 37, 41), (131, 131, 67), (300, 211, 301), (97, 250, 129), (5, 8, 3), (64, 64, 1)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_lower(rng, m, n, k, dtype):
    c, a, b = arrays(rng, dtype, (m, n), (m, k), (n, k))
    before = c.copy()
    run_lower(c, a, b)
    c64, a64, b64 = wide(before, a, b)
    mask = np.tri(m, n, dtype=bool)
    np.testing.assert_array_equal(c[~mask], before[~mask])
    close(c, np.where(mask, c64 + a64 @ b64.T, c64), np.abs(c64) + np.abs(a64) @ np.abs(b64.T), k)


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_upper_and_a_band(rng, m, n, k):
    for run, mask, old, factor in (
        (run_upper, ~np.tri(m, n, dtype=bool), 0, 2),
        (run_band, ~np.tri(m, n, -6, dtype=bool), 1, 1),
    ):
        c, a, b = arrays(rng, np.float64, (m, n), (m, k), (k, n))
        before = c.copy()
        run(c, a, b)
        np.testing.assert_array_equal(c[~mask], before[~mask])
        exact = np.where(mask, old * before + factor * (a @ b), before)
        close(c, exact, np.abs(before) + 2 * np.abs(a) @ np.abs(b), k)


@pytest.mark.parametrize(("n", "k"), [(37, 41), (131, 300), (256, 64)])
def test_two_products_under_one_mask(rng, n, k):
    c, a, b = arrays(rng, np.float64, (n, n), (n, k), (n, k))
    before = c.copy()
    run_two(c, a, b, 1.5)
    mask = np.tri(n, dtype=bool)
    np.testing.assert_array_equal(c[~mask], before[~mask])
    size = 2 * np.abs(before) + np.abs(a) @ np.abs(b.T) + np.abs(b) @ np.abs(a.T)
    close(c, np.where(mask, 1.5 * before + a @ b.T + b @ a.T, before), size, k)


def test_what_is_not_a_number_stays_on_its_side(rng):
    c, a, b = arrays(rng, np.float64, (70, 70), (70, 40), (70, 40))
    a[3], b[60] = np.nan, np.inf
    before = c.copy()
    run_lower(c, a, b)
    mask = np.tri(70, dtype=bool)
    np.testing.assert_array_equal(c[~mask], before[~mask])
    wrong = np.zeros((70, 70), bool)
    wrong[3], wrong[:, 60] = True, True
    np.testing.assert_array_equal(~np.isfinite(c), wrong & mask)


@pytest.mark.parametrize(("run", "n"), [(run_lower, 203), (run_lower, 197), (run_upper, 151)])
def test_threads_change_no_bit(rng, run, n):
    """They take tiles from both ends; with an odd number of them one is in the middle."""
    c, a, b = arrays(rng, np.float64, (n, n), (n, n), (n, n))
    found = []
    before = pk.get_num_threads()
    try:
        for threads in (1, 2, 3, 7):
            pk.set_num_threads(threads)
            mine = c.copy()
            run(mine, a, b)
            found.append(mine)
    finally:
        pk.set_num_threads(before)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_triangles_are_tiles(rng):
    c, a, b = arrays(rng, np.float64, (131, 131), (131, 67), (131, 67))
    text = next(s.text for s in run_lower.lower(c, a, b).stages if s.name.startswith("kern-make-nests"))
    assert text.count("kern.schedule") == 1
    assert "arith.select" in text
