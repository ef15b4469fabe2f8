"""kern-vectorize-reductions: maxima and sums over rows of any length, with NaN and infinities where they hurt."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import PassError
from pykern.passes.vectorize.vectorize_reductions import VectorizeReductions

LENGTHS = (1, 2, 15, 16, 31, 32, 33, 63, 64, 65, 100, 1000, 1025)


@pk.kernel
def extremes(low, high, x):
    """From the first element on, as users write it."""
    i = pk.index()
    smallest, largest = x[i, 0], x[i, 0]
    for k in range(1, x.shape[1]):
        smallest = min(smallest, x[i, k])
        largest = max(largest, x[i, k])
    low[i] = smallest
    high[i] = largest


@pk.kernel(fastmath=True)
def moments(total, squares, largest, y, x):
    """A maximum, a sum that needs it and stores on the way, and a maximum of what was stored."""
    i = pk.index()
    n = x.shape[1]
    top = x[i, 0]
    for k in range(n):
        top = max(top, x[i, k])
    t = 0.0
    s = 0.0
    for k in range(n):
        d = x[i, k] - top
        y[i, k] = d
        t += d
        s += d * d
    m = y[i, 0]
    for k in range(n):
        m = max(m, -y[i, k])
    total[i] = t
    squares[i] = s
    largest[i] = m


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_extremes(rng, length, dtype):
    x = rng.standard_normal((7, length)).astype(dtype)
    low, high = np.zeros(7, dtype), np.zeros(7, dtype)
    extremes(low, high, x, ndrange=7)
    np.testing.assert_array_equal(low, x.min(1))
    np.testing.assert_array_equal(high, x.max(1))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_one_special_value_anywhere(length, special):
    """Row r has it in column r: first, last, in the part that whole vectors leave over."""
    x = np.random.default_rng(length).standard_normal((length, length)).astype(np.float32)
    np.fill_diagonal(x, special)
    low, high = np.zeros(length, np.float32), np.zeros(length, np.float32)
    extremes(low, high, x, ndrange=length)
    np.testing.assert_array_equal(low, x.min(1))
    np.testing.assert_array_equal(high, x.max(1))


def test_rows_of_nothing_else():
    for value in (np.nan, np.inf, -np.inf):
        x = np.full((3, 77), value, np.float32)
        low, high = np.zeros(3, np.float32), np.zeros(3, np.float32)
        extremes(low, high, x, ndrange=3)
        np.testing.assert_array_equal(low, x[:, 0])
        np.testing.assert_array_equal(high, x[:, 0])


@pytest.mark.parametrize("length", LENGTHS)
def test_passes_over_a_row(rng, length):
    x = rng.standard_normal((9, length)).astype(np.float32)
    total, squares, largest = (np.zeros(9, np.float32) for _ in range(3))
    y = np.zeros_like(x)
    moments(total, squares, largest, y, x, ndrange=9)
    d = x.astype(np.float64) - x.max(1, keepdims=True)
    np.testing.assert_allclose(y, d, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(total, d.sum(1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(squares, (d * d).sum(1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(largest, np.maximum((-d).max(1), d[:, 0]), rtol=1e-6, atol=1e-6)


@pk.kernel(fastmath=True)
def quick(y, x):
    i = pk.index()
    y[i] = pk.exp(x[i])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_approximate_exp(dtype):
    """As exact as the other one but at the ends: below 2^-126.5 nothing, above 2^127.5 too much."""
    edge = 87.0 if dtype == "float32" else 708.0
    x = np.linspace(-edge, edge, 20_001).astype(dtype)
    y = np.zeros_like(x)
    quick(y, x, ndrange=len(x))
    np.testing.assert_allclose(y, np.exp(x.astype(np.longdouble)).astype(dtype), rtol=4 * np.finfo(dtype).eps)
    x = np.array([-np.inf, -2000.0, 2000.0, np.inf, np.nan, 0.0], dtype)
    y = np.zeros_like(x)
    quick(y, x, ndrange=len(x))
    np.testing.assert_array_equal(y, [0.0, 0.0, np.inf, np.inf, np.nan, 1.0])


def test_width_is_a_power_of_two():
    with pytest.raises(PassError, match="power of two"):
        VectorizeReductions(bytes=48).run(None)  # type: ignore[arg-type]
