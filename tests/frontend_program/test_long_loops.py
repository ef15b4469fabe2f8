"""Long loops over Python's `range` stay loops where that changes nothing; else there is a copy for each number."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

N = 1500


@pk.jit
def sum_of_rows(x):
    s = 0
    for i in range(N):
        s = s + x[i]
    return s


@pk.jit
def running(x):
    for i in range(1, N):
        x[i] = x[i] - x[i - 1]
    return x


@pk.jit
def halves(x, y):
    d = x - y
    for _ in range(N, 0, -1):
        d = y - d
        x = x + d
    return x, d


@pk.jit
def every_other(x):
    s = x[0]
    for i in range(0, N - 1, 2):
        s = s - x[i + 1]
    return s


def test_sums(rng):
    x = rng.standard_normal((N, 3)).astype(np.float32)
    expected = np.float32(0)
    for row in x:
        expected = expected + row
    np.testing.assert_array_equal(sum_of_rows(x), expected)
    for i in range(1, N - 1, 2):
        x[0] = x[0] - x[i]
    given = x.copy()
    given[0] = 1
    expected = given[0]
    for i in range(0, N - 1, 2):
        expected = expected - given[i + 1]
    np.testing.assert_array_equal(every_other(given), expected)


def test_in_place(rng):
    x = rng.integers(-9, 9, (N, 2)).astype(np.float32)
    expected = x.copy()
    for i in range(1, N):
        expected[i] -= expected[i - 1]
    np.testing.assert_array_equal(running(x), expected)
    np.testing.assert_array_equal(x, expected)


def test_names(rng):
    x, y = rng.integers(-9, 9, (2, 5)).astype(np.float32)
    expected, d = x, x - y
    for _ in range(N):
        d = y - d
        expected = expected + d
    found = halves(x, y)
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], d)


def test_gradient(rng):
    x = rng.standard_normal((N, 3)).astype(np.float32)

    @pk.jit
    def squares(x):
        s = 0
        for i in range(N):
            s = s + x[i] * x[i]
        return s.sum()

    np.testing.assert_allclose(pk.grad(squares)(x), 2 * x, rtol=1e-6)


def test_what_is_known_when_compiling():
    """A number that is known is computed in 64 bits, and rounded where it meets an array."""

    @pk.jit
    def decays(x):
        k = 1.0
        for _ in range(520):
            k = k * 0.99
        return x * k

    k = 1.0
    for _ in range(520):
        k = k * 0.99
    np.testing.assert_array_equal(decays(np.ones(3, np.float32)), np.full(3, np.float32(k)))


def test_outside_of_the_array():
    @pk.jit
    def beyond(x):
        s = 0.0
        for i in range(600):
            s = s + x[i]
        return s

    with pytest.raises(pk.errors.KernelError):
        beyond(np.ones(599, np.float32))
