"""Loops that are written out, begin at 0, or run over neighbours first, and stores that are joined: the bits of the
reference device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference

SHAPES = [(1, 1), (2, 3), (5, 33), (7, 70)]


@pk.kernel
def window_in_one_loop(o, t):
    """Quotient and remainder of the loop's variable, and a test of edges."""
    i, j = pk.index()
    s = pk.f32(0)
    for q in range(9):
        y, x = i + q // 3 - 1, j + q % 3 - 1
        if 0 <= y < t.shape[0] and 0 <= x < t.shape[1]:
            s += max(t[y, x], pk.f32(0.5))
    o[i, j] = s


@pk.kernel
def window_by_bounds(o, t):
    i, j = pk.index()
    s = pk.f32(0)
    for y in range(max(i - 1, 0), min(i + 2, t.shape[0])):
        for x in range(max(j - 2, 0), min(j + 3, t.shape[1])):
            s += max(t[y, x], pk.f32(0.25))
    o[i, j] = s


@pk.kernel
def every_second(o, t):
    """Clamped at the end, where the last window is cut off."""
    i, j = pk.index()
    m = pk.f32(-1)
    for y in range(2 * i, min(2 * i + 3, t.shape[0])):
        for x in range(2 * j, min(2 * j + 3, t.shape[1])):
            m = max(m, t[y, x])
    o[i, j] = m


@pk.kernel
def next_but_one(o, t):
    i, j = pk.index()
    n = t.shape[1]
    s = pk.f32(0)
    for a in range(3):
        for b in range(3):
            if a != b:
                s += t[i, (j + (a + 1) % 3) % n] - t[i, (j + (b + 2) % 3) % n] * pk.f32(0.5)
    o[i, j] = s


@pk.kernel
def two_outcomes(o, t):
    """Both sides store, behind a loop that runs in lanes."""
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(t.shape[0]):
        s += abs(t[k, j])
    if s > i:
        o[i, j] = s
    else:
        o[i, j] = -t[i, j]


@pk.kernel
def own_row(o, t):
    """Rows of a flat array, whose bounds depend on the work-item and whose length does not."""
    i, j = pk.index()
    w = t.shape[1]
    s = pk.f32(0)
    for k in range(i * w, i * w + w):
        s += t[k // w, k % w] * j
    o[i, j] = s


KERNELS = [window_in_one_loop, window_by_bounds, every_second, next_but_one, two_outcomes, own_row]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_loops(kernel, shape, rng):
    t = rng.random(shape, dtype=np.float32)
    t[rng.random(shape) < 0.1] = np.nan
    space = tuple((n + 1) // 2 for n in shape) if kernel is every_second else shape
    assert_as_reference(kernel, [np.zeros(shape, np.float32)], [t], space)


@pk.kernel
def padded_rows(o, v, c, x):
    """Numbers below 0 stand for nothing."""
    i = pk.index()
    s = pk.f32(0)
    for k in range(c.shape[1]):
        if c[i, k] >= 0:
            s += max(v[i, k], x[c[i, k]])
    o[i] = s


@pytest.mark.parametrize("shape", [(1, 1), (9, 3), (37, 12), (40, 0)], ids=str)
def test_numbers_that_are_read_only_where_they_are_wanted(shape, rng):
    count = shape[0]
    c = rng.integers(-(1 << 20), count, shape).astype(np.int32)
    c[::2] = rng.integers(0, count, c[::2].shape)
    v, x = rng.random(shape, dtype=np.float32), rng.random(count, dtype=np.float32)
    assert_as_reference(padded_rows, [np.zeros(count, np.float32)], [v, c, x], count)


def test_nothing_is_read_of_an_array_that_is_empty():
    o, x = np.ones(40, np.float32), np.zeros(0, np.float32)
    padded_rows(o, np.ones((40, 5), np.float32), np.full((40, 5), -1, np.int32), x, ndrange=40)
    np.testing.assert_array_equal(o, np.zeros(40))


@pk.kernel
def pairs(o, x):
    """Work-items over both numbers of a pair, each of which reads both."""
    i, k = pk.index()
    if k == 0:
        o[i, k] = x[i, 0] - x[i, 1]
    else:
        o[i, k] = max(x[i, 0], 2 * x[i, 1])


@pytest.mark.parametrize("shape", [(0, 2), (1, 2), (33, 2), (20, 3), (20, 5)], ids=str)
def test_pairs(shape, rng):
    assert_as_reference(pairs, [np.zeros(shape, np.float32)], [rng.random(shape, dtype=np.float32)], shape)


@pk.kernel(workgroup=16)
def counted(c, x, first):
    """Each work-item goes on in strides of the launch."""
    own = pk.shared(16, pk.i32)
    lane = pk.local_index()
    own[lane] = 0
    pk.barrier()
    w = x.shape[1]
    k = pk.index() + first
    while k < x.shape[0] * w:
        pk.atomic_add(own, x[k // w, k % w], 1)
        k += pk.ndrange()
    pk.barrier()
    pk.atomic_add(c, lane, own[lane])


@pytest.mark.parametrize("space", [16, 40, 64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (5, 33), (9, 100)], ids=str)
@pytest.mark.parametrize("first", [0, 5])
def test_strides_of_the_launch(shape, space, first, rng):
    """Of 40 work-items the last group has 8, which leave half of what they have counted."""
    x = rng.integers(0, 16, shape).astype(np.uint8)
    (c,) = assert_as_reference(counted, [np.zeros(16, np.int32)], [x, first], space)
    expected = np.bincount(x.ravel()[first:], minlength=16)
    np.testing.assert_array_equal(c[:8], expected[:8])


@pk.kernel
def sorted_columns(o, t):
    """Private memory that lanes would have in vectors."""
    i = pk.index()
    w = pk.private(5, pk.f32)
    for n in range(5):
        w[n] = t[n, i]
    for a in range(4):
        for b in range(a + 1, 5):
            low, high = min(w[a], w[b]), max(w[a], w[b])
            w[a] = low
            w[b] = high
    for n in range(5):
        o[n, i] = w[n]


@pytest.mark.parametrize("count", [1, 15, 70])
def test_sorted_columns(count, rng):
    t = rng.random((5, count), dtype=np.float32)
    o = np.zeros_like(t)
    sorted_columns(o, t, ndrange=count)
    np.testing.assert_array_equal(o, np.sort(t, 0))


@pk.kernel
def highest_so_far(o, x):
    i = pk.index()
    m = x[i, 0]
    for j in range(x.shape[1]):
        m = max(m, x[i, j])
        o[i, j] = m


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_extremes_keep_no_numbers(kind, rng):
    x = rng.standard_normal((19, 45)).astype(kind)
    x[3, 5], x[4, 0], x[5, -1] = np.nan, np.nan, -np.inf
    o = np.zeros_like(x)
    highest_so_far(o, x, ndrange=len(x))
    np.testing.assert_array_equal(o, np.maximum.accumulate(x, 1))
