"""Edges that loops of a work-item test, clamp to or wrap around: the bits of the reference device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def zeros_outside(o, t, w):
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            y, x = i + a - 1, j + b - 1
            if 0 <= y < t.shape[0] and 0 <= x < t.shape[1]:
                s += max(t[y, x], w[a, b])
    o[i, j] = s


@pk.kernel
def mirrored(o, t, w):
    """The loops count the other way round, by constants."""
    i, j = pk.index()
    s = pk.f32(0)
    for a in range(-2, 3):
        for b in range(0, 5, 2):
            if i - a >= 0 and i - a < t.shape[0] and j - b >= 0:
                s += t[i - a, j - b]
    o[i, j] = s


@pk.kernel
def clamped(o, t, w):
    i, j = pk.index()
    n, m = t.shape
    s = pk.f32(0)
    for a in range(-1, 2):
        for b in range(-w.shape[1], w.shape[1] + 1):
            s += t[min(max(i + a, 0), n - 1), min(max(j + b, 0), m - 1)]
    o[i, j] = s


@pk.kernel
def around(o, t, w):
    i, j = pk.index()
    n, m = t.shape
    s = pk.f32(0)
    for a in range(3):
        for b in range(w.shape[0]):
            s += t[(i + a - 1) % n, (j + b - 1) % m]
    o[i, j] = s


@pk.kernel
def all_but_oneself(o, t, w):
    """What is compared goes over the whole row: there is no interior."""
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(t.shape[1]):
        if k < j:
            s += t[i, k]
    o[i, j] = s


@pk.kernel
def as_far_as_the_row(o, t, w):
    """The loop is longer in each row."""
    i, j = pk.index()
    s = pk.f32(0)
    for b in range(i):
        if j + b < t.shape[1]:
            s += t[i, j + b]
    o[i, j] = s


KERNELS = [zeros_outside, mirrored, clamped, around, all_but_oneself, as_far_as_the_row]


@pytest.mark.parametrize("filters", [(3, 3), (1, 5), (0, 2), (4, 0)], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 33), (7, 70)], ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_edges(kernel, shape, filters, rng):
    t, w = rng.random(shape, dtype=np.float32), rng.random(filters, dtype=np.float32)
    assert_as_reference(kernel, [np.zeros(shape, np.float32)], [t, w], shape)


def test_edges_at_a_number_that_an_array_holds(rng):
    """A sum of integers is an array without indices, which is read in front of the loop."""

    def shifted(x, k):
        n = k.sum()
        i = np.arange(x.shape[0])
        return np.where(i + n >= 5, x * 2, x - n)

    k = np.array([1, 2, -1])
    for length in (3, 0, 4099):
        x = rng.random(length)
        np.testing.assert_allclose(pk.jit(shifted)(x, k), shifted(x, k))
