"""Loops over coordinates of points, written out: any number of points and coordinates, nothing written around."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

LENGTHS = [1, 2, 3, 4, 5, 9]
COUNTS = [0, 1, 2, 5, 33, 100]


@pk.kernel
def normalised(o, x):
    i = pk.index()
    s = pk.f64(0)
    for d in range(x.shape[1]):
        s += x[i, d]
    for d in range(x.shape[1]):
        o[i, d] = x[i, d] - 2 * s


@pk.kernel
def normalised_cells(o, x):
    i, d = pk.index()
    s = pk.f64(0)
    for e in range(x.shape[1]):
        s += x[i, e]
    o[i, d] = x[i, d] - 2 * s


@pk.kernel
def normalised_inplace(o, x):
    i = pk.index()
    o[i, 0] = 0.0
    for d in range(x.shape[1]):
        o[i, 0] += x[i, d]
    s = o[i, 0]
    for d in range(x.shape[1]):
        o[i, d] = x[i, d] - 2 * s


@pk.kernel
def forces(o, x):
    i = pk.index()
    for d in range(3):
        o[i, d] = 0.0
    for j in range(x.shape[0]):
        r = pk.f64(1)
        for d in range(3):
            r += (x[j, d] - x[i, d]) * (x[j, d] - x[i, d])
        for d in range(3):
            o[i, d] += r * (x[j, d] - x[i, d])


@pk.kernel
def rotated(o, x, m):
    i, c = pk.index()
    s = pk.f64(0)
    for d in range(x.shape[1]):
        s += m[c, d] * x[i, d]
    o[i, c] = s


@pk.kernel
def rotated_flat(o, x, m):
    k = pk.index()
    i, c = k // 3, k % 3
    o[i, c] = m[c, 0] * x[i, 0] + m[c, 1] * x[i, 1] + m[c, 2] * x[i, 2]


@pk.kernel
def halves(o, x):
    k = pk.index()
    o[k // 2, k % 2] = x[k // 2, 1 - k % 2] + k


def points(rng, count: int, length: int) -> np.ndarray:
    """Whole numbers, of which sums and products are exact in any order."""
    return rng.integers(-9, 9, (count, length)).astype(np.float64)


def guarded(count: int, length: int, rows: str) -> tuple[np.ndarray, np.ndarray]:
    """Memory filled with 7, and a matrix in its middle: dense, of padded rows, or from the last row to the first."""
    memory = np.full((count + 4, length + 3), 7.0)
    if rows == "dense":
        flat = memory.reshape(-1)
        return memory, flat[length + 3 :][: count * length].reshape(count, length)
    inside = memory[2 : count + 2, 1 : length + 1]
    return memory, inside[::-1] if rows == "backwards" else inside


def check(kernel, expected, out, memory, given, ndrange) -> None:
    before = memory.copy()
    kernel(out, *given, ndrange=ndrange)
    np.testing.assert_array_equal(out, expected)
    out[...] = 7
    np.testing.assert_array_equal(memory, before)


@pytest.mark.parametrize("rows", ["dense", "padded", "backwards"])
@pytest.mark.parametrize("kernel", [normalised, normalised_cells, normalised_inplace])
def test_lengths_that_the_launch_tells(rng, kernel, rows):
    for length in LENGTHS:
        for count in COUNTS:
            x = points(rng, count, length)
            memory, out = guarded(count, length, rows)
            space = out.shape if kernel is normalised_cells else count
            check(kernel, x - 2 * x.sum(1, keepdims=True), out, memory, (x,), space)


def test_a_part_of_the_columns(rng):
    """A launch over two of three columns leaves the third alone."""
    x, out = points(rng, 40, 3), np.full((40, 3), 7.0)
    normalised_cells(out, x, ndrange=(40, 2))
    np.testing.assert_array_equal(out[:, :2], (x - 2 * x.sum(1, keepdims=True))[:, :2])
    np.testing.assert_array_equal(out[:, 2], 7)


@pytest.mark.parametrize("rows", ["dense", "padded", "backwards"])
def test_sums_in_place(rng, rows):
    for count in COUNTS:
        x = points(rng, count, 3)
        d = x[None] - x[:, None]
        memory, out = guarded(count, 3, rows)
        check(forces, ((1 + (d * d).sum(-1))[..., None] * d).sum(1), out, memory, (x,), count)


@pytest.mark.parametrize("length", LENGTHS)
def test_products_by_small_matrices(rng, length):
    for columns in LENGTHS:
        for count in COUNTS:
            x, m = points(rng, count, length), points(rng, columns, length)
            memory, out = guarded(count, columns, "dense")
            check(rotated, x @ m.T, out, memory, (x, m), out.shape)


def test_flat_indices_over_short_rows(rng):
    for count in COUNTS:
        x, m = points(rng, count, 3), points(rng, 3, 3)
        memory, out = guarded(count, 3, "dense")
        check(rotated_flat, x @ m.T, out, memory, (x, m), out.size)


@pytest.mark.parametrize("threads", [1, 3])
def test_launches_that_end_within_a_row(rng, threads):
    """Also where threads begin within one."""
    before = pk.get_num_threads()
    pk.set_num_threads(threads)
    try:
        for items in (0, 1, 3, 41, 100_001):
            x, out = points(rng, 50_001, 2), np.full((50_001, 2), 7.0)
            halves(out, x, ndrange=items)
            numbers = np.arange(items)
            expected = x[numbers // 2, 1 - numbers % 2] + numbers
            np.testing.assert_array_equal(out.reshape(-1)[:items], expected)
            np.testing.assert_array_equal(out.reshape(-1)[items:], 7)
    finally:
        pk.set_num_threads(before)


@pytest.mark.parametrize("kernel", [normalised, normalised_inplace])
def test_as_the_reference_device(rng, kernel):
    """Sums keep their order, bit by bit."""
    x = rng.standard_normal((67, 3)) * 10.0 ** rng.integers(-9, 9, (67, 3))
    x[3, 1], x[4] = np.nan, -0.0
    out, expected = np.zeros_like(x), np.zeros_like(x)
    kernel(out, x, ndrange=len(x))
    kernel(expected, x, ndrange=len(x), device="python")
    np.testing.assert_array_equal(out.view(np.int64)[~np.isnan(out)], expected.view(np.int64)[~np.isnan(out)])
    np.testing.assert_array_equal(np.isnan(out), np.isnan(expected))


def test_an_array_that_is_read_and_written(rng):
    x = points(rng, 50, 3)
    expected = x - 2 * x.sum(1, keepdims=True)
    normalised(x, x, ndrange=50)
    np.testing.assert_array_equal(x, expected)


@pk.kernel
def products_of_fours(c, a, b):
    n, i, j = pk.index()
    s = a[n, i, 0] * b[n, 0, j] + a[n, i, 1] * b[n, 1, j]
    c[n, i, j] = s + a[n, i, 2] * b[n, 2, j] + a[n, i, 3] * b[n, 3, j]


@pytest.mark.parametrize("shape", [(0, 4, 4), (1, 4, 4), (33, 4, 4), (5, 3, 4), (5, 4, 3), (5, 4, 7)])
def test_a_cell_of_a_small_product_in_a_work_item(rng, shape):
    """Whole rows of four where the launch has them: many operations, but no loop that could be a long one."""
    a, b = rng.standard_normal((*shape[:2], 4)), rng.standard_normal((shape[0], 4, shape[2]))
    c = np.full(shape, np.nan)
    products_of_fours(c, a, b, ndrange=shape)
    np.testing.assert_allclose(c, a @ b, rtol=1e-12)
    stages = products_of_fours.lower(c, a, b, ndrange=shape).stages
    text = next(s.text for s in stages if s.name == "kern-unroll-short-rows")
    assert text.count("memref.store") == 5  # four cells of a row, and one elsewhere


@pk.kernel
def columns_of_some_rows(o, x):
    i, j = pk.index()
    if i < x.shape[0] and j < o.shape[1] - 3:
        for k in range(x.shape[1]):
            o[i, j] += x[i, k]


@pytest.mark.parametrize("columns", [2, 3, 4, 5])
def test_rows_of_no_columns(columns):
    """A launch of whose small lengths its code knows that no work-item passes the guard."""
    x, o = np.ones((2, 5), np.float32), np.full((60000, columns), 9, np.float32)
    columns_of_some_rows(o, x, ndrange=o.shape)
    expected = np.full_like(o, 9)
    expected[:2, : max(0, columns - 3)] += 5
    np.testing.assert_array_equal(o, expected)
