"""kern-raise-to-linalg on the patterns that other systems list: against the direct launch and NumPy.

What stands elsewhere: reductions and convolutions in `test_raise_kernels`, conditions and recurrences in
`test_raise_control`, PolyBench in `test_raise_polybench`, refusals in `test_raise_refusals`.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import pykern as pk
from tests.cases.raised import check, raised_text
from tests.passes.test_raise_kernels import has_no_loop, real, whole

SIZES = (1, 2, 9)


# -- published cases --------------------------------------------------------------------------------


@pk.kernel
def product(c, a, b):
    i, j = pk.index()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


def test_a_matrix_times_itself():
    a = real(100, 100)
    text = check(product, (np.zeros((100, 100)), a, a), (100, 100), (a @ a, None, None))
    assert "linalg.matmul" in text
    assert has_no_loop(text)


@pk.kernel
def square(y, x):
    i = pk.index()
    y[i] = x[i] * x[i]


def test_square():
    x = np.arange(1, 65) / 64
    assert has_no_loop(check(square, (np.zeros(64), x), 64, (x * x, None), exact=True))
    n = np.arange(-32, 32, dtype=np.int32)
    assert has_no_loop(check(square, (np.zeros(64, np.int32), n), 64, (n * n, None)))


@pk.kernel
def multiply_add(y, a, b, c):
    i = pk.index()
    y[i] = a[i] * b[i] + c[i]


def test_multiply_and_add_are_just_that():
    a, b, c = real(9), real(9), real(9)
    text = check(multiply_add, (real(9), a, b, c), 9, (a * b + c, None, None, None))
    assert has_no_loop(text)
    assert text.count("linalg.generic") == 1
    body = text.split("linalg.generic")[1].split("linalg.yield")[0]
    assert re.findall(r"(?:arith|math)\.\w+", body) == ["arith.mulf", "arith.addf"]


@pk.kernel
def times(y, x, factor):
    i = pk.index()
    y[i] = x[i] * factor


def test_two_launches():
    x = real(9)
    y, z = np.zeros(9), np.zeros(9)
    assert has_no_loop(check(times, (y, x, 3.0), 9, (3 * x, None, None)))

    @pk.jit
    def both(x):
        y, z = pk.zeros_like(x), pk.zeros_like(x)
        times(y, x, 3.0, ndrange=9)
        times(z, y, 5.0, ndrange=9)
        return z

    z = both(x)
    np.testing.assert_allclose(z, 15 * x, rtol=1e-15)
    assert "kern.launch" not in both.lower(x).stages[-3].text


@pk.kernel
def add_to_itself(y, x):
    i = pk.index()
    y[i] = y[i] + 2.0 * x[i]


def test_one_array_as_two_arguments():
    """3 becomes 9; what is written and read under two names is not raised, the program is right either way."""
    x = np.full(7, 3.0)
    add_to_itself(x, x, ndrange=7)
    np.testing.assert_array_equal(x, 9.0)

    @pk.jit
    def program(x):
        add_to_itself(x, x, ndrange=7)

    x[:] = 3.0
    program(x)
    np.testing.assert_array_equal(x, 9.0)


# -- moving -------------------------------------------------------------------------------------------


@pk.kernel
def halo_copy(y, x):
    """The inner part, with its rim repeated outwards."""
    i, j = pk.index()
    k = min(max(i - 1, 0), x.shape[0] - 1)
    m = min(max(j - 1, 0), x.shape[1] - 1)
    y[i, j] = x[k, m]


@pk.kernel
def halo_walls(y):
    i, j = pk.index()
    if i == 0:
        y[i, j] = 1.0
    elif i == y.shape[0] - 1:
        y[i, j] = 2.0
    elif j == 0 or j == y.shape[1] - 1:
        y[i, j] = y[i, j] * 2


@pk.kernel
def periodic(y, x):
    i = pk.index()
    n = x.shape[0]
    y[i] = x[(i + 1) % n] - x[(i - 1) % n]


@pytest.mark.parametrize("n", SIZES)
def test_halo(n):
    x = real(n, n + 1)
    padded = np.pad(x, 1, "edge")
    assert has_no_loop(check(halo_copy, (np.zeros(padded.shape), x), padded.shape, (padded, None)))
    y = real(n + 1, n + 3)
    walls = y.copy()
    walls[1:-1, 0] *= 2
    walls[1:-1, -1] *= 2
    walls[-1], walls[0] = 2.0, 1.0
    assert has_no_loop(check(halo_walls, (y,), y.shape, (walls,)))
    line = real(n)
    expected = np.roll(line, -1) - np.roll(line, 1)
    assert has_no_loop(check(periodic, (np.zeros(n), line), n, (expected, None)))


@pk.kernel
def diagonals(d, s, x, w):
    i = pk.index()
    d[i] = x[i, i] + x[i, x.shape[1] - 1 - i]
    s[i, i] = w[i]


@pytest.mark.parametrize("n", SIZES)
def test_diagonals(n):
    x, s, w = real(n, n), real(n, n), real(n)
    expected = s.copy()
    np.fill_diagonal(expected, w)
    check(diagonals, (np.zeros(n), s, x, w), n, (np.diag(x) + np.diag(x[:, ::-1]), expected, None, None))


# -- looked-up places ---------------------------------------------------------------------------------


@pk.kernel
def scatter_rows(y, x, index):
    i = pk.index()
    for j in range(len(index)):
        y[i, index[j]] = x[i, j]


@pk.kernel
def scatter_masked(y, x, index):
    i = pk.index()
    for j in range(len(index)):
        if x[i, j] > 0.0:
            y[i, index[j]] = x[i, j] + j
        else:
            y[i, index[j]] *= 0.5


def test_the_last_store_wins():
    index = np.array([3, 1, 3, 0, 8, 1])
    y, x = real(4, 9), real(4, 6)
    expected, masked = y.copy(), y.copy()
    for j, k in enumerate(index):
        expected[:, k] = x[:, j]
        masked[:, k] = np.where(x[:, j] > 0, x[:, j] + j, masked[:, k] * 0.5)
    check(scatter_rows, (y, x, index), 4, (expected, None, None), exact=True)
    check(scatter_masked, (y, x, index), 4, (masked, None, None), exact=True)


@pk.kernel(ndrange=1)
def scatter_in_order(y, x, index):
    for j in range(len(index)):
        y[index[j]] = x[j]


@pk.kernel(ndrange=1)
def counting_sort(out, count, key):
    for j in range(len(key)):
        count[key[j] + 1] += 1
    for k in range(1, len(count)):
        count[k] += count[k - 1]
    for j in range(len(key)):
        out[count[key[j]]] = key[j]
        count[key[j]] += 1


def test_one_work_item_goes_in_order():
    """A launch that is known to be of one work-item has no other one to race with."""
    index = np.array([3, 1, 3, 0, 8, 1])
    y, x = real(9), real(6)
    expected = y.copy()
    for j, k in enumerate(index):
        expected[k] = x[j]
    text = check(scatter_in_order, (y, x, index), 1, (expected, None, None), exact=True)
    assert "tensor.insert " in text
    key = whole(50, low=0, high=9)
    check(counting_sort, (np.zeros(50, np.int32), np.zeros(10, np.int32), key), 1, (np.sort(key), None, None))


@pk.kernel
def gather_2(y, x, rows, columns):
    i, j = pk.index()
    y[i, j] = x[rows[i], columns[j]] - x[rows[columns[j]], j]


@pytest.mark.parametrize("n", SIZES)
def test_gather_through_two_arrays(n):
    x, rows, columns = real(n, n), whole(n, low=0, high=n), whole(n, low=0, high=n)
    expected = x[np.ix_(rows, columns)] - x[rows[columns][None, :], np.arange(n)[None, :]]
    text = check(gather_2, (np.zeros((n, n)), x, rows, columns), (n, n), (expected, None, None, None))
    assert has_no_loop(text)


# -- conditions -----------------------------------------------------------------------------------------


@pk.kernel
def affine(y, x):
    i, j = pk.index()
    if 2 * i + 1 < j + 4 and j < x.shape[1] - 2:
        y[i, j] = x[i, j + 2]
    elif i + j == 7:
        y[i, j] = -1.0


@pytest.mark.parametrize("n", SIZES)
def test_affine_conditions(n):
    x, y = real(n, n + 2), real(n, n + 2)
    i, j = np.indices(y.shape)
    inside = (2 * i + 1 < j + 4) & (j < n)
    ahead = np.pad(x, ((0, 0), (0, 2)))[:, 2:]
    expected = np.where(inside, ahead, np.where(i + j == 7, -1.0, y))
    assert has_no_loop(check(affine, (y, x), y.shape, (expected, None), exact=True))


# -- collecting -----------------------------------------------------------------------------------------


@pk.kernel
def of_every_kind(floats, ints, truths, x, n):
    i = pk.index()
    add, mul, least, most = 0.0, 1.0, math.inf, -math.inf
    both, one, odd = -1, 0, 0
    every, some = True, False
    for j in range(x.shape[1]):
        add += x[i, j]
        mul *= x[i, j]
        least = min(least, x[i, j])
        most = max(most, x[i, j])
        both &= n[i, j]
        one |= n[i, j]
        odd ^= n[i, j]
        every &= x[i, j] > -1.0
        if n[i, j] == 3:
            some = True
    floats[i, 0], floats[i, 1], floats[i, 2], floats[i, 3] = add, mul, least, most
    ints[i, 0], ints[i, 1], ints[i, 2] = both, one, odd
    truths[i, 0], truths[i, 1] = every, some


@pytest.mark.parametrize("n", SIZES)
def test_nine_at_once(n):
    x, m = real(n, n + 3), whole(n, n + 3, dtype=np.int64)
    floats = np.stack([x.sum(1), x.prod(1), x.min(1), x.max(1)], 1)
    ints = np.stack([f.reduce(m, 1) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)], 1)
    truths = np.stack([(x > -1).all(1), (m == 3).any(1)], 1)
    given = real(n, 4), whole(n, 3, dtype=np.int64), np.zeros((n, 2), bool), x, m
    assert has_no_loop(check(of_every_kind, given, n, (floats, ints, truths, None, None)))


@pk.kernel
def flags(out, x, m):
    i = pk.index()
    every, some, none, last = True, False, True, False
    for j in range(m):
        if x[i, j] < 0.0:
            every = False
        some = True if x[i, j] > 1.0 else some
        none = none if x[i, j] <= 1.0 else False
        last = last if x[i, j] < 0.5 else True
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = every, some, none, last


@pytest.mark.parametrize("m", [0, 1, 3])
def test_flags_that_are_set(m):
    x = real(20, 5)
    part = x[:, :m]
    columns = (part >= 0).all(1), (part > 1).any(1), (part <= 1).all(1), (part >= 0.5).any(1)
    assert has_no_loop(check(flags, (np.zeros((20, 4), bool), x, m), 20, (np.stack(columns, 1), None, None)))


@pk.kernel
def carried_on(y, x, w):
    """What one loop has collected, the next one starts from, and a third reads."""
    i = pk.index()
    s = w[i]
    for j in range(x.shape[1]):
        s += x[i, j]
    for j in range(x.shape[1]):
        s = max(s, x[i, j] * 2)
    for j in range(x.shape[1]):
        y[i, j] = x[i, j] / (abs(s) + 1.0)


@pytest.mark.parametrize("n", SIZES)
def test_from_loop_to_loop(n):
    x, w = real(n, n + 1), real(n)
    s = np.maximum(w + x.sum(1), (2 * x).max(1))
    expected = x / (np.abs(s) + 1)[:, None]
    assert has_no_loop(check(carried_on, (np.zeros_like(x), x, w), n, (expected, None, None)))


# -- unrolled loops -------------------------------------------------------------------------------------


TAPS = (1.0, -2.0, 0.5, 3.0)


@pk.kernel
def unrolled(y, x):
    i = pk.index()
    s = 0.0
    for k in pk.unroll(range(len(TAPS))):
        s += x[i + k] * TAPS[k]
    for k in range(2):
        for m in pk.unroll(range(2)):
            s += x[i + k + m]
    y[i] = s


def test_unrolled_loops():
    x = real(12)
    windows = np.lib.stride_tricks.sliding_window_view(x, 4)[:9]
    expected = windows @ TAPS + windows[:, :3] @ [1, 2, 1]
    assert has_no_loop(check(unrolled, (np.zeros(9), x), 9, (expected, None)))


# -- bits and special values ----------------------------------------------------------------------------

SPECIAL = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, -np.nan, 1e-310])


@pk.kernel
def float_bits(a, b, c, x, y):
    i = pk.index()
    a[i] = math.copysign(x[i], y[i])
    b[i] = math.atan2(x[i], y[i])
    c[i] = (pk.isnan(x[i]) or pk.isinf(y[i])) and not pk.isfinite(x[i] - y[i])


def test_special_values():
    x, y = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    truth = (np.isnan(x) | np.isinf(y)) & ~np.isfinite(np.subtract(x, y, where=~np.isinf(x), out=x * np.nan))
    n = len(x)
    text = check(
        float_bits,
        (np.zeros(n), np.zeros(n), np.zeros(n, bool), x, y),
        n,
        (np.copysign(x, y), np.arctan2(x, y), truth, None, None),
    )
    assert has_no_loop(text)


@pk.kernel
def unsigned(flags, least, shifted, x, y):
    i = pk.index()
    flags[i] = x[i] < y[i]
    least[i] = min(x[i], y[i]) // (y[i] | pk.cast(1, pk.u32))
    shifted[i] = (x[i] >> pk.cast(3, pk.u32)) ^ ~y[i]


def test_unsigned_numbers():
    edge = np.array([0, 1, 7, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)
    x, y = (grid.ravel().copy() for grid in np.meshgrid(edge, edge))
    n = len(x)
    expected = (x < y, np.minimum(x, y) // (y | np.uint32(1)), (x >> np.uint32(3)) ^ ~y, None, None)
    given = np.zeros(n, bool), np.zeros(n, np.uint32), np.zeros(n, np.uint32), x, y
    assert has_no_loop(check(unsigned, given, n, expected))


# -- loops of constant length -----------------------------------------------------------------------------


@pk.kernel
def read_after(y, x, z):
    i = pk.index()
    for k in range(3):
        x[i] = x[i] * 0.5 + y[i, k]
    y[i, 0] = x[i] + 1.0
    for k in range(2):
        z[i] += y[i, k]
    z[i] -= x[i]
    for _ in range(2):
        if x[i] > 0.5:
            x[i] = x[i] - z[i]
    y[i, 1] = x[i]


def test_what_a_loop_leaves_is_read_again():
    """No condition tells the loop's loads from those behind it: they are other loads all the same."""
    y, x, z = real(9, 4), real(9), real(9)
    a, b, c = y.copy(), x.copy(), z.copy()
    for k in range(3):
        b = b * 0.5 + a[:, k]
    a[:, 0] = b + 1.0
    c += a[:, 0] + a[:, 1] - b
    for _ in range(2):
        b = np.where(b > 0.5, b - c, b)
    a[:, 1] = b
    check(read_after, (y, x, z), 9, (a, b, c))


# -- shapes ---------------------------------------------------------------------------------------------


@pk.kernel
def any_shape(y, x):
    i, j = pk.index()
    y[i, j] = x[j, i] + (i * x.shape[0] + j)


def test_one_raised_form_for_all_shapes():
    """The lengths are dynamic: what is raised once runs on arrays of any shape, empty ones as well."""
    for shape in ((3, 5), (1, 1), (8, 2), (0, 4)):
        x = real(*shape)
        expected = x.T + np.arange(x.size).reshape(x.T.shape)
        text = check(any_shape, (np.zeros(shape[::-1]), x), shape[::-1], (expected, None))
    assert "tensor<?x?xf64>" in text
    assert raised_text(any_shape, (np.zeros((5, 3)), real(3, 5)), (5, 3)) == text
