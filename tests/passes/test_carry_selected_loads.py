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
