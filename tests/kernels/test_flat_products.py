"""Products of matrices as CUDA C++ writes them: lengths are integers, arrays are flat, a guard ends the launch."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.kernels.test_product_launches import plans, tiles

__all__ = ["tiles"]


@pk.kernel
def guarded(c, a, b, m, n, terms):
    i, j = pk.index()
    if i < m and j < n:
        total = c.dtype(0)
        for k in range(terms):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@pk.kernel
def flat(c, a, b, m, n, terms):
    i, j = pk.index()
    if i < m and j < n:
        total = c.dtype(0)
        for k in range(terms):
            total += a[i * terms + k] * b[k * n + j]
        c[i * n + j] = total


@pk.kernel
def flat_returns(c, a, b, m, n, terms):
    i, j = pk.index()
    if i >= m or j >= n:
        return
    for k in range(terms):
        c[i * n + j] += a[i * terms + k] * b[k * n + j]


@pk.kernel
def flat_index(c, a, b, m, n, terms):
    q = pk.index()
    i, j = q // n, q % n
    total = c.dtype(0)
    for k in range(terms):
        total += a[i * terms + k] * b[k * n + j]
    c[q] = total


@pk.kernel
def flat_transposed(c, a, b, m, n, terms):
    """`a` is stored column by column, `b` row by row of its transpose."""
    i, j = pk.index()
    if i < m and j < n:
        total = c.dtype(0)
        for k in range(terms):
            total += a[k * m + i] * b[j * terms + k]
        c[i * n + j] = total


@pk.kernel
def flat_batch(c, a, b, batch, m, n, terms):
    z, i, j = pk.index()
    if z < batch and i < m and j < n:
        total = c.dtype(0)
        for k in range(terms):
            total += a[(z * m + i) * terms + k] * b[(z * terms + k) * n + j]
        c[(z * m + i) * n + j] = total


@pk.kernel
def flat_offset(c, a, b, m, n, terms, first):
    """From row `first` on."""
    i, j = pk.index()
    if i < m - first and j < n:
        total = c.dtype(0)
        for k in range(terms):
            total += a[(i + first) * terms + k] * b[k * n + j]
        c[(i + first) * n + j] = total


def loops_and_tiles(tiles, kernel, out, *given, ndrange):
    found = []
    for on in (False, True):
        tiles(on)
        mine = out.copy()
        kernel(mine, *given, ndrange=ndrange)
        found.append(mine)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [guarded, flat, flat_returns, flat_index, flat_transposed])
@pytest.mark.parametrize(("m", "n", "terms"), [(128, 112, 97), (67, 150, 131), (131, 64, 128)])
def test_lengths_are_integers(rng, tiles, kernel, dtype, m, n, terms):
    a, b = rng.standard_normal((m, terms)).astype(dtype), rng.standard_normal((terms, n)).astype(dtype)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    wide = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    out = np.zeros((m, n), dtype)
    if kernel is flat_transposed:
        a, b = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    if kernel is not guarded:
        out, a, b = (x.ravel() for x in (out, a, b))
    blocks = (
        -(-m // 16) * 16,
        -(-n // 16) * 16,
    )  # whole blocks of 16 x 16 work-items, as launches of CUDA have them
    ndrange = m * n if kernel is flat_index else blocks
    before = plans(kernel)
    loops, tiled = loops_and_tiles(tiles, kernel, out, a, b, m, n, terms, ndrange=ndrange)
    assert plans(kernel) == before + 1
    np.testing.assert_array_equal(tiled, loops)
    assert np.all(np.abs(tiled.reshape(m, n) - exact) <= terms * np.finfo(dtype).eps * wide)


def test_batches(rng, tiles):
    batch, m, n, terms = 5, 33, 47, 70
    a, b = rng.standard_normal((batch, m, terms)), rng.standard_normal((batch, terms, n))
    out = np.zeros(batch * m * n)
    given = (a.ravel(), b.ravel(), batch, m, n, terms)
    loops, tiled = loops_and_tiles(tiles, flat_batch, out, *given, ndrange=(batch, m, n))
    np.testing.assert_array_equal(tiled, loops)
    np.testing.assert_allclose(tiled.reshape(batch, m, n), a @ b, atol=1e-12)


def test_part_of_the_rows(rng, tiles):
    m, n, terms = 130, 66, 131
    a, b = rng.standard_normal((m, terms)), rng.standard_normal((terms, n))
    kept = rng.standard_normal((m, n))
    for first in (0, 1, 64, 129):
        given = (a.ravel(), b.ravel(), m, n, terms, first)
        loops, tiled = loops_and_tiles(tiles, flat_offset, kept.ravel(), *given, ndrange=(m, n))
        np.testing.assert_array_equal(tiled, loops)
        expected = kept.copy()
        expected[first:] = (a @ b)[first:]
        np.testing.assert_allclose(tiled.reshape(m, n), expected, atol=1e-12)


def test_lengths_that_change(rng, tiles):
    """Less than the arrays hold, more each time: code is made for the first few."""
    tiles(True)
    a, b = rng.standard_normal((130, 140)), rng.standard_normal((140, 120))
    for terms in (140, 139, 100, 7, 1, 0, -3, 140):
        for m, n in [(130, 120), (129, 3), (0, 120)]:
            c = np.full((130, 120), 7.0)
            guarded(c, a, b, m, n, terms, ndrange=(130, 120))
            expected = np.full((130, 120), 7.0)
            expected[:m, :n] = a[:m, : max(terms, 0)] @ b[: max(terms, 0), :n]
            np.testing.assert_allclose(c, expected, atol=1e-12)


def test_rows_that_do_not_divide_the_array(rng, tiles):
    """The flat arrays hold more than the matrices."""
    m, n, terms = 120, 121, 122
    a, b = rng.standard_normal(m * terms + 5), rng.standard_normal(terms * n + 1)
    out = rng.standard_normal(m * n + 17)
    loops, tiled = loops_and_tiles(tiles, flat, out, a, b, m, n, terms, ndrange=(m, n))
    np.testing.assert_array_equal(tiled, loops)
    exact = a[: m * terms].reshape(m, terms) @ b[: terms * n].reshape(terms, n)
    np.testing.assert_allclose(tiled[: m * n].reshape(m, n), exact, atol=1e-12)
    np.testing.assert_array_equal(tiled[m * n :], out[m * n :])


@pk.kernel
def flat_heat(new, old, n, m, c):
    i, j = pk.index()
    if 0 < i < n - 1 and 0 < j < m - 1:
        at = i * m + j
        new[at] = old[at] + c * (old[at - m] + old[at + m] + old[at - 1] + old[at + 1] - 4 * old[at])


@pk.kernel
def rows_overlap(out, x, n, m):
    """Columns go beyond the row: no matrix."""
    i, j = pk.index()
    out[i * m + j] = x[i * m + j + 3] + x[i + j]


@pk.jit
def flat_heat_steps(new, old, c, steps: pk.static):
    for _ in range(steps):
        flat_heat(new, old, 37, 53, c, ndrange=(37, 53))
        flat_heat(old, new, 37, 53, c, ndrange=(37, 53))
    return old


@pk.jit
def overlapping(y, x):
    rows_overlap(y, x, 20, 30, ndrange=(20, 30))
    return y


def test_flat_arrays_in_programs(rng):
    """What a program launches is raised with the numbers that the program knows."""
    old = rng.standard_normal((37, 53))
    expected, new = old.copy(), old.copy()
    for _ in range(2 * 3):
        step = expected.copy()
        inner = expected[1:-1, 1:-1]
        around = expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2] + expected[1:-1, 2:]
        step[1:-1, 1:-1] = inner + 0.1 * (around - 4 * inner)
        expected = step
    found = flat_heat_steps(new.ravel().copy(), old.ravel().copy(), 0.1, 3)
    np.testing.assert_allclose(found.reshape(37, 53), expected, rtol=1e-12)
    x = rng.standard_normal(700)
    at = np.arange(600)
    np.testing.assert_array_equal(overlapping(np.zeros(600), x), x[at + 3] + x[at // 30 + at % 30])


def test_gradients_of_flat_products(rng):
    @pk.jit
    def loss(c, a, b):
        flat(c, a, b, 6, 5, 7, ndrange=(6, 5))
        return (c * c).sum()

    a, b = rng.standard_normal(42), rng.standard_normal(35)
    _, da, db = pk.grad(loss, argnums=(0, 1, 2))(np.zeros(30), a, b)
    product = a.reshape(6, 7) @ b.reshape(7, 5)
    np.testing.assert_allclose(da.reshape(6, 7), 2 * product @ b.reshape(7, 5).T, rtol=1e-10)
    np.testing.assert_allclose(db.reshape(7, 5), 2 * a.reshape(6, 7).T @ product, rtol=1e-10)


@pk.kernel
def scaled(c, a, b, m, n, terms, alpha, beta):
    i, j = pk.index()
    if i < m and j < n:
        total = 0.0
        for k in range(terms):
            total += a[i * terms + k] * b[k * n + j]
        c[i * n + j] = alpha * total + beta * c[i * n + j]


@pk.jit
def scaled_in_place(c, a, b):
    scaled(c, a, b, 21, 34, 55, 2.0, 0.5, ndrange=(32, 48))
    return c.reshape(21, 34)[::-1].copy(), c


@pk.jit
def turned_in_place(x):
    """Each element is read after another one of the same array was written, if the memory is shared too soon."""
    y = x.reshape(21, 34)
    x[:] = (y[::-1] * 2 + y).ravel()
    return x


def test_results_in_the_memory_of_arguments_in_another_shape(rng):
    a, b, c = (rng.standard_normal(n) for n in (21 * 55, 55 * 34, 21 * 34))
    given = c.copy()
    turned, result = scaled_in_place(given, a, b)
    expected = 2 * (a.reshape(21, 55) @ b.reshape(55, 34)) + 0.5 * c.reshape(21, 34)
    for found in (given, result):
        np.testing.assert_allclose(found.reshape(21, 34), expected, atol=1e-12)
    np.testing.assert_allclose(turned, expected[::-1], atol=1e-12)
    y = c.reshape(21, 34)
    turned_in_place(c_turned := c.copy())
    np.testing.assert_array_equal(c_turned.reshape(21, 34), y[::-1] * 2 + y)
