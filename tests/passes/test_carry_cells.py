"""Recurrences through memory, of any length, along rows and down columns: as NumPy's running sums, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def along(o, x):
    i = pk.index()
    o[i, 0] = x[i, 0]
    for j in range(1, x.shape[1]):
        o[i, j] = o[i, j - 1] + x[i, j]


@pk.kernel
def down(o, x):
    j = pk.index()
    o[0, j] = x[0, j]
    for i in range(1, x.shape[0]):
        o[i, j] = o[i - 1, j] + x[i, j]


@pk.kernel
def shifted(o, x):
    """`o` has one column more."""
    i = pk.index()
    for j in range(x.shape[1]):
        o[i, j + 1] = o[i, j] + x[i, j]


@pk.kernel
def decaying(o, x, first, last):
    i = pk.index()
    for j in range(first, last):
        o[i, j] = 0.5 * o[i, j - 1] + x[i, j]


@pk.kernel
def backwards(o, x):
    i = pk.index()
    n = x.shape[1]
    for j in range(n - 2, -1, -1):
        o[i, j] = o[i, j + 1] + x[i, j]


@pk.kernel
def branching(o, x):
    i = pk.index()
    o[i, 0] = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        if v > 0:
            v += o[i, j - 1]
        o[i, j] = v


@pk.kernel
def two_back(o, x):
    i = pk.index()
    for j in range(2, x.shape[1]):
        o[i, j] = o[i, j - 1] + o[i, j - 2] + x[i, j]


def running(kernel, x: np.ndarray, start: np.ndarray) -> np.ndarray:
    """What the statements of a kernel give, one after the other."""
    o = start.copy()
    n = x.shape[1]
    if kernel is along:
        return np.cumsum(x, 1, dtype=x.dtype)
    if kernel is down:
        return np.cumsum(x, 0, dtype=x.dtype)
    if kernel is shifted:
        for j in range(n):
            o[:, j + 1] = o[:, j] + x[:, j]
    elif kernel is backwards:
        for j in range(n - 2, -1, -1):
            o[:, j] = o[:, j + 1] + x[:, j]
    elif kernel is branching:
        o[:, 0] = x[:, 0]
        for j in range(1, n):
            o[:, j] = np.where(x[:, j] > 0, x[:, j] + o[:, j - 1], x[:, j])
    else:
        for j in range(2, n):
            o[:, j] = o[:, j - 1] + o[:, j - 2] + x[:, j]
    return o


def guarded(
    shape: tuple[int, ...], dtype: type, order: str, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Memory around an array of these values: rows side by side, apart, or from the last one to the first."""
    memory = np.full((shape[0] + 4, shape[1] + (0 if order == "dense" else 5)), 7, dtype)
    part = memory[2 : shape[0] + 2, : shape[1]]
    part = part[::-1] if order == "backwards" else part
    part[...] = values
    return memory, part


@pytest.mark.parametrize("order", ["dense", "padded", "backwards"])
@pytest.mark.parametrize("kernel", [along, down, shifted, backwards, branching, two_back])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32])
def test_running_sums(rng, kernel, dtype, order):
    for rows, columns in [(1, 1), (3, 2), (9, 33), (70, 5), (5, 300), (2, 777), (40, 40)]:
        x = (100 * rng.standard_normal((rows, columns))).astype(dtype)
        start = (10 * rng.standard_normal((rows, columns + (kernel is shifted)))).astype(dtype)
        memory, out = guarded(start.shape, dtype, order, start)
        before = memory.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            expected = running(kernel, x, start)
        kernel(out, x, ndrange=columns if kernel is down else rows)
        np.testing.assert_array_equal(out, expected)
        out[...] = start
        np.testing.assert_array_equal(memory, before)


@pytest.mark.parametrize(("first", "last"), [(1, 9), (4, 4), (6, 3), (8, 9), (3, 7)])
def test_bounds_that_are_arguments(rng, first, last):
    """Where the loop does not run nothing is read: `o[i, -1]` would be before the first row."""
    x = rng.integers(-9, 9, (20, 9)).astype(np.float64)
    out = rng.integers(-9, 9, (20, 9)).astype(np.float64)
    expected = out.copy()
    for j in range(first, last):
        expected[:, j] = 0.5 * expected[:, j - 1] + x[:, j]
    decaying(out, x, first, last, ndrange=20)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("kernel", [along, down, shifted, branching])
def test_one_array_twice(rng, kernel):
    """`o` and `x` share memory: each statement sees what the one before it wrote."""
    x = rng.standard_normal((30, 31))
    mine, reference = x.copy(), x.copy()
    views = (mine, mine[:, :30]) if kernel is shifted else (mine, mine)
    others = (reference, reference[:, :30]) if kernel is shifted else (reference, reference)
    count = 31 if kernel is down else 30
    if kernel is shifted:
        with pytest.raises(pk.LaunchError):
            kernel(*views, ndrange=count)
        return
    kernel(*views, ndrange=count)
    kernel(*others, ndrange=count, device="python")
    np.testing.assert_array_equal(mine, reference)


def test_special_values(rng):
    x = rng.standard_normal((8, 50))
    x[1, 3], x[2, 4], x[3, :] = np.nan, np.inf, -0.0
    out, expected = np.zeros_like(x), np.zeros_like(x)
    along(out, x, ndrange=8)
    along(expected, x, ndrange=8, device="python")
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(np.signbit(out), np.signbit(expected))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 31, 64, 65, 127, 255, 256, 257, 300, 511, 700])
def test_many_columns_at_a_time(rng, columns, dtype):
    """Vectors of several widths go down the columns, and masked ones at the end."""
    x = rng.standard_normal((23, columns)).astype(dtype)
    memory = np.full((27, columns), 7, dtype)
    out = memory[2:25]
    down(out, x, ndrange=columns)
    np.testing.assert_array_equal(out, np.cumsum(x, 0, dtype=dtype))
    assert (memory[:2] == 7).all()
    assert (memory[25:] == 7).all()
