"""Sums along rows of flat arrays, `x[i * n + k]`: several rows at a time, in the order of the loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def row_sums(out, x, n, m):
    i = pk.index()
    if i < n:
        total = x.dtype(0)
        for k in range(m):
            total += x[i * m + k]
        out[i] = total


@pk.kernel
def matrix_times_vector(out, a, x, n, m):
    i = pk.index()
    if i < n:
        total = out.dtype(0)
        for k in range(m):
            total += a[i * m + k] * x[k]
        out[i] = total


@pk.kernel
def normalised(out, x, n, m):
    i = pk.index()
    if i < n:
        largest = x[i * m]
        for k in range(1, m):
            largest = max(largest, x[i * m + k])
        total = x.dtype(0)
        for k in range(m):
            out[i * m + k] = abs(x[i * m + k] - largest)
            total += out[i * m + k]
        for k in range(m):
            out[i * m + k] /= total + 1


@pk.kernel
def windows(out, x, n, m):
    """Neighbours read the same elements but one."""
    i = pk.index()
    if i < n:
        total = x.dtype(0)
        for k in range(m):
            total += x[i + k]
        out[i] = total


@pk.kernel
def wide_windows(out, x, n, m):
    """Rows overlap by all but three elements."""
    i = pk.index()
    if i < n:
        total = x.dtype(0)
        for k in range(m):
            total += x[3 * i + k]
        out[i] = total


@pk.kernel
def looked_up(out, x, places, n, m):
    i = pk.index()
    if i < n:
        total = x.dtype(0)
        for k in range(m):
            total += x[places[i] * m + k]
        out[i] = total


@pk.kernel
def between_bounds(out, x, n, m):
    i = pk.index()
    if i < n:
        total = x.dtype(0)
        for k in range(i * m, (i + 1) * m):
            total += x[k]
        for k in range(m * (i + 2), m * i + 3 * m):
            total += 2 * x[k]
        out[i] = total


SIZES = [(1, 1), (7, 5), (8, 8), (9, 17), (35, 31), (16, 64), (17, 0), (0, 9)]


def on_both(kernel, out, *given, n):
    """What compiled code and plain Python give."""
    found = []
    for device in ("cpu", "python"):
        mine = out.copy()
        kernel(mine, *given, ndrange=n + 5, device=device)
        found.append(mine)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_rows(rng, n, m, dtype):
    x, v = rng.standard_normal(n * m).astype(dtype), rng.standard_normal(m).astype(dtype)
    x[::11] *= 1e6
    near = {"rtol": 1e-3 if dtype is np.float32 else 1e-9, "atol": 1e-1 if dtype is np.float32 else 1e-6}
    compiled, plain = on_both(row_sums, np.ones(n, dtype), x, n, m, n=n)
    np.testing.assert_array_equal(compiled, plain)
    np.testing.assert_allclose(compiled, x.reshape(n, m).astype(float).sum(1), **near)
    compiled, plain = on_both(matrix_times_vector, np.ones(n, dtype), x, v, n, m, n=n)
    np.testing.assert_allclose(compiled, x.reshape(n, m).astype(float) @ v, **near)
    if m:
        compiled, plain = on_both(normalised, np.ones(n * m, dtype), x, n, m, n=n)
        np.testing.assert_array_equal(compiled, plain)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_rows_that_overlap(rng, n, m):
    x = rng.standard_normal(3 * n + m + 2)
    for kernel, step in ((windows, 1), (wide_windows, 3)):
        compiled, plain = on_both(kernel, np.ones(n), x, n, m, n=n)
        np.testing.assert_array_equal(compiled, plain)
        expected = [math.fsum(x[step * i : step * i + m]) for i in range(n)]
        np.testing.assert_allclose(compiled, expected, atol=1e-12)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_rows_that_are_looked_up(rng, n, m):
    x, places = rng.standard_normal(20 * m), rng.integers(0, 20, n)
    compiled, plain = on_both(looked_up, np.ones(n), x, places, n, m, n=n)
    np.testing.assert_array_equal(compiled, plain)
    np.testing.assert_allclose(compiled, x.reshape(20, m)[places].sum(1), atol=1e-12)


@pytest.mark.parametrize(("n", "m"), [*SIZES, (5, -3)])
def test_rows_between_bounds(rng, n, m):
    x = rng.standard_normal((n + 3) * max(m, 0))
    compiled, plain = on_both(between_bounds, np.ones(n), x, n, m, n=n)
    np.testing.assert_array_equal(compiled, plain)
    rows = x.reshape(n + 3, max(m, 0)).sum(1)
    np.testing.assert_allclose(compiled, rows[:n] + 2 * rows[2 : n + 2], atol=1e-12)
