"""Powers whose exponents are numbers of a loop: written out they are products, within the error of `**`."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def each_power(out, x):
    """One power for each exponent, so that each can be looked at."""
    i = pk.index()
    for k in range(out.shape[1]):
        out[i, k] = x[i] ** k


@pk.kernel
def series(out, x, c):
    i = pk.index()
    total = x.dtype(0)
    for k in range(c.shape[0]):
        total += c[k] * x[i] ** (2 * k - 3)
    out[i] = total


@pk.kernel
def alternating(out, x):
    i = pk.index()
    total = x.dtype(0)
    for k in range(1, 9):
        total += x.dtype(-1) ** k * x[i] / k
    out[i] = total


@pk.jit
def vandermonde(x, c):
    return (x[:, None] ** np.arange(c.shape[0]) * c).sum(1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("most", [1, 12, 17])
def test_powers_by_the_number_of_a_loop(kind, most, rng):
    x = np.concatenate(
        [rng.standard_normal(1000), [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e30, 1e-30]]
    ).astype(kind)
    out = np.full((len(x), most), 7, kind)
    each_power(out, x, ndrange=len(x))
    with np.errstate(all="ignore"):
        expected = x[:, None].astype(np.longdouble) ** np.arange(most)
        expected = expected.astype(kind)
    np.testing.assert_array_max_ulp(np.abs(out[:1000]), np.abs(expected[:1000]), 4)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    np.testing.assert_array_equal(np.signbit(out[:-3]), np.signbit(expected[:-3]))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sums_of_powers(kind, rng):
    x, c = (rng.random(777) + 0.5).astype(kind), rng.standard_normal(7).astype(kind)
    out, on_reference = np.zeros_like(x), np.zeros_like(x)
    series(out, x, c, ndrange=len(x))
    series(on_reference, x, c, ndrange=len(x), device="python")
    expected = (x[:, None].astype(np.float64) ** (2 * np.arange(7.0) - 3)) @ c
    tolerance = 1e-4 if kind == np.float32 else 1e-11
    np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(out, on_reference, rtol=tolerance, atol=tolerance)


def test_signs_by_powers(rng):
    x = rng.random(100)
    out = np.zeros_like(x)
    alternating(out, x, ndrange=len(x))
    np.testing.assert_allclose(out, x * sum((-1) ** k / k for k in range(1, 9)), rtol=1e-14)


@pytest.mark.parametrize("terms", [0, 1, 5, 20])
def test_powers_of_a_program(terms, rng):
    x, c = rng.standard_normal(301), rng.standard_normal(terms)
    expected = (x[:, None] ** np.arange(terms) * c).sum(1)
    np.testing.assert_allclose(vandermonde(x, c), expected, rtol=1e-12, atol=1e-9)
