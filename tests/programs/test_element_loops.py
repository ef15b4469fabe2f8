"""Loops of array programs over single elements: sequential algorithms, beside the same functions run by Python."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

i64, f32, f64, u8 = np.int64, np.float32, np.float64, np.uint8


def insertion_sort(a):
    x = a.copy()
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def sieve(n):
    flags = np.ones(301, dtype=np.uint8)
    flags[0] = 0
    flags[1] = 0
    i = 2
    while i * i <= n:
        if flags[i] == 1:
            for j in range(i * i, n + 1, i):
                flags[j] = 0
        i += 1
    return flags


def collatz(n, m):
    out = np.zeros(40, np.int64)
    for i in range(n):
        k = i - m
        c = 0
        while k != 1 and k != 0 and k != -1 and c < 50:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            c += k % 8
        out[i] = c
    return out


def find_roots(parent, a, b):
    p = parent.copy()
    for e in range(len(a)):
        x = a[e]
        while p[x] != x:
            p[x] = p[p[x]]
            x = p[x]
        y = b[e]
        while p[y] != y:
            y = p[y]
        if x != y:
            p[x] = y
    return p


def largest(x):
    """A carried element that leaves the loop, with where it was found."""
    best = x[0]
    at = 0
    for i in range(1, len(x)):
        if x[i] > best:
            best = x[i]
            at = i
    return best, at


def swaps(x, k):
    y = x.copy()
    i = 0
    j = k
    while i < j:
        t = y[i]
        y[i] = y[j]
        y[j] = t
        i += 1
        j -= 1
    return y


def scaled_rows(x):
    """The carried element meets whole rows."""
    out = np.zeros_like(x)
    s = x[0, 0]
    for i in range(x.shape[0]):
        out[i] = x[i] * s
        s = s * x[i, 1] + out[i, 2]
    return out, s


def two_at_a_time(x, n):
    """Two carried elements that change places, and a branch that chooses one."""
    a = x[0]
    b = x[1]
    for i in range(n):
        c = a if b > x[i] else x[i]
        a = b
        b = c - a * x[i]
    return a, b


def _random(rng, n, dtype):
    return (
        rng.random(n).astype(dtype) if np.dtype(dtype).kind == "f" else rng.integers(0, 100, n).astype(dtype)
    )


@pytest.mark.parametrize("dtype", [f64, u8])
@pytest.mark.parametrize("n", [1, 2, 67])
def test_insertion_sort(rng, n, dtype):
    x = _random(rng, n, dtype)
    np.testing.assert_array_equal(pk.jit(insertion_sort)(x), np.sort(x))


def test_insertion_sort_of_numbers_that_are_none(rng):
    x = rng.standard_normal(30)
    x[[3, 11]] = np.nan
    x[[5, 20]] = np.inf, -np.inf
    np.testing.assert_array_equal(pk.jit(insertion_sort)(x), insertion_sort(x))


@pytest.mark.parametrize("n", [0, 3, 4, 300])
def test_sieve(n):
    np.testing.assert_array_equal(pk.jit(sieve)(n), sieve(n))


def test_quotients_of_negative_numbers_round_down():
    np.testing.assert_array_equal(pk.jit(collatz)(40, 17), collatz(40, 17))


def test_union_find(rng):
    parent, a, b = np.arange(50), rng.integers(0, 50, 40), rng.integers(0, 50, 40)
    np.testing.assert_array_equal(pk.jit(find_roots)(parent, a, b), find_roots(parent, a, b))


@pytest.mark.parametrize("dtype", [f32, i64])
def test_an_element_leaves_the_loop(rng, dtype):
    x = _random(rng, 33, dtype)
    value, at = pk.jit(largest)(x)
    assert (value, at) == (x.max(), x.argmax())


@pytest.mark.parametrize("k", [0, 1, 8, 9])
def test_elements_change_places(rng, k):
    x = rng.random(10)
    np.testing.assert_array_equal(pk.jit(swaps)(x, k), swaps(x, k))


def test_elements_change_places_in_strided_rows(rng):
    x = rng.random((10, 3))[:, 1]
    np.testing.assert_array_equal(pk.jit(swaps)(x, 9), swaps(x, 9))


def test_a_carried_element_meets_rows(rng):
    x = rng.random((5, 7))
    for found, wanted in zip(pk.jit(scaled_rows)(x), scaled_rows(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_carried_elements_change_places(rng, n):
    x = rng.standard_normal(9)
    np.testing.assert_allclose(pk.jit(two_at_a_time)(x, n), two_at_a_time(x, n), rtol=1e-14)


def test_derivative_of_carried_elements(rng):
    def loss(x):
        s = x[0]
        for i in range(1, len(x)):
            s = s * x[i] + x[i - 1]
        return s

    x = rng.standard_normal(9)
    step = 1e-6
    differences = [(loss(x + step * e) - loss(x - step * e)) / (2 * step) for e in np.eye(9)]
    np.testing.assert_allclose(pk.grad(loss)(x), differences, rtol=1e-5, atol=1e-7)
