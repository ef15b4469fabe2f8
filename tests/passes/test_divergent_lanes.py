"""Loops that work-items run unequally often, in lanes: as the reference device, bit by bit, nothing read outside."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

COUNTS = [0, 1, 7, 33, 70]


@pk.kernel
def before(o, x):
    i = pk.index()
    s = o.dtype(0)
    for j in range(i):
        s = 0.5 * s + x[j]
    o[i] = s


@pk.kernel
def behind(o, x):
    i = pk.index()
    s = o.dtype(0)
    for j in range(i + 1, x.shape[0]):
        s = 0.5 * s - x[j]
    o[i] = s


@pk.kernel
def others(o, x):
    i = pk.index()
    s = o.dtype(0)
    for j in range(i):
        s += abs(x[j] - x[i])
    for j in range(i + 1, x.shape[0]):
        s += abs(x[j] - x[i])
    o[i] = s


@pk.kernel
def backwards(o, x):
    i = pk.index()
    s = o.dtype(0)
    for j in range(x.shape[0] - 2 * i):
        s = 0.5 * s + x[j]
    o[i] = s


@pk.kernel
def own_lengths(o, x, lengths):
    i = pk.index()
    s, n = o.dtype(0), 0
    for j in range(lengths[i]):
        s = 0.5 * s + x[j] + x[i]
        n += 1
    o[i] = s + n


@pk.kernel
def columns(o, x, lengths):
    i = pk.index()
    s = o.dtype(0)
    for j in range(lengths[i]):
        s = 0.5 * s + x[j, i]
    o[i] = s


@pk.kernel
def halving(o, x):
    i = pk.index()
    v, n = x[i], 0
    while v > 1:
        v *= 0.5
        n += 1
    o[i] = v + n


@pk.kernel
def leaving(o, x):
    i = pk.index()
    v, n = x[i], 0
    for _ in range(20):
        if v <= 1:
            break
        v = v * 0.5
        n += 1
    o[i] = v + n


@pk.kernel
def nested(o, x):
    i = pk.index()
    s = o.dtype(0)
    for k in range(3):
        v = x[i] + k
        while v > 1 and s < 100:
            v *= 0.5
            s += v
    o[i] = s


def numbers(rng, count: int, dtype: type) -> np.ndarray:
    """Whole numbers: products by 0.5 and sums of them are exact, joined or not."""
    return rng.integers(-64, 64, count).astype(dtype)


def check(kernel, count: int, dtype: type, *given) -> None:
    """In the middle of memory that is not to be touched."""
    memory = np.full(count + 80, 7, dtype)
    out, expected = memory[40 : count + 40], np.zeros(count, dtype)
    kernel(out, *given, ndrange=count)
    kernel(expected, *given, ndrange=count, device="python")
    np.testing.assert_array_equal(out, expected)
    assert (memory[:40] == 7).all()
    assert (memory[count + 40 :] == 7).all()


@pytest.mark.sweep("kernel", "dtype")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [before, behind, others, halving, leaving, nested])
def test_any_number_of_work_items(rng, kernel, dtype):
    for count in COUNTS:
        check(kernel, count, dtype, numbers(rng, count, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loops_that_get_shorter(rng, dtype):
    for count in COUNTS:
        check(backwards, count, dtype, numbers(rng, 2 * count + 3, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths_of_their_own(rng, dtype):
    """Those of loops that do not run may be anything, and so is what they would read."""
    for count in COUNTS:
        lengths = rng.integers(-3, 40, count)
        lengths[rng.random(count) < 0.3] = 0
        check(own_lengths, count, dtype, numbers(rng, max(count, 40), dtype), lengths)
        check(columns, count, dtype, numbers(rng, 40 * count, dtype).reshape(40, count), lengths)


def test_places_that_are_never_read(rng):
    """Work-items from 10 on have no column: their loops do not run, and nothing is read behind the array."""
    count = 75
    memory = np.full((12, 10), np.nan)
    memory[:11] = numbers(rng, 110, np.float64).reshape(11, 10)
    lengths = np.where(np.arange(count) < 10, rng.integers(0, 11, count), 0)
    check(columns, count, np.float64, memory[:11], lengths)


def test_special_values():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300] * 12)
    finite = np.where(x == np.inf, 1e308, x)
    check(halving, len(x), np.float64, finite)
    check(others, len(x), np.float64, x)
    check(before, len(x), np.float64, x)
