"""Loops that `break`, `return` and flags end, in scalar code: each value behind the loop is the one of Python."""

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelSyntaxError


@pk.kernel
def least_divisor(o, prime, n):
    i = pk.index()
    d, found = 2, False
    while d * d <= n[i]:
        if n[i] % d == 0:
            found = True
            break
        d += 1
    o[i], prime[i] = d, not found


def test_break_keeps_the_values_of_its_iteration(rng):
    n = rng.integers(2, 3000, 500)
    o, prime = np.zeros(500, np.int64), np.zeros(500, bool)
    least_divisor(o, prime, n, ndrange=500)
    for value, d, is_prime in zip(n, o, prime, strict=True):
        divisors = [k for k in range(2, int(value**0.5) + 1) if value % k == 0]
        assert is_prime == (not divisors)
        assert d == (divisors[0] if divisors else int(value**0.5) + 1 if value > 3 else 2)


@pk.func
def first_above(x, row, least):
    """The place and the running sum where a row first goes above a number; -1 and 0 where it never does."""
    total = 0.0
    for k in range(x.shape[1]):
        total += x[row, k]
        if x[row, k] > least:
            return k, total
        if x[row, k] < -3.0:
            return -2, total
    return -1, 0.0


@pk.kernel
def places(o, sums, x, least):
    i = pk.index()
    o[i], sums[i] = first_above(x, i, least)


@pytest.mark.parametrize("shape", [(40, 33), (7, 1), (3, 0)])
def test_several_returns(shape, rng):
    x = rng.standard_normal(shape) * 1.5
    o, sums = np.full(shape[0], 9), np.full(shape[0], 9.0)
    places(o, sums, x, 2.0, ndrange=shape[0])
    for i, row in enumerate(x):
        ends = [k for k, v in enumerate(row) if v > 2 or v < -3]
        at = ends[0] if ends else -1
        assert o[i] == (-1 if at < 0 else at if row[at] > 2 else -2)
        np.testing.assert_allclose(sums[i], row[: at + 1].sum() if at >= 0 else 0, atol=1e-12)


@pk.kernel
def collisions(o, steps, x, r):
    i = pk.index()
    hit, count = -1, 0
    for a in range(x.shape[0]):
        for b in range(a):
            count += 1
            if abs(x[a] - x[b]) < r[i]:
                hit = a * x.shape[0] + b
                break
        else:
            continue
        break
    o[i], steps[i] = hit, count


def test_nested_loops(rng):
    x, r = rng.random(20), 10.0 ** rng.uniform(-6, -1, 30)
    o, steps = np.zeros(30, np.int64), np.zeros(30, np.int64)
    collisions(o, steps, x, r, ndrange=30)
    for i in range(30):
        count, hit = 0, -1
        for a, b in ((m, k) for m in range(20) for k in range(m)):
            count += 1
            if abs(x[a] - x[b]) < r[i]:
                hit = a * 20 + b
                break
        assert (o[i], steps[i]) == (hit, count)


@pk.kernel
def root(o, steps, c):
    i = pk.index()
    low, high, k = 0.0, 2.0, 0
    while True:
        middle = 0.5 * (low + high)
        value = middle * middle - c[i]
        if abs(value) < 1e-12 or k >= 60:
            break
        if value > 0:
            high = middle
        else:
            low = middle
        k += 1
    o[i], steps[i] = middle, k


def test_bisection(rng):
    c = rng.random(50) * 4
    o, steps = np.zeros(50), np.zeros(50, np.int64)
    root(o, steps, c, ndrange=50)
    np.testing.assert_allclose(o, np.sqrt(c), rtol=1e-9)
    assert (steps <= 60).all() and (steps > 10).any()


@pk.kernel
def search(o, text, pattern):
    i = pk.index()
    hit, q = True, 0
    while hit and q < pattern.shape[0]:
        hit = text[i + q] == pattern[q]
        q += 1
    o[i] = q if hit else -q


def test_flag_of_the_user(rng):
    text, pattern = rng.integers(0, 2, 300).astype(np.uint8), np.array([1, 0, 1, 1], np.uint8)
    o = np.zeros(297, np.int64)
    search(o, text, pattern, ndrange=297)
    for i in range(297):
        same = text[i : i + 4] == pattern
        assert o[i] == (4 if same.all() else -1 - int(np.argmin(same)))


@pk.kernel
def polar(o, seed):
    i = pk.index()
    k = 0
    while True:
        u, v = 2 * pk.random(seed, i, k) - 1, 2 * pk.random(seed, i, k + 1) - 1
        s = u * u + v * v
        k += 2
        if 0 < s < 1:
            break
    o[i] = u * pk.sqrt(-2 * pk.log(s) / s)


def test_names_that_a_loop_without_condition_assigns_first():
    o, expected = np.zeros(500), np.zeros(500)
    polar(o, 3, ndrange=500)
    polar(expected, 3, ndrange=500, device="python")
    np.testing.assert_allclose(o, expected, rtol=1e-4)

    @pk.jit
    def root_of_two(x):
        while True:
            new = 0.5 * (x + 2 / x)
            change = abs(new - x).max()
            x = new
            if change < 1e-12:
                break
        return x, change

    x, change = root_of_two(np.array([1.0, 4.0]))
    np.testing.assert_allclose(x, np.sqrt(2))
    assert change < 1e-12


def test_names_assigned_behind_a_break_have_no_value():
    @pk.kernel
    def late(o):
        i = pk.index()
        while True:
            if i > 3:
                break
            z = 1.0
        o[i] = z

    with pytest.raises(KernelSyntaxError, match="`z` has no value on some paths"):
        late(np.zeros(3), ndrange=3)


@pk.kernel
def at_most_one(o, x, least):
    i = pk.index()
    k, found = 0, -1
    while k < x.shape[1]:
        if x[i, k] < least:
            found = k
            break
        k += 2
        if x[i, 0] != 7:
            break
    o[i] = 10 * found + k


def test_a_loop_that_its_end_leaves(rng):
    x = rng.integers(0, 9, (40, 5))
    o = np.zeros(40, np.int64)
    at_most_one(o, x, 4, ndrange=40)
    for found, row in zip(o, x, strict=True):
        k = 0
        while k < 5:
            if row[k] < 4:
                assert found == 11 * k
                break
            k += 2
            if row[0] != 7:
                assert found == k - 10
                break
        else:
            assert found == k - 10
