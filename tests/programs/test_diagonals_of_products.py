"""Diagonals, of products above all, of which no more is computed than is read."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.jit
def trace(a, b):
    return np.trace(a @ b)


@pk.jit
def quadratic(x, a):
    return np.diag(x @ a @ x.T)


@pk.jit
def batched(a, b):
    return np.trace(np.transpose(a @ b, (1, 2, 0)))


@pk.jit
def both(a, b):
    product = a @ b
    return np.trace(product) + product.sum(), np.diagonal(product)


@pk.jit
def beside(x):
    return np.diag(x, 1), np.diag(x, -2), np.trace(x), np.diagonal(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 3), (70, 33), (3, 100)])
def test_as_numpy(rng, dtype, n, k):
    a, b = (rng.integers(-9, 9, shape).astype(dtype) for shape in [(n, k), (k, n)])
    np.testing.assert_allclose(trace(a, b), np.trace(a @ b))
    for found, expected in zip(both(a, b), both.__wrapped__(a, b), strict=True):
        np.testing.assert_allclose(found, expected)


def test_products_of_three(rng):
    x, a = rng.standard_normal((50, 7)), rng.standard_normal((7, 7))
    np.testing.assert_allclose(quadratic(x, a), np.einsum("ni,ij,nj->n", x, a, x))


def test_batches(rng):
    a, b = rng.standard_normal((4, 6, 9)), rng.standard_normal((4, 9, 6))
    np.testing.assert_allclose(batched(a, b), batched.__wrapped__(a, b))


@pytest.mark.parametrize("shape", [(5, 5), (3, 8), (8, 3), (5, 5, 2)])
def test_of_arrays(rng, shape):
    x = rng.standard_normal(shape)
    if len(shape) == 2:
        for found, expected in zip(beside(x), beside.__wrapped__(x), strict=True):
            np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(pk.jit(lambda x: np.diagonal(x))(x), np.diagonal(x))


def test_gradients(rng):
    a, b = rng.standard_normal((6, 4)), rng.standard_normal((4, 6))
    np.testing.assert_allclose(pk.grad(trace)(a, b), b.T)
    x, m = rng.standard_normal((5, 3)), rng.standard_normal((3, 3))
    found = pk.grad(lambda x, m: (quadratic(x, m) ** 2).sum())(x, m)
    values = np.einsum("ni,ij,nj->n", x, m, x)
    np.testing.assert_allclose(found, 2 * values[:, None] * (x @ m + x @ m.T))


def test_the_product_is_not_computed():
    a, b = np.zeros((40, 30), np.float32), np.zeros((30, 40), np.float32)
    assert "40x40" not in trace.lower(a, b).as_text("kern-make-nests")
