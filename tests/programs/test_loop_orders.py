"""Loops in every order: transpositions in blocks, broadcasts, products of matrices in every layout."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.jit
def transposed_sum(x, y):
    return x.T + y


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (64, 64), (100, 333), (500, 70)])
def test_transposition(rng, shape):
    x, y = rng.random(shape), rng.random(shape[::-1])
    np.testing.assert_array_equal(transposed_sum(x, y), x.T + y)


def test_transposition_turns_squares():
    lowered = transposed_sum.lower(pk.spec((512, 256), pk.f64), pk.spec((256, 512), pk.f64))
    nest = lowered.as_text("kern-make-nests").split("nest0(")[-1]
    assert "vector.shuffle" in nest


@pytest.mark.parametrize("axes", [(0, 2, 1), (2, 1, 0), (1, 2, 0)])
def test_three_dimensions(rng, axes):
    @pk.jit
    def f(x):
        return pk.transpose(x, axes) * 2

    x = rng.random((65, 70, 80))
    np.testing.assert_array_equal(f(x), x.transpose(axes) * 2)


def test_broadcasts(rng):
    @pk.jit
    def f(x, row, column):
        return pk.exp(row) * x + column[:, None]

    x, row, column = rng.random((300, 200)), rng.random(200), rng.random(300)
    np.testing.assert_allclose(f(x, row, column), np.exp(row) * x + column[:, None], rtol=1e-14)


def test_what_is_broadcast_is_computed_once():
    @pk.jit
    def f(x, row):
        return pk.exp(row) * x

    text = f.lower(pk.spec((300, 200), pk.f64), pk.spec(200, pk.f64)).as_text("kern-separate-empties")
    assert text.count("linalg.generic") == 2


@pk.jit
def softmax(x):
    e = pk.exp(x - pk.max(x, axis=1, keepdims=True))
    return e / pk.sum(e, axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [(1, 1), (33, 1000), (1000, 33)])
def test_softmax(rng, shape):
    x = rng.standard_normal(shape).astype(np.float32) * 10
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(softmax(x), e / e.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-12)


LAYOUTS = {
    "ab": lambda a, b: a @ b,
    "aTb": lambda a, b: a.T @ b,
    "abT": lambda a, b: a @ b.T,
    "aTbT": lambda a, b: a.T @ b.T,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("m", "k", "n"), [(6, 8, 16), (61, 300, 45), (200, 513, 17), (7, 9, 8)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products(rng, layout, m, k, n, dtype):
    a = rng.standard_normal((k, m) if layout.startswith("aT") else (m, k)).astype(dtype)
    b = rng.standard_normal((n, k) if layout.endswith("bT") else (k, n)).astype(dtype)
    expected = LAYOUTS[layout](a.astype(np.float64), b.astype(np.float64))
    result = products[layout](a, b)
    assert result.dtype == dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(result, expected, rtol=0, atol=40 * eps * np.sqrt(k))


products = {}


@pk.jit
def _ab(a, b):
    return a @ b


@pk.jit
def _atb(a, b):
    return a.T @ b


@pk.jit
def _abt(a, b):
    return a @ b.T


@pk.jit
def _atbt(a, b):
    return a.T @ b.T


products.update(ab=_ab, aTb=_atb, abT=_abt, aTbT=_atbt)


def test_batches_of_products(rng):
    a, b = rng.random((5, 20, 30)), rng.random((5, 30, 24))
    np.testing.assert_allclose(_ab(a, b), a @ b, rtol=1e-13)


def test_product_into_more(rng):
    @pk.jit
    def layer(x, w, bias):
        return pk.maximum(x @ w + bias, 0.0)

    x, w, bias = rng.standard_normal((70, 40)), rng.standard_normal((40, 50)), rng.standard_normal(50)
    np.testing.assert_allclose(layer(x, w, bias), np.maximum(x @ w + bias, 0), rtol=1e-12, atol=1e-13)


def test_nan_and_infinity_in_a_product(rng):
    a, b = rng.random((12, 20)), rng.random((20, 20))
    a[3, 4], b[5, 6] = np.nan, np.inf
    np.testing.assert_allclose(_ab(a, b), a @ b, rtol=1e-13)


def test_siblings_run_as_one_loop(rng):
    @pk.jit
    def rotate(u, v, c, s):
        return c * u - s * v, s * u + c * v, pk.sum(u), pk.sum(u * v)

    u, v = rng.random((2, 50_000))
    a, b, total, product = rotate(u, v, 0.6, 0.8)
    np.testing.assert_allclose(a, 0.6 * u - 0.8 * v, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(b, 0.8 * u + 0.6 * v, rtol=1e-13)
    np.testing.assert_allclose((total, product), (u.sum(), (u * v).sum()), rtol=1e-12)
    text = rotate.lower(u, v, 0.6, 0.8).as_text("kern-fuse-siblings")
    assert text.count('iterator_types = ["parallel"]') == 1
    assert text.count('iterator_types = ["reduction"]') == 1


def test_what_one_needs_of_the_other_stays_apart(rng):
    @pk.jit
    def f(x):
        mean = pk.mean(x)
        centred = x - mean
        return centred, pk.sum(centred * centred), pk.max(x)

    x = rng.random(1000)
    centred, squares, greatest = f(x)
    np.testing.assert_allclose(centred, x - x.mean(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose((squares, greatest), (((x - x.mean()) ** 2).sum(), x.max()), rtol=1e-12)


def test_in_place_beside_a_reader(rng):
    """The second loop reads what the first one overwrites."""

    @pk.jit
    def f(x, y):
        z = x + y
        x[...] = x * 2
        return z, x - y

    x, y = rng.random((2, 100))
    before = x.copy()
    z, d = f(x, y)
    np.testing.assert_allclose(z, before + y)
    np.testing.assert_allclose(x, before * 2)
    np.testing.assert_allclose(d, before * 2 - y)
