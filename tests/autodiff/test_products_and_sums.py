"""Gradients of products of matrices, also transposed, and of slices that are added up; against NumPy's formulas.

Products become register tiles (`passes/codegen/cpu/contraction`), whatever way their factors lie; cheap elementwise ops
are joined before they are reversed (`raised/join`).
"""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

random = np.random.default_rng(29)


@pk.jit
def plain(a, b):
    return a @ b


@pk.jit
def left(a, b):
    return a.T @ b


@pk.jit
def right(a, b):
    return a @ b.T


@pk.jit
def both(a, b):
    return a.T @ b.T


PRODUCTS = {"plain": (plain, False, False), "left": (left, True, False)} | {
    "right": (right, False, True), "both": (both, True, True),
}  # fmt: skip
SIZES = [(1, 1, 1), (7, 9, 5), (33, 17, 65), (6, 300, 16)]
"""m, k, n: below a tile, with rests in each direction, deeper than a panel."""


@pytest.mark.parametrize(("size", "dtype"), [*((s, np.float64) for s in SIZES), (SIZES[2], np.float32)])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, size, dtype):
    program, first, second = PRODUCTS[name]
    m, k, n = size
    a, b, seed = (random.standard_normal(s).astype(dtype) for s in ((m, k), (k, n), (m, n)))
    da, db = seed @ b.T, a.T @ seed
    given = (a.T.copy() if first else a, b.T.copy() if second else b)
    value, pull = pk.vjp(program, *given)
    found = pull(seed)
    tolerance = 1e-13 if dtype == np.float64 else 2e-5
    near = {"rtol": tolerance, "atol": tolerance * max(size)}
    np.testing.assert_allclose(value, a @ b, **near)
    np.testing.assert_allclose(found[0], da.T if first else da, **near)
    np.testing.assert_allclose(found[1], db.T if second else db, **near)


@pk.jit
def joined(x, c):
    """Slices of one array in several statements, one of them read twice, one behind an exponential."""
    inner = 0.5 * x[1:-1] + 0.25 * x[2:]
    outer = c * (x[:-2] - inner)
    return inner * outer + pk.exp(x[:-2]) * inner - outer


def joined_reference(x, c):
    l, m, r = x[:-2], x[1:-1], x[2:]  # noqa: E741
    inner = 0.5 * m + 0.25 * r
    outer = c * (l - inner)
    by_inner = outer - c * inner + np.exp(l) + c
    return inner * outer + np.exp(l) * inner - outer, by_inner, inner * c + np.exp(l) * inner - c, l, inner


@pytest.mark.parametrize("n", [3, 4, 11, 130])
def test_joined_slices(n):
    x, c, seed = random.standard_normal(n), 0.75, random.standard_normal(n - 2)
    expected, by_inner, by_left, first, inner = joined_reference(x, c)
    value, pull = pk.vjp(joined, x, c)
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-14)
    dx = np.zeros(n)
    dx[:-2] += seed * by_left
    dx[1:-1] += seed * 0.5 * by_inner
    dx[2:] += seed * 0.25 * by_inner
    found, dc = pull(seed)
    np.testing.assert_allclose(found, dx, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(dc, seed @ ((inner - 1) * (first - inner)), rtol=1e-12)


@pk.jit
def transposed_slices(x, y):
    """A permutation between two ops that are joined."""
    s = x[1:, :-1] + 2.0 * x[:-1, 1:]
    return s.T * y + s.T


def test_joined_through_a_transposition():
    x, y, seed = random.random((6, 5)), random.random((4, 5)), random.random((4, 5))
    _, pull = pk.vjp(transposed_slices, x, y)
    dx, dy = pull(seed)
    expected, flowing = np.zeros_like(x), (seed * (y + 1)).T
    expected[1:, :-1] += flowing
    expected[:-1, 1:] += 2 * flowing
    np.testing.assert_allclose(dx, expected, rtol=1e-13)
    np.testing.assert_allclose(dy, seed * (x[1:, :-1] + 2 * x[:-1, 1:]).T, rtol=1e-13)


@pk.jit
def hessian_of_joined(x):
    return pk.sum(joined(x, 0.75) * joined(x, 0.5))


def test_second_derivatives_of_joined():
    x, v = random.random(9), random.random(9)
    step = 1e-5
    gradient = pk.grad(hessian_of_joined)
    expected = (gradient(x + step * v) - gradient(x - step * v)) / (2 * step)
    np.testing.assert_allclose(pk.hvp(hessian_of_joined, (x,), (v,)), expected, rtol=1e-7)


@pk.jit
def least(x):
    return x.min(keepdims=True).sum()


@pk.jit
def weighted(w, x, y):
    return ((w @ x) * y).sum()


def test_the_least_element_kept_as_an_array():
    x = np.array([3.0, -1.0, 2.0])
    np.testing.assert_array_equal(pk.grad(least)(x), [0.0, 1.0, 0.0])


@pytest.mark.parametrize("shape", [(4, 3, 2), (2, 64, 65)])
def test_a_vector_times_matrices(shape):
    rng = np.random.default_rng(5)
    w, x, y = rng.standard_normal(shape[1]), rng.standard_normal(shape), rng.standard_normal(shape[::2])
    dw, dx = pk.grad(weighted, argnums=(0, 1))(w, x, y)
    np.testing.assert_allclose(dw, np.einsum("bkn,bn->k", x, y), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(dx, w[:, None] * y[:, None, :], rtol=1e-12)


def test_a_sum_used_as_both_factors():
    """Its adjoint has two parts: they are added once, not once for each element the sum was made of."""

    @pk.jit
    def loss(a, w):
        total = a.sum(axis=(1, 2), keepdims=True)
        square = total * total
        return ((square @ pk.swapaxes(square, -1, -2)) * w).sum()

    a, w = random.uniform(-1, 1, (3, 2, 4)), random.uniform(-1, 1, (3, 1, 1))
    expected = 4 * a.sum(axis=(1, 2), keepdims=True) ** 3 * w + 0 * a
    np.testing.assert_allclose(pk.grad(loss)(a, w), expected, rtol=1e-12)
