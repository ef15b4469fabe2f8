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


def loops_of(program, *arguments) -> int:
    """How many loops the program has before any pass."""
    return program.lower(*arguments).as_text("kern").count("scf.for")


def test_large_bodies_stay_loops_with_less_iterations(rng):
    """Sweeps along both dimensions: 40 iterations of many operations, in a loop that is copied."""

    @pk.jit
    def sweeps(u, v):
        n = u.shape[0]
        for _ in range(2):
            for j in range(1, n - 1):
                v[1:-1, j] = (
                    0.5 * (u[:-2, j] - 2 * u[1:-1, j] + u[2:, j]) - 0.25 * v[1:-1, j - 1] + u[1:-1, j + 1]
                )
            for j in range(n - 2, 0, -1):
                u[1:-1, j] = 0.5 * u[1:-1, j + 1] + v[1:-1, j] * (v[1:-1, j - 1] - 0.5 * v[:-2, j] + v[2:, j])
        return u

    u, v = rng.standard_normal((2, 41, 41))
    expected, other = u.copy(), v.copy()
    for _ in range(2):
        for j in range(1, 40):
            other[1:-1, j] = (
                0.5 * (expected[:-2, j] - 2 * expected[1:-1, j] + expected[2:, j])
                - 0.25 * other[1:-1, j - 1]
                + expected[1:-1, j + 1]
            )
        for j in range(39, 0, -1):
            expected[1:-1, j] = 0.5 * expected[1:-1, j + 1] + other[1:-1, j] * (
                other[1:-1, j - 1] - 0.5 * other[:-2, j] + other[2:, j]
            )
    assert loops_of(sweeps, u, v) == 4
    np.testing.assert_allclose(sweeps(u, v), expected, rtol=1e-12)
    np.testing.assert_allclose(v, other, rtol=1e-12)


def test_inner_loops_between_known_bounds(rng):
    """Whose bounds the number of the outer loop gives: within the array for each."""

    @pk.jit
    def eliminate(a):
        for k in range(a.shape[0] - 1):
            for j in range(k + 1, a.shape[0]):
                a[j] = a[j] - a[k] * (a[j, 0] * 0.125)
        return a

    a = rng.standard_normal((37, 5))
    expected = a.copy()
    for k in range(36):
        for j in range(k + 1, 37):
            expected[j] = expected[j] - expected[k] * (expected[j, 0] * 0.125)
    assert 1 <= loops_of(eliminate, a) <= 4
    np.testing.assert_allclose(eliminate(a), expected, rtol=1e-10)


def test_numbers_that_are_computed_with(rng):
    @pk.jit
    def rings(x, bins: pk.static):
        out = pk.zeros(bins, pk.f32)
        high = x.max()
        for i in range(bins):
            low = i / bins
            inside = (high * low <= x) & (x < high * (i + 1) / bins)
            out[i] = pk.where(inside, x * pk.sqrt(i), 0.0).sum() + i % 3
        return out

    x = rng.random(301, dtype=np.float32)
    high = x.max()
    expected = [
        np.where((high * (i / 70) <= x) & (x < high * (i + 1) / 70), x * np.sqrt(i), 0).sum() + i % 3
        for i in range(70)
    ]
    assert loops_of(rings, x, 70) == 1
    np.testing.assert_allclose(rings(x, 70), expected, rtol=1e-5)


def test_numbers_that_give_shapes_branches_or_indices_are_known(rng):
    """Copies, because slices have other lengths, branches are taken when compiling, and a computed index is checked."""

    @pk.jit
    def shapes(x):
        out = pk.zeros(40)
        for i in range(1, 40):
            out[i] = (x[:i] * x[:i]).sum() - x[:i].sum() * x[i] + x[i] * x[i] * x[i] + x[i] * x[i] * x[i]
        return out

    @pk.jit
    def branches(x):
        s = x[0]
        for i in range(40):
            if i % 3:
                s = s * 0.5 - x[i] * x[i] * x[i] + x[i] * x[i] * x[i] * x[i]
        return s

    @pk.jit
    def beyond(x):
        s = x[0]
        for i in range(40):
            k = i + 1
            s = s * 0.5 - x[k] * x[k] * x[k] + x[k] * x[k] * x[k] * x[k] + x[i] * x[i] * x[i]
        return s

    x = rng.random(40)
    expected = [0.0] + [(x[:i] ** 2).sum() - x[:i].sum() * x[i] + 2 * x[i] ** 3 for i in range(1, 40)]
    np.testing.assert_allclose(shapes(x), expected)
    s = x[0]
    for i in range(40):
        if i % 3:
            s = s * 0.5 - x[i] ** 3 + x[i] ** 4
    np.testing.assert_allclose(branches(x), s)
    assert loops_of(branches, x) == 0
    with pytest.raises(pk.errors.KernelError, match="index 40 is outside"):
        beyond(x)
    s, y = x[0], rng.random(41)
    s = y[0]
    for i in range(40):
        s = s * 0.5 - y[i + 1] ** 3 + y[i + 1] ** 4 + y[i] ** 3
    np.testing.assert_allclose(beyond(y), s)


def test_names_of_inner_loops_are_used_twice(rng):
    """By a second loop; the number of an inner loop is none that the outer one carries."""

    @pk.jit
    def twice(x):
        total = 0.0
        for i in range(30, 0, -1):
            for j in range(i):
                x[j] = x[j] - 0.125 * x[i] * x[j] + 0.25
        for i in range(1, 30):
            half = i / 2
            for j in range(i):
                x[j] = x[j] - 0.125 * x[i - 1] * x[j] + 0.25
            total = total + half * x[i]
        return x, total + j

    x = rng.random(31)
    expected, total = x.copy(), 0.0
    for i in range(30, 0, -1):
        for j in range(i):
            expected[j] = expected[j] - 0.125 * expected[i] * expected[j] + 0.25
    for i in range(1, 30):
        for j in range(i):
            expected[j] = expected[j] - 0.125 * expected[i - 1] * expected[j] + 0.25
        total = total + i / 2 * expected[i]
    assert loops_of(twice, x) >= 4
    found = twice(x)
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    np.testing.assert_allclose(found[1], total + 28, rtol=1e-12)


def test_branches_that_data_decide(rng):
    """Forty copies of them would be bufferized for ever."""

    def marked(x):
        y = x.copy()
        for i in range(40):
            if x[i].sum() > 0:
                y[i] = 3
        return y

    x = rng.standard_normal((40, 5))
    np.testing.assert_array_equal(pk.jit(marked)(x), marked(x))
