"""While loops that count: what they compute and leave behind is that of the reference device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def forwards(o, x, n, m):
    i = pk.index()
    s, j = pk.f32(0), m
    while j < n:
        s += x[i, j]
        j += 1
    o[i, 0] = s
    o[i, 1] = pk.f32(j)


@pk.kernel
def by_threes(o, x, n, m):
    i = pk.index()
    s, j = pk.f32(0), m
    while n >= j:
        s = s * pk.f32(0.5) - x[i, j]
        j = j + 3
    o[i, 0] = s
    o[i, 1] = pk.f32(j)


@pk.kernel
def backwards(o, x, n, m):
    i = pk.index()
    s, j = pk.f32(0), n
    while j > m:
        j -= 1
        s += x[i, j]
    o[i, 0] = s
    o[i, 1] = pk.f32(j)


@pk.kernel
def two_counters(o, x, n, m):
    """The other one is a value like others."""
    i = pk.index()
    j, k, s = m, 2 * n, pk.f32(0)
    while j <= n:
        s += x[i, j] + pk.f32(k)
        k -= 2
        j += 1
    o[i, 0] = s
    o[i, 1] = pk.f32(j + k)


@pk.kernel
def within_another(o, x, n, m):
    i = pk.index()
    s, j = pk.f32(0), m
    while j < n:
        k = 0
        while k < j:
            s += x[i, k]
            k += 1
        j += 1
    o[i, 0] = s
    o[i, 1] = pk.f32(j)


@pk.kernel
def until_it_is_small(o, x, n, m):
    """What the loop compares changes in it."""
    i = pk.index()
    s, j, end = pk.f32(0), m, n
    while j < end:
        s += x[i, j]
        j += 1
        if s > 2:
            end -= 1
    o[i, 0] = s
    o[i, 1] = pk.f32(end)


KERNELS = [forwards, by_threes, backwards, two_counters, within_another, until_it_is_small]


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 0), (7, 0), (9, 2), (3, 3), (2, 5), (39, 1)])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_while_loops(kernel, n, m, rng):
    x = rng.random((20, 40), dtype=np.float32)
    assert_as_reference(kernel, [np.zeros((20, 2), np.float32)], [x, n, m], 20)


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=lambda k: k.__name__)
def test_they_are_counted(kernel):
    x, o = np.zeros((20, 40), np.float32), np.zeros((20, 2), np.float32)
    assert "scf.while" not in kernel.lower(o, x, 3, 1, ndrange=20).as_text("kern-count-loops")
