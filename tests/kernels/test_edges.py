"""Stencils that look at the edge in many ways give the same numbers, and write nothing around the result."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def clamped(o, t):
    i, j = pk.index()
    a, b = max(i - 1, 0), min(i + 1, t.shape[0] - 1)
    c, d = max(j - 1, 0), min(j + 1, t.shape[1] - 1)
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@pk.kernel
def clamped_twice(o, t, n, m):
    i, j = pk.index()
    a, b = min(max(i - 1, 0), n - 1), min(max(i + 1, 0), n - 1)
    c, d = min(max(j - 1, 0), m - 1), min(max(j + 1, 0), m - 1)
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@pk.kernel
def nearest(o, t):
    i, j = pk.index()
    n, m = t.shape
    a = i - 1
    if a < 0:
        a = 0
    b = i + 1
    if b >= n:
        b = n - 1
    c = j - 1
    if c < 0:
        c = 0
    d = j + 1
    if d >= m:
        d = m - 1
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@pk.kernel
def flat_clamped(o, t):
    k = pk.index()
    n, m = t.shape
    i, j = k // m, k % m
    o[i, j] = t[min(i + 1, n - 1), j] + t[max(i - 1, 0), j] + t[i, min(j + 1, m - 1)] + t[i, max(j - 1, 0)]


@pk.kernel
def periodic(o, t):
    i, j = pk.index()
    n, m = t.shape
    o[i, j] = t[(i + 1) % n, j] + t[(i - 1) % n, j] + t[i, (j + 1) % m] + t[i, (j - 1) % m]


@pk.kernel
def periodic_if(o, t):
    i, j = pk.index()
    n, m = t.shape
    a = i - 1 if i > 0 else n - 1
    b = i + 1 if i < n - 1 else 0
    c = j - 1 if j > 0 else m - 1
    d = j + 1 if j != m - 1 else 0
    o[i, j] = t[b, j] + t[a, j] + t[i, d] + t[i, c]


@pk.kernel
def periodic_scalars(o, t, n, m):
    i, j = pk.index()
    o[i, j] = t[(i + 1) % n, j] + t[(i + n - 1) % n, j] + t[i, (j + 1) % m] + t[i, (j + m - 1) % m]


@pk.kernel
def zeros_outside(o, t):
    i, j = pk.index()
    s = pk.f32(0)
    if i < t.shape[0] - 1:
        s += t[i + 1, j]
    if i > 0:
        s += t[i - 1, j]
    if j + 1 < t.shape[1]:
        s += t[i, j + 1]
    if j - 1 >= 0:
        s += t[i, j - 1]
    o[i, j] = s


@pk.kernel
def zeros_ternary(o, t):
    i, j = pk.index()
    n, m = t.shape
    below = t[i + 1, j] if i < n - 1 else 0.0
    above = t[i - 1, j] if i != 0 else 0.0
    right = t[i, j + 1] if j < m - 1 else 0.0
    left = t[i, j - 1] if j >= 1 else 0.0
    o[i, j] = below + above + right + left


@pk.kernel
def zeros_in_a_loop(o, t):
    i, j = pk.index()
    s = pk.f32(0)
    for d in range(-1, 2):
        y = i - d
        if d != 0 and y >= 0 and y < t.shape[0]:
            s += t[y, j]
    for d in range(-1, 2):
        x = j - d
        if d != 0 and x >= 0 and x < t.shape[1]:
            s += t[i, x]
    o[i, j] = s


@pk.kernel
def early_return(o, t):
    i, j = pk.index()
    if i == 0 or j == 0 or i == t.shape[0] - 1 or j == t.shape[1] - 1:
        return
    o[i, j] = t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1]


@pk.kernel
def fixed_edges(o, t):
    i, j = pk.index()
    if i == 0 or j == 0 or i == t.shape[0] - 1 or j == t.shape[1] - 1:
        o[i, j] = 3.0
    else:
        o[i, j] = t[i + 1, j] + t[i - 1, j] + t[i, j + 1] + t[i, j - 1]


SHAPES = [(1, 9), (9, 1), (1, 1), (2, 2), (7, 5), (64, 63), (33, 257), (3, 1000), (0, 5), (5, 0), (40, 17)]
EDGE = [clamped, clamped_twice, nearest, flat_clamped]
WRAP = [periodic, periodic_if, periodic_scalars]
ZERO = [zeros_outside, zeros_ternary, zeros_in_a_loop]


def neighbours(padded: np.ndarray) -> np.ndarray:
    return padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]


def padded(t: np.ndarray, kernel: pk.Kernel) -> np.ndarray:
    if kernel in EDGE and t.size:
        return np.pad(t, 1, mode="edge")
    return np.pad(t, 1, mode="wrap") if kernel in WRAP and t.size else np.pad(t, 1)


def run(kernel: pk.Kernel, t: np.ndarray, space: tuple | None = None) -> np.ndarray:
    memory = np.full(t.size + 64, 7, np.float32)
    o = memory[32:-32].reshape(t.shape)
    usual = t.size if kernel is flat_clamped else t.shape
    lengths = t.shape if kernel in (clamped_twice, periodic_scalars) else ()
    kernel(o, t, *lengths, ndrange=usual if space is None else space)
    assert (memory[:32] == 7).all() and (memory[-32:] == 7).all()
    return o


@pytest.mark.parametrize("kernel", [*EDGE, *WRAP, *ZERO], ids=lambda k: k.__name__)
def test_all_of_an_array(kernel, rng):
    for shape in SHAPES:
        dense = rng.integers(0, 9, shape).astype(np.float32)
        strided = rng.integers(0, 9, (shape[0], 2 * shape[1])).astype(np.float32)[:, ::-2]
        for t in (dense, strided):
            np.testing.assert_array_equal(run(kernel, t), neighbours(padded(t, kernel)), str(shape))


@pytest.mark.parametrize(
    "kernel", [k for k in (*EDGE, *WRAP, *ZERO) if k is not flat_clamped], ids=lambda k: k.__name__
)
def test_a_part_of_an_array(kernel, rng):
    for shape in [(9, 20), (64, 63), (20, 40)]:
        t = rng.integers(0, 9, shape).astype(np.float32)
        whole = neighbours(padded(t, kernel))
        n, m = shape
        spaces = [
            (n, m - 3),
            (range(2, n), range(1, m)),
            (range(n - 1, -1, -1), range(m - 1, 3, -2)),
            (range(0, n, 3), m),
        ]
        for space in spaces:
            expected = np.full(shape, 7, np.float32)
            rows, columns = (range(s) if isinstance(s, int) else s for s in space)
            at = np.ix_(list(rows), list(columns))
            expected[at] = whole[at]
            np.testing.assert_array_equal(run(kernel, t, space), expected)


@pytest.mark.parametrize(
    ("kernel", "edge"), [(early_return, 7), (fixed_edges, 3)], ids=["early_return", "fixed_edges"]
)
def test_edges_of_their_own(kernel, edge, rng):
    for shape in SHAPES:
        t = rng.integers(0, 9, shape).astype(np.float32)
        expected = np.full(shape, edge, np.float32)
        expected[1:-1, 1:-1] = neighbours(np.pad(t, 1))[1:-1, 1:-1]
        np.testing.assert_array_equal(run(kernel, t), expected, str(shape))


def test_a_threshold_far_from_the_edge(rng):
    @pk.kernel
    def chosen(o, x, y, k):
        i, j = pk.index()
        if j < k:
            o[i, j] = x[i, j]
        else:
            o[i, j] = y[i, j]

    x, y = rng.random((2, 30, 50))
    for k in (-5, 0, 1, 25, 49, 50, 90):
        o = np.zeros((30, 50))
        chosen(o, x, y, k, ndrange=o.shape)
        np.testing.assert_array_equal(o, np.where(np.arange(50) < k, x, y))


def test_a_period_that_is_none(rng):
    @pk.kernel
    def wrapped(o, x, n):
        j = pk.index()
        o[j] = x[(j + 1) % n]

    x = rng.random(40)
    for n in (1, 3, 39, 40, 0):
        o = np.zeros(40)
        wrapped(o, x, n, ndrange=40)
        np.testing.assert_array_equal(o, x[(np.arange(40) + 1) % n if n else np.zeros(40, int)])
