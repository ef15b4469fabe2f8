"""Loops of one work-item whose iterations run in lanes, and loops that must not: the bits of the reference device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def best_paths(o, place, e, t):
    q = pk.index()
    for j in range(t.shape[0]):
        o[q, j] = e[0, j]
    for k in range(1, e.shape[0]):
        for j in range(t.shape[0]):
            best = o[k - 1, 0] + t[0, j]
            at = 0
            for i in range(1, t.shape[0]):
                v = o[k - 1, i] + t[i, j]
                if v > best:
                    best = v
                    at = i
            o[k, j] = best + e[k, j]
            place[k, j] = at


@pk.kernel
def triangular(x, low, b):
    q = pk.index()
    for i in range(low.shape[0]):
        for c in range(b.shape[1]):
            s = b[i, c] + q
            for j in range(i):
                s -= x[j, c] / low[i, j]
            x[i, c] = s / low[i, i]


@pk.kernel
def from_the_left(a, b):
    """Each column reads the one before it, in the same row: its iterations are not independent."""
    q = pk.index()
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            for k in range(3):
                a[i, j] += abs(b[i, k + q] - a[i, j - 1])


@pk.kernel
def in_turns(a, b):
    """What is read is of the row that another iteration of the outer loop has written, or of the one that is written,
    which only numbers tell."""
    q = pk.index()
    for i in range(2, a.shape[0]):
        for j in range(a.shape[1]):
            s = a[i - 1, 0] + a[i - 2, j]
            for k in range(4):
                s += abs(b[i, k] - a[(i + k) % 2, (j + k + q) % 3])
            a[i, j] = 0.1 * s


@pytest.mark.parametrize("columns", [37, 7])
def test_in_lanes_or_not(columns):
    drawn = np.random.default_rng(columns)
    e, t = (drawn.standard_normal((n, columns)).astype(np.float32) for n in (3, columns))
    e[1, 3], e[1, 4] = np.nan, np.inf
    assert_as_reference(best_paths, [np.zeros_like(e), np.zeros(e.shape, np.int32)], [e, t], 1)
    low = drawn.random((5, 5), np.float32) + 1
    b = drawn.standard_normal((5, columns)).astype(np.float32)
    assert_as_reference(triangular, [np.zeros_like(b)], [low, b], 1)
    for kernel in (from_the_left, in_turns):
        a = drawn.random((4, columns), np.float32)
        assert_as_reference(kernel, [a], [drawn.random((4, 9), np.float32)], 1)


def test_what_runs_in_lanes():
    x, low = np.zeros((9, 75), np.float32), np.zeros((9, 9), np.float32)
    assert "vector<" in triangular.lower(x, low, x, ndrange=1).as_text("kern-vectorize-items")
    assert "vector<" not in from_the_left.lower(x, x, ndrange=1).as_text("kern-vectorize-items")
