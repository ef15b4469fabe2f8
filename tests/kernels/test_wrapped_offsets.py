"""Indices that wrap around with offsets that a table or an argument gives: any offsets, any lengths, parts of rows."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def in_all_dimensions(o, f, ex, ey):
    q, i, j = pk.index()
    o[q, i, j] = f[q, (i - ey[q]) % f.shape[1], (j - ex[q]) % f.shape[2]] + j


@pk.kernel
def in_a_loop(o, f, ex, ey):
    i, j = pk.index()
    for q in range(ex.shape[0]):
        o[q, i, j] = f[q, (i - ey[q] + f.shape[1]) % f.shape[1], (j - ex[q] + f.shape[2]) % f.shape[2]] + j


@pk.kernel
def pushed(o, f, ex, ey):
    i, j = pk.index()
    for q in range(ex.shape[0]):
        o[q, (i + ey[q]) % f.shape[1], (j + ex[q]) % f.shape[2]] = f[q, i, j] + (j + ex[q]) % f.shape[2]


@pk.kernel
def by_branches(o, f, ex, ey):
    i, j = pk.index()
    for q in range(ex.shape[0]):
        y, x = (i - ey[q]) % f.shape[1], j - ex[q] % f.shape[2]
        if x < 0:
            x += f.shape[2]
        if x >= f.shape[2]:
            x -= f.shape[2]
        o[q, i, j] = f[q, y, x] + j


def rolled(f: np.ndarray, ex: np.ndarray, ey: np.ndarray) -> np.ndarray:
    found = [np.roll(plane, (y, x), (0, 1)) for plane, x, y in zip(f, ex, ey, strict=True)]
    return np.stack(found) + np.arange(f.shape[2])


OFFSETS = [0, 1, -1, 2, -17, 16, 40, -93, 1000]


@pytest.mark.parametrize("kernel", [in_all_dimensions, in_a_loop, pushed, by_branches])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_offsets_of_a_table(kernel, index, rng):
    ex, ey = (np.array(rng.permutation(OFFSETS), index) for _ in range(2))
    for h, w in [(3, 1), (2, 15), (5, 16), (4, 37), (7, 64), (1, 250)]:
        f = rng.random((len(ex), h, w))
        memory = np.full(f.size + 64, 7.0)
        o = memory[32:-32].reshape(f.shape)
        kernel(o, f, ex, ey, ndrange=f.shape if kernel is in_all_dimensions else (h, w))
        np.testing.assert_array_equal(o, rolled(f, ex, ey))
        assert (memory[:32] == 7).all()
        assert (memory[-32:] == 7).all()


@pk.kernel
def two_shifts(o, x, a, b):
    i = pk.index()
    n = x.shape[0]
    o[i] = x[(i + a) % n] - 2 * x[(i - b) % n] + x[(i + a + b) % n] + i


@pytest.mark.parametrize("kind", [int, np.int32])
def test_offsets_that_are_arguments(kind, rng):
    for n, a, b in [(1, 0, 3), (16, 5, -90), (50, -1, 49), (50, 51, 10), (333, 100, 200), (0, 1, 1)]:
        x, o = rng.random(n), np.zeros(n)
        two_shifts(o, x, kind(a), kind(b), ndrange=n)
        i = np.arange(n)
        np.testing.assert_array_equal(o, np.roll(x, -a) - 2 * np.roll(x, b) + np.roll(x, -a - b) + i)
        if n > 20:
            part = np.zeros(n)
            two_shifts(part, x, kind(a), kind(b), ndrange=range(7, n - 5))
            np.testing.assert_array_equal(part[7:-5], o[7:-5])
            assert not part[:7].any()
            assert not part[-5:].any()


@pk.kernel
def shifted_by_words(o, x, a):
    i = pk.index()
    o[i] = x[(i + a[0]) % x.shape[0]]


def test_a_sum_of_words_that_wraps():
    """An index plus an i32 is an i32, and wraps as such."""
    x, o = np.arange(100.0), np.zeros(100)
    a = np.array([2**31 - 50], np.int32)
    shifted_by_words(o, x, a, ndrange=100)
    with np.errstate(over="ignore"):
        at = (np.arange(100, dtype=np.int32) + a[0]) % np.int32(100)
    np.testing.assert_array_equal(o, x[at])
