"""Atomic additions to a fixed cell, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def totals(s, x, limit):
    i, j = pk.index()
    pk.atomic_add(s, 0, x[i, j])
    if x[i, j] > limit:
        pk.atomic_add(s, 1, x[i, j])
        pk.atomic_add(s, 2, 1.0)
        if j % 2 == 0:
            pk.atomic_add(s, 3, x[i, j])
    else:
        pk.atomic_add(s, 4, x[i, j])


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 13), (64, 333)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums(shape, dtype):
    x = np.random.default_rng(3).random(shape).astype(dtype)
    s = np.full(5, 0.5, dtype)
    totals(s, x, dtype(0.25), ndrange=shape)
    above = x > dtype(0.25)
    even = above & (np.arange(shape[1]) % 2 == 0)
    wide = x.astype(np.float64)
    expected = 0.5 + np.array(
        [wide.sum(), wide[above].sum(), above.sum(), wide[even].sum(), wide[~above].sum()]
    )
    np.testing.assert_allclose(s, expected, rtol=1e-12 if dtype is np.float64 else 3e-4)


@pk.kernel
def never(s, x, at):
    i = pk.index()
    if x[i] > 2.0:
        pk.atomic_add(s, at, x[i])


def test_a_cell_no_work_item_adds_to_is_not_touched():
    """The index lies outside; the branch that would use it is never taken."""
    s = np.zeros(1)
    never(s, np.ones(10), 1 << 40, ndrange=10)
    assert s[0] == 0.0


@pk.kernel
def integers(s, x):
    i = pk.index()
    pk.atomic_add(s, 0, x[i])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64])
def test_integers_wrap(dtype):
    x = np.random.default_rng(5).integers(0, 100, 1000).astype(dtype)
    s = np.zeros(1, dtype)
    integers(s, x, ndrange=1000)
    assert s[0] == x.sum(dtype=dtype)


@pk.kernel
def with_old_value(s, x, seen):
    i = pk.index()
    seen[i] = pk.atomic_add(s, 0, x[i])


def test_the_old_value_keeps_the_atomic_where_it_is():
    x, s, seen = np.ones(50, np.int64), np.zeros(1, np.int64), np.zeros(50, np.int64)
    with_old_value(s, x, seen, ndrange=50)
    assert sorted(seen) == list(range(50))


@pk.kernel
def reread(s, x, seen):
    i = pk.index()
    for k in range(4):
        pk.atomic_add(s, i, k)
        seen[i] += x[0] + x[i]


@pytest.mark.parametrize("items", [1, 40])
def test_an_array_that_is_read_under_another_name(items):
    """What is added to is also what is read: not after the loop only."""
    results = []
    for device in ("cpu", "python"):
        s, seen = np.zeros(items, np.int64), np.zeros(items, np.int64)
        reread(s, s, seen, ndrange=items, device=device)
        results.append(seen)
    np.testing.assert_array_equal(*results)
