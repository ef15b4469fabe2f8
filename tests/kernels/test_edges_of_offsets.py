"""Tests of edges, clamps and wraps of an index with an offset that a table or an argument gives: any offsets, also such
as wrap in their type, any lengths, parts of rows."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def summed(o, f, dx, dy):
    i, j = pk.index()
    s = f.dtype(0)
    for q in range(7):
        y, x = i + dy[q], j + dx[q]
        if y >= 0 and y < f.shape[0] and x >= 0 and x < f.shape[1]:
            s += f[y, x] * (q + 1)
    o[i, j] = s


@pk.kernel
def skipped(o, f, dx, dy):
    i, j = pk.index()
    s = f.dtype(0)
    for q in range(dx.shape[0]):
        y, x = i + dy[q], j + dx[q]
        if not 0 <= y < f.shape[0] or not 0 <= x < f.shape[1]:
            continue
        s += f[y, x] * (q + 1)
    o[i, j] = s


@pk.kernel
def in_place(o, f, dx, dy):
    i, j = pk.index()
    o[i, j] = 0
    for q in range(7):
        y, x = i + dy[q], j + dx[q]
        if 0 <= y < f.shape[0] and 0 <= x < f.shape[1]:
            o[i, j] += f[y, x] * (q + 1)


def sum_of_neighbours(f: np.ndarray, dx: np.ndarray, dy: np.ndarray) -> np.ndarray:
    found, (h, w) = np.zeros_like(f), f.shape
    for q, (x, y) in enumerate(zip(dx.tolist(), dy.tolist(), strict=True)):
        for i in range(max(0, -y), min(h, h - y)):
            first, last = max(0, -x), min(w, w - x)
            if first < last:
                found[i, first:last] += f[i + y, first + x : last + x] * f.dtype.type(q + 1)
    return found


OFFSETS = [[0, 1, -1, 2, -2, 3, -3], [0, -40, 1000, 16, -17, 5, 31], [0, 1 << 29, -(1 << 29), 1, -1, 40, -5]]


@pytest.mark.parametrize("kernel", [summed, skipped, in_place])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sums_inside(kernel, index, rng):
    for number, offsets in enumerate(OFFSETS):
        dx, dy = np.array(offsets, index), np.array(offsets[::-1], index)
        for h, w in [(3, 1), (5, 16), (33, 97), (1, 250), (4, 0)]:
            f = rng.integers(-9, 9, (h, w)).astype([np.float32, np.float64, np.int64][number])
            memory = np.full(f.size + 64, 7, f.dtype)
            o = memory[32 : memory.size - 32].reshape(f.shape)
            kernel(o, f, dx, dy, ndrange=f.shape)
            np.testing.assert_array_equal(o, sum_of_neighbours(f, dx, dy))
            assert (memory[:32] == 7).all()
            assert (memory[-32:] == 7).all()


@pk.kernel
def wrapped(o, f, dx, dy):
    q, i, j = pk.index()
    y, x = i - dy[q], j - dx[q]
    if y < 0:
        y += f.shape[1]
    elif y >= f.shape[1]:
        y -= f.shape[1]
    if x < 0:
        x += f.shape[2]
    elif x >= f.shape[2]:
        x -= f.shape[2]
    o[q, i, j] = f[q, y, x]


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_wraps_by_branches(index, rng):
    for h, w in [(9, 20), (10, 64), (12, 333)]:
        dx, dy = np.array([0, 1, -1, 9, -9], index), np.array([3, 0, -3, 9, -8], index)
        f = rng.random((5, h, w))[:, :, ::-1]
        o = np.zeros(f.shape)
        wrapped(o, f, dx, dy, ndrange=f.shape)
        np.testing.assert_array_equal(o, [np.roll(f[q], (dy[q], dx[q]), (0, 1)) for q in range(5)])


@pk.kernel
def clamped(o, f, s):
    i, j = pk.index()
    o[i, j] = f[i, min(max(j + s, 0), f.shape[1] - 1)]


@pytest.mark.parametrize("kind", [int, np.int32])
def test_clamps_of_an_argument(kind, rng):
    for w, s in [(1, 0), (100, 7), (100, -90), (257, 300), (257, 1 << 30), (64, -(1 << 30))]:
        f, o = rng.random((3, w), dtype=np.float32), np.zeros((3, w), np.float32)
        clamped(o, f, kind(s), ndrange=f.shape)
        np.testing.assert_array_equal(o, f[:, np.clip(np.arange(w) + s, 0, w - 1)])


@pk.kernel
def ragged(o, f, length):
    i, j = pk.index()
    if j < length[i]:
        o[i, j] = f[i, j]


def test_lengths_from_a_table_are_no_offsets(rng):
    f, o = rng.random((9, 130)), np.zeros((9, 130))
    length = np.array([0, 1, 130, 64, 65, -3, 129, 500, 16], np.int32)
    ragged(o, f, length, ndrange=f.shape)
    np.testing.assert_array_equal(o, np.where(np.arange(130) < length[:, None], f, 0))
