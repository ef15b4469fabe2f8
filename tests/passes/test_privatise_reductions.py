"""Scattered additions against NumPy: few and many work-items to a cell, by several threads, of every type."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pykern as pk

RANDOM = np.random.default_rng(11)


@pk.kernel
def histogram(bins, x):
    i, j = pk.index()
    pk.atomic_add(bins, x[i, j], 1)


@pytest.mark.parametrize("shape", [(1, 1), (0, 5), (3, 0), (7, 13), (300, 401), (1000, 2000)])
@pytest.mark.parametrize("cells", [1, 7, 256, 100_000])
def test_counts(shape, cells):
    x = RANDOM.integers(0, cells, shape)
    bins = RANDOM.integers(0, 100, cells).astype(np.int32)
    expected = bins + np.bincount(x.ravel(), minlength=cells)
    histogram(bins, x, ndrange=shape)
    np.testing.assert_array_equal(bins, expected)


@pk.kernel
def scatter(sums, weights, x, w):
    """Two arrays, one of two dimensions and any strides, and a cell that all share."""
    i = pk.index()
    k = x[i]
    if w[i] > 0.25:
        pk.atomic_add(sums, (k // 3, k % 3), w[i])
    for n in range(2):
        pk.atomic_add(weights, k, n + 1)
    pk.atomic_add(weights, len(weights) - 1, 1)


DTYPES = ("float32", "float64", "int8", "uint16", "int64")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 40, 5000])
def test_two_arrays(n, dtype):
    x, w = RANDOM.integers(0, 12, n), RANDOM.integers(0, 5, n).astype(dtype)
    sums = np.asfortranarray(RANDOM.integers(0, 9, (8, 3)).astype(dtype))[::2]
    weights = np.zeros(13, np.int32)
    expected = sums.copy()
    np.add.at(expected, (x // 3, x % 3), np.where(w > 0.25, w, 0).astype(dtype))
    scatter(sums, weights, x, w, ndrange=n)
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(weights, 3 * np.bincount(x, minlength=13) + n * (np.arange(13) == 12))


def test_untouched_cells_keep_their_bits():
    """Also negative zeros and what no number is."""
    sums = np.array([[-0.0, np.nan, 1.0], [-0.0, 2.0, -0.0]])
    x = np.array([2, 3, 3, 4, 5] * 20)
    w = np.where(x == 5, 0.5, np.where(x == 4, np.inf, np.where(x == 3, np.nan, 1.0)))
    scatter(sums, np.zeros(13, np.int32), x, w, ndrange=len(x))
    np.testing.assert_array_equal(sums, [[-0.0, np.nan, 21.0], [-0.0, np.inf, 10.0]])
    assert np.signbit(sums[[0, 1], 0]).all()


def test_launches_of_several_threads_add_to_the_same_cells():
    x = RANDOM.integers(0, 9, (50, 400))
    bins = np.zeros(9, np.int32)
    histogram(bins.copy(), x, ndrange=x.shape)  # compiles
    threads = [
        threading.Thread(target=lambda: [histogram(bins, x, ndrange=x.shape) for _ in range(20)])
        for _ in range(3)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    np.testing.assert_array_equal(bins, 60 * np.bincount(x.ravel(), minlength=9))


@pk.kernel
def numbered(order, counts, x):
    """The old value is a place of one's own: such additions stay atomic."""
    i = pk.index()
    at = pk.atomic_add(counts, x[i], 1)
    order[x[i], at] = i


def test_old_values():
    x = RANDOM.integers(0, 4, 999)
    order, counts = np.full((4, 999), -1), np.zeros(4, np.int32)
    numbered(order, counts, x, ndrange=999)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=4))
    for k in range(4):
        np.testing.assert_array_equal(np.sort(order[k, : counts[k]]), np.flatnonzero(x == k))
