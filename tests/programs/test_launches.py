"""Launches in array programs: what they write is theirs, whatever else looks like it."""

from __future__ import annotations

import numpy as np

import pykern as pk


@pk.kernel
def count_up(a, n):
    """A loop that does not raise."""
    i = pk.index()
    k = 0
    while k < n:
        a[i] += 1.0
        k += 1


@pk.jit
def two_copies(x):
    a, b = pk.copy(x), pk.copy(x)
    count_up(a, 3, ndrange=x.shape)
    count_up(b, 5, ndrange=x.shape)
    return a, b, x


@pk.jit
def fresh_in_each_iteration(x, n: pk.static):
    total = pk.zeros_like(x)
    for _ in pk.range(n):
        a = pk.copy(x)
        count_up(a, 2, ndrange=x.shape)
        total = total + a
    return total


def test_copies_of_one_array_stay_apart():
    a, b, x = two_copies(np.zeros(5))
    np.testing.assert_array_equal(a, np.full(5, 3.0))
    np.testing.assert_array_equal(b, np.full(5, 5.0))
    np.testing.assert_array_equal(x, np.zeros(5))


def test_a_copy_in_a_loop_is_made_in_each_iteration():
    x = np.arange(4.0)
    np.testing.assert_array_equal(fresh_in_each_iteration(x, 3), 3 * (x + 2))
    np.testing.assert_array_equal(x, np.arange(4.0))


@pk.kernel
def both(a, b, n):
    i = pk.index()
    k = 0
    while k < n:
        a[i] += b[i]
        b[i] *= 2.0
        k += 1


@pk.jit
def equal_arrays(x):
    a, b = pk.copy(x), pk.copy(x)
    both(a, b, 2, ndrange=x.shape)
    return a, b


def test_equal_arrays_of_one_launch_are_two_buffers():
    x = np.arange(1.0, 5.0)
    a, b = equal_arrays(x)
    np.testing.assert_array_equal(a, 4 * x)
    np.testing.assert_array_equal(b, 4 * x)
    np.testing.assert_array_equal(x, np.arange(1.0, 5.0))


@pk.kernel
def changed(x):
    i, j = pk.index()
    x[i, j] = x[i, j] * 2 - 1


@pk.jit
def changed_then_multiplied(x, b):
    changed(x, ndrange=x.shape)
    x[:] = x @ b


@pk.jit
def changed_then_spread(x, b):
    changed(x, ndrange=x.shape)
    return x[:, :, None] * b[None], x.sum(axis=0)


def test_what_changes_in_place_changes_once():
    """However often its reader looks at an element: once for each term, or for each element of a broadcast."""
    rng = np.random.default_rng(3)
    x, b = rng.integers(-3, 4, (20, 20)).astype(float), rng.integers(-3, 4, (20, 20)).astype(float)
    wanted = x * 2 - 1
    spread, sums = changed_then_spread(x.copy(), b)
    np.testing.assert_array_equal(spread, wanted[:, :, None] * b[None])
    np.testing.assert_array_equal(sums, wanted.sum(axis=0))
    changed_then_multiplied(x, b)
    np.testing.assert_array_equal(x, wanted @ b)


@pk.kernel
def count_in_four(bins, x):
    i = pk.index()
    last = pk.private(4, pk.i64)
    for k in pk.static(range(4)):
        last[k] = x[i] // 4 + k
    pk.atomic_add(bins, last[3] % 8, 1)


@pk.jit
def histogram(x):
    bins = pk.zeros(8, dtype="int64")
    count_in_four(bins, x, ndrange=x.shape)
    return bins


def test_launched_kernels_are_made_faster_as_others_are(rng):
    """Divisions by powers of two become shifts, private arrays values, sums the thread's own."""
    x = rng.integers(-1000, 1000, 5000)
    np.testing.assert_array_equal(histogram(x), np.bincount((x // 4 + 3) % 8, minlength=8))
    said = [remark.text for remark in histogram.lower(x).remarks]
    assert any("atomic additions go to an array of the thread first" in one for one in said)
