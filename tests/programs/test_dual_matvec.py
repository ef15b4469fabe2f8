"""One matrix times vectors from both sides, which goes by once: against NumPy, one thread and two."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

SHAPES = [(1002, 509), (1602, 1409), (190, 12101), (1, 70001), (7, 310003), (310000, 7)]
"""Those of 17 MB are larger than half of a last cache of 32: there rows are added up right after their sums."""


@pk.jit
def there_and_back(a, x):
    return (a @ x) @ a


@pk.jit
def both(a, x, w):
    return a @ x, w @ a


@pk.jit
def both_by_columns(a, x, w):
    return a.T @ x, w @ a.T


@pk.jit
def residual(a, x, b, w):
    r = a @ x - b
    return r, (2.0 * w * r) @ a


@pk.jit
def added_to(y, z, a, x, w):
    y += a @ x
    z += w @ a
    return y, z


@pk.jit
def sums_needed_twice(a, x, w):
    y = a @ x
    return y + w, y @ a, y * 3.0


@pk.jit
def two_matrices(a, b, x, u, v, w):
    t = (a @ x) * (b @ u)
    return w @ a, v @ b, t


@pk.jit
def one_after_the_other(a, w):
    return a @ (w @ a)


def _vectors(shape, dtype):
    rng = np.random.default_rng(7)
    a = rng.standard_normal(shape)
    x, w, b = rng.standard_normal(shape[1]), rng.standard_normal(shape[0]), rng.standard_normal(shape[0])
    return [v.astype(dtype) for v in (a, x, w, b)]


def _check(given, exact, scale):
    """Within n * eps of the sum of magnitudes, generously."""
    eps = np.finfo(given.dtype).eps
    assert given.shape == exact.shape
    np.testing.assert_array_less(np.abs(given - exact), 64 * eps * scale + 1e-300)


@pytest.mark.parametrize("shape", SHAPES)
def test_either_way(shape):
    a, x, w, b = _vectors(shape, np.float64)
    size = np.abs(a)
    of_rows, along = size @ np.abs(x), np.abs(w) @ size
    _check(there_and_back(a, x), (a @ x) @ a, of_rows @ size)
    y, z = both(a, x, w)
    _check(y, a @ x, of_rows)
    _check(z, w @ a, along)
    r, g = residual(a, x, b, w)
    _check(r, a @ x - b, of_rows + np.abs(b))
    _check(g, (2 * w * (a @ x - b)) @ a, (2 * np.abs(w) * (of_rows + np.abs(b))) @ size)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_other_forms(dtype):
    a, x, w, b = _vectors((2602, 1809), dtype)
    A, X, W, B = (v.astype(np.float64) for v in (a, x, w, b))  # noqa: N806
    size = np.abs(A)
    of_rows, along = size @ np.abs(X), np.abs(W) @ size
    _check(there_and_back(a, x), (A @ X) @ A, of_rows @ size)
    y, z = both_by_columns(a, w, x)
    _check(y, A.T @ W, along)
    _check(z, X @ A.T, of_rows)
    y, z = added_to(b.copy(), x.copy(), a, x, w)
    _check(y, B + A @ X, of_rows + np.abs(B))
    _check(z, X + W @ A, along + np.abs(X))
    p, q, t = sums_needed_twice(a, x, w)
    _check(p, A @ X + W, of_rows + np.abs(W))
    _check(q, (A @ X) @ A, of_rows @ size)
    _check(t, 3 * (A @ X), 3 * of_rows)
    _check(one_after_the_other(a, w), A @ (W @ A), size @ along)


@pk.jit
def in_place(a, x, w):
    before = w @ a
    w[:] = a @ x
    return before


def test_factors_are_read_before_sums_take_their_place():
    a, x, w, _ = _vectors((1002, 509), np.float64)
    y = w.copy()
    _check(in_place(a, x, y), w @ a, np.abs(w) @ np.abs(a))
    _check(y, a @ x, np.abs(a) @ np.abs(x))


def test_what_lies_between_is_taken_once():
    """`t` lies between both products of `a`, and of `b`."""
    a, x, w, v = _vectors((1002, 509), np.float64)
    b, u = a[::-1].copy(), x[::-1].copy()
    p, q, t = two_matrices(a, b, x, u, v, w)
    _check(t, (a @ x) * (b @ u), (np.abs(a) @ np.abs(x)) * (np.abs(b) @ np.abs(u)))
    _check(p, w @ a, np.abs(w) @ np.abs(a))
    _check(q, v @ b, np.abs(v) @ np.abs(b))


@pytest.mark.parametrize("function", [there_and_back, lambda a, x: both(a, x, a[:, 0].copy())[1]])
def test_threads_change_no_bit(function):
    a, x, _, _ = _vectors((1603, 1409), np.float64)
    before = pk.get_num_threads()
    results = []
    for threads in (1, 2, 3):
        pk.set_num_threads(threads)
        results.append(function(a, x))
    pk.set_num_threads(before)
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()


def test_infinities_stay_where_they_belong():
    a, x, w, _ = _vectors((1002, 509), np.float64)
    a[3, 5], a[700, 11] = np.inf, np.nan
    y, z = both(a, x, w)
    assert np.flatnonzero(~np.isfinite(y)).tolist() == [3, 700]
    assert np.flatnonzero(~np.isfinite(z)).tolist() == [5, 11]
    assert np.isinf(z[5])
    assert np.isnan(there_and_back(a, x)[np.arange(509)]).any()


def test_gradient_of_least_squares():
    """What it is for: value and gradient of |A x - b|^2 read A once."""
    a, x, _, b = _vectors((1500, 301), np.float64)

    @pk.jit
    def loss(a, x, b):
        r = a @ x - b
        return (r * r).sum()

    value, gradient = pk.value_and_grad(loss, argnums=1)(a, x, b)
    r = a @ x - b
    np.testing.assert_allclose(value, r @ r, rtol=1e-12)
    np.testing.assert_allclose(gradient, 2 * r @ a, rtol=1e-9, atol=1e-9)
