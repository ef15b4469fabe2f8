"""Kernels that read or write arrays the other way round, of any lengths and types; nothing around is written."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

SHAPES = [(1, 1), (16, 16), (17, 5), (64, 16), (33, 47), (3, 100), (130, 71), (0, 5), (5, 0)]
TYPES = [np.float32, np.float64, np.uint8, np.int16, np.int32, np.int64, np.float16]


@pk.kernel
def read(o, x):
    i, j = pk.index()
    o[i, j] = x[j, i]


@pk.kernel
def written(o, x):
    j, i = pk.index()
    o[i, j] = x[j, i]


@pk.kernel
def flat(o, x):
    k = pk.index()
    w = o.shape[1]
    o[k // w, k % w] = x[k % w, k // w]


@pk.kernel
def in_rows(o, x):
    i = pk.index()
    for j in range(o.shape[1]):
        o[i, j] = x[j, i]


SPACES = {read: lambda o: o.shape, written: lambda o: o.shape[::-1], flat: np.size, in_rows: len}


def guarded(shape: tuple[int, ...], dtype) -> tuple[np.ndarray, np.ndarray]:
    """Memory filled with 7, and an array of that shape in its middle."""
    memory = np.full(int(np.prod(shape)) + 64, 7, dtype)
    return memory, memory[32:-32].reshape(shape)


@pk.kernel
def read_flat(o, x, rows, columns):
    i, j = pk.index()
    if i < rows and j < columns:
        o[i * columns + j] = x[j * rows + i]


@pk.kernel
def written_flat(o, x, rows, columns):
    j, i = pk.index()
    if i < rows and j < columns:
        o[columns * i + j] = x[rows * j + i]


@pk.kernel
def read_flat_in_part(o, x, rows, columns):
    """`o` is read, too, and `x` begins elsewhere."""
    i, j = pk.index()
    if i < rows and j < columns:
        o[i * columns + j] += 2 * x[j * rows + i + 3]


FLAT = {read_flat: lambda r, c: (r + 3, c + 9), written_flat: lambda r, c: (c + 9, r + 3)}


@pytest.mark.parametrize("kernel", FLAT)
@pytest.mark.parametrize("dtype", TYPES)
def test_flat_copies(kernel, dtype, rng):
    """Lengths are integers, and a launch goes beyond them."""
    for rows, columns in SHAPES:
        x = (100 * rng.random((columns, rows))).astype(dtype)
        memory, o = guarded((rows * columns,), dtype)
        kernel(o, x.ravel(), rows, columns, ndrange=FLAT[kernel](rows, columns))
        np.testing.assert_array_equal(o.reshape(rows, columns), x.T)
        assert (memory[:32] == 7).all()
        assert (memory[-32:] == 7).all()


def test_flat_sums(rng):
    for rows, columns in SHAPES:
        x, o = rng.standard_normal(columns * rows + 3), rng.standard_normal(rows * columns)
        expected = o.reshape(rows, columns) + 2 * x[3:].reshape(columns, rows).T
        read_flat_in_part(o, x, rows, columns, ndrange=(rows, columns))
        np.testing.assert_array_equal(o.reshape(rows, columns), expected)


@pytest.mark.parametrize("kernel", SPACES)
@pytest.mark.parametrize("dtype", TYPES)
def test_copies(kernel, dtype, rng):
    for shape in SHAPES:
        x = (100 * rng.random(shape)).astype(dtype)
        memory, o = guarded(shape[::-1], dtype)
        kernel(o, x, ndrange=SPACES[kernel](o))
        np.testing.assert_array_equal(o, x.T)
        assert (memory[:32] == 7).all()
        assert (memory[-32:] == 7).all()


@pk.kernel
def symmetric(o, x, y, s):
    i, j = pk.index()
    o[i, j] = s * (x[i, j] + x[j, i]) - y[i] * o[i, j]


@pk.kernel
def both(o, p, x):
    i, j = pk.index()
    o[j + 1, i] = x[i, j] + 1
    p[i, j] = x[i, j + 1]


@pk.kernel
def within(o, x):
    i, j = pk.index()
    if i > 0 and j > 1 and i < o.shape[0] - 1:
        o[i, j] = x[j - 1, i + 1]


def test_other_bodies(rng):
    for n in (1, 15, 16, 40, 67):
        x, y, o = rng.random((n, n)), rng.random(n), rng.random((n, n))
        expected = 3 * (x + x.T) - y[:, None] * o
        symmetric(o, x, y, 3.0, ndrange=(n, n))
        np.testing.assert_allclose(o, expected, rtol=1e-12)
        x = rng.random((n, n + 1))
        o, p = np.zeros((n + 1, n)), np.zeros((n, n))
        both(o, p, x, ndrange=(n, n))
        np.testing.assert_array_equal(o[1:], x[:, :-1].T + 1)
        np.testing.assert_array_equal(p, x[:, 1:])
        assert not o[0].any()
        x, o = rng.random((n, n)), np.zeros((n, n))
        within(o, x, ndrange=(n, n))
        expected = np.zeros((n, n))
        if n > 2:
            expected[1:-1, 2:] = x.T[2:, 1:-1]
        np.testing.assert_array_equal(o, expected)


@pk.kernel
def in_place(x):
    i, j = pk.index()
    if i < j:
        t = x[i, j]
        x[i, j] = x[j, i]
        x[j, i] = t


def test_in_place(rng):
    x = rng.random((70, 70))
    expected = x.T.copy()
    in_place(x, ndrange=x.shape)
    np.testing.assert_array_equal(x, expected)


@pk.kernel
def of_planes(o, x):
    n, i, j = pk.index()
    o[n, i, j] = 2 * x[n, j, i]


@pk.kernel
def axes_turned(o, x):
    i, j, k = pk.index()
    o[i, j, k] = x[k, j, i]


def test_three_dimensions(rng):
    x = rng.random((5, 40, 37)).astype(np.float32)
    o = np.zeros((5, 37, 40), np.float32)
    of_planes(o, x, ndrange=o.shape)
    np.testing.assert_array_equal(o, 2 * x.transpose(0, 2, 1))
    o = np.zeros((37, 40, 5), np.float32)
    axes_turned(o, x, ndrange=o.shape)
    np.testing.assert_array_equal(o, x.transpose(2, 1, 0))


def test_ranges_and_views(rng):
    x = rng.random((90, 81))
    o = np.zeros((81, 90))
    read(o, x, ndrange=(range(3, 70), range(20, 85)))
    expected = np.zeros_like(o)
    expected[3:70, 20:85] = x.T[3:70, 20:85]
    np.testing.assert_array_equal(o, expected)
    o = np.zeros((60, 50))
    read(o, x[5:55, 7:67], ndrange=o.shape)
    np.testing.assert_array_equal(o, x[5:55, 7:67].T)
    read(o, x[55:5:-1, 7:67], ndrange=o.shape)
    np.testing.assert_array_equal(o, x[55:5:-1, 7:67].T)
