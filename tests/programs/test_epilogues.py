"""What is computed in the tiles of a product: against NumPy in f64, and that it is one function."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk

SIZES = [(7, 9, 5), (31, 64, 17), (98, 751, 1400), (1, 40, 30), (103, 957, 1100)]
"""The large ones are packed where the second cache has up to 2 MiB."""


@pk.jit
def layer(a, b, bias, scale, rest):
    return pk.tanh(a @ b + bias) * scale + rest


@pk.jit
def rectified(a, b, bias):
    return pk.maximum(a @ b + bias, 0.0)


@pk.jit
def by_rows(a, b, bias):
    return (a @ b) * bias[:, None]


@pk.jit
def used_twice(a, b):
    product = a @ b
    return pk.exp(product), product


@pk.jit
def into_its_factor(a, b):
    a[:] = a @ b + 1.0
    return a


def functions_in(program, *arguments) -> int:
    text = next(s.text for s in program.lower(*arguments).stages if s.name == "kern-make-nests")
    return text.count("kern.nest,")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_bias_activation_scale_residual(rng, m, n, k, dtype):
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    bias, rest = rng.standard_normal(n).astype(dtype), rng.standard_normal((m, n)).astype(dtype)
    exact = np.tanh(a.astype(float) @ b + bias) * 2.5 + rest
    limit = 20 * k * np.finfo(dtype).eps
    np.testing.assert_allclose(layer(a, b, bias, 2.5, rest), exact, rtol=0, atol=limit)
    np.testing.assert_allclose(
        rectified(a, b, bias), np.maximum(a.astype(float) @ b + bias, 0), rtol=0, atol=limit
    )
    if min(m, n) > 1:
        assert functions_in(rectified, a, b, bias) in ((3, 4) if min(m, n, k) >= 96 else (1,))


def test_a_factor_of_each_row(rng):
    a, b, bias = rng.standard_normal((33, 20)), rng.standard_normal((20, 19)), rng.standard_normal(33)
    np.testing.assert_allclose(by_rows(a, b, bias), (a @ b) * bias[:, None], atol=1e-13)


def test_batches(rng):
    a, b, bias = rng.standard_normal((3, 40, 50)), rng.standard_normal((50, 21)), rng.standard_normal(21)
    np.testing.assert_allclose(rectified(a, b, bias), np.maximum(a @ b + bias, 0), atol=1e-12)


def test_a_product_that_is_kept(rng):
    a, b = rng.standard_normal((20, 12)), rng.standard_normal((12, 16))
    found, product = used_twice(a, b)
    np.testing.assert_allclose(product, a @ b, atol=1e-13)
    np.testing.assert_allclose(found, np.exp(a @ b), rtol=1e-12)


@pytest.mark.parametrize("n", [16, 100])
def test_a_result_in_the_place_of_a_factor(rng, n):
    a, b = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    exact = a @ b + 1.0
    np.testing.assert_allclose(into_its_factor(a, b), exact, atol=1e-11)


def test_nan_and_infinity_reach_only_their_rows(rng):
    a, b, bias = rng.standard_normal((99, 97)), rng.standard_normal((97, 98)), np.zeros(98)
    a[3, 5], a[98, 96] = np.nan, np.inf
    found = rectified(a, b, bias)
    with np.errstate(invalid="ignore"):
        exact = np.maximum(a @ b + bias, 0)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(exact))
    kept = np.isfinite(exact)
    np.testing.assert_allclose(found[kept], exact[kept], atol=1e-11)


@pk.jit
def scaled_lines(a, v):
    return (a @ v) * 2.0 + 1.0


@pytest.mark.parametrize("shape", [(2, 2, 3), (2, 7, 3), (3, 4, 20), (2, 3, 5, 6), (5, 1, 9), (1, 4, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_several_dimensions_times_a_vector(rng, shape, dtype):
    """Rows that lie as one when nothing reads them are dimensions of their own when something does."""
    a, v = rng.random(shape).astype(dtype), rng.random(shape[-1]).astype(dtype)
    expected = (a.astype(np.float64) @ v.astype(np.float64)) * 2 + 1
    np.testing.assert_allclose(scaled_lines(a, v), expected, rtol=20 * np.finfo(dtype).eps)


@pk.jit
def last_row_first(a, b, rest):
    return a @ b + rest[::-1]


@pytest.mark.parametrize(("m", "n", "k"), [*SIZES, (200, 130, 300)])
def test_rows_read_from_the_end(rng, m, n, k):
    a, b, rest = (rng.standard_normal(s) for s in ((m, k), (k, n), (m, n)))
    np.testing.assert_allclose(last_row_first(a, b, rest), a @ b + rest[::-1], atol=1e-11)


@pytest.mark.parametrize(("m", "n", "k"), [(7, 1, 5), (5, 13, 7), (33, 71, 20)])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_short_floats(rng, m, n, k, dtype):
    a, b, bias = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n), (n,)))
    wide = [x.astype(np.float64) for x in (a, b, bias)]
    found, exact = rectified(a, b, bias), np.maximum(wide[0] @ wide[1] + wide[2], 0)
    assert found.dtype == dtype
    size = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2])
    assert (np.abs(found.astype(np.float64) - exact) <= 4 * float(ml_dtypes.finfo(dtype).eps) * size).all()
