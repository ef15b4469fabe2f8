"""The place of the best value, kept by its index alone: as NumPy finds it, with ties, NaN, and rows of any length."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def first_largest(o, x):
    i = pk.index()
    best = 0
    for j in range(1, x.shape[1]):
        if x[i, j] > x[i, best]:
            best = j
    o[i] = best


@pk.kernel
def last_smallest(o, x):
    i = pk.index()
    best = 0
    for j in range(x.shape[1]):
        best = j if x[i, j] <= x[i, best] else best
    o[i] = best


@pk.kernel
def down(o, x):
    j = pk.index()
    best = 0
    for i in range(1, x.shape[0]):
        if x[i, j] > x[best, j]:
            best = i
    o[j] = best


@pk.kernel
def from_somewhere(o, x, start, first, last):
    i = pk.index()
    best = start[i]
    for j in range(first, last):
        if x[j] > x[best]:
            best = j
    o[i] = best


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_as_numpy(rng, dtype):
    for rows, columns in [(1, 1), (3, 2), (20, 17), (7, 300), (65, 33)]:
        x = rng.integers(-20, 20, (rows, columns)).astype(dtype)
        found = np.full(rows, -1)
        first_largest(found, x, ndrange=rows)
        np.testing.assert_array_equal(found, x.argmax(1))
        last_smallest(found, x, ndrange=rows)
        np.testing.assert_array_equal(found, columns - 1 - x[:, ::-1].argmin(1))
        found = np.full(columns, -1)
        down(found, x, ndrange=columns)
        np.testing.assert_array_equal(found, x.argmax(0))


@pytest.mark.parametrize("kernel", [first_largest, last_smallest])
def test_special_values(rng, kernel):
    x = rng.choice([np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0], (50, 60))
    found, expected = np.full(50, -1), np.full(50, -2)
    kernel(found, x, ndrange=50)
    kernel(expected, x, ndrange=50, device="python")
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("first", "last"), [(0, 40), (5, 5), (9, 3), (3, 17)])
def test_where_the_loop_does_not_run_nothing_is_read(rng, first, last):
    """The first place is anywhere if nothing is compared with it."""
    x = rng.standard_normal(40)
    start = rng.integers(0, 40, 33) if first < last else np.full(33, 1 << 40)
    found, expected = np.zeros(33, np.int64), np.zeros(33, np.int64)
    from_somewhere(found, x, start, first, last, ndrange=33)
    from_somewhere(expected, x, start, first, last, ndrange=33, device="python")
    np.testing.assert_array_equal(found, expected)


@pk.kernel
def last_above(o, x, limit):
    j = pk.index()
    at = -1
    for k in range(x.shape[0]):
        if x[k, j] > limit:
            at = k
    if at >= 0:
        o[j] = 2 * x[at, j]


@pk.kernel
def nearest(o, x, first):
    i = pk.index()
    best = first
    for j in range(x.shape[1]):
        if abs(x[i, j]) < abs(x[i, best]):
            best = j
    o[i] = x[i, best]


@pk.kernel
def found_or_first(o, x, limit, n):
    """The number at the first place is read where the loop does not run, too."""
    i = pk.index()
    at = 3
    for k in range(n):
        if x[i, k] > limit:
            at = k
    o[i] = x[i, at]


def test_what_is_read_behind_the_loop(rng):
    for rows, columns in [(1, 1), (40, 33), (7, 100)]:
        x = rng.random((rows, columns)).astype(np.float32)
        found, expected = np.full(columns, 7, np.float32), np.full(columns, 7, np.float32)
        last_above(found, x, 0.9, ndrange=columns)
        for k in range(rows):
            expected = np.where(x[k] > 0.9, 2 * x[k], expected)
        np.testing.assert_array_equal(found, expected)
        found = np.zeros(rows, np.float32)
        nearest(found, x - 0.5, columns - 1, ndrange=rows)
        expected = (x - 0.5)[np.arange(rows), np.abs(x - 0.5).argmin(1)]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [0, 1, 20])
def test_an_index_that_no_iteration_replaces(rng, n):
    x = rng.random((35, 20))
    found, expected = np.zeros(35), np.zeros(35)
    found_or_first(found, x, 0.8, n, ndrange=35)
    found_or_first(expected, x, 0.8, n, ndrange=35, device="python")
    np.testing.assert_array_equal(found, expected)
