"""Private arrays in registers: numbers against NumPy and against the function as plain Python; what stays in memory."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

RANDOM = np.random.default_rng(7)


def in_memory(kernel, *arguments, ndrange) -> bool:
    """Whether private memory is left where work-items become vectors."""
    lowered = kernel.lower(*arguments, ndrange=ndrange)
    return "memref.alloca" in next(s.text for s in lowered.stages if s.name == "kern-promote-private")


def same_as_python(kernel, arrays, *numbers, ndrange):
    """Run both; results are compared bit by bit."""
    compiled, plain = [a.copy() for a in arrays], [a.copy() for a in arrays]
    kernel(*compiled, *numbers, ndrange=ndrange)
    kernel(*plain, *numbers, ndrange=ndrange, device="python")
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    return compiled


@pk.kernel
def median(out, image):
    i, j = pk.index()
    w = pk.private(9, pk.f32)
    n = 0
    for a in range(3):
        for b in range(3):
            w[n] = image[i + a, j + b]
            n += 1
    for a in range(8):
        for b in range(8 - a):
            if w[b] > w[b + 1]:
                w[b], w[b + 1] = w[b + 1], w[b]
    out[i, j] = w[4]


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (5, 33), (2, 0), (0, 4)])
@pytest.mark.parametrize("strided", [False, True])
def test_median(shape, strided):
    image = RANDOM.standard_normal((shape[0] + 2, 2 * shape[1] + 4)).astype(np.float32)
    image = image[:, ::2] if strided else np.ascontiguousarray(image[:, : shape[1] + 2])
    image[0, 0] = np.inf
    out = np.full(shape, np.nan, np.float32)
    median(out, image, ndrange=shape)
    if out.size:
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3)).reshape(*shape, 9)
        np.testing.assert_array_equal(out, np.median(windows, -1))
    assert not in_memory(median, out, image, ndrange=shape)


def test_comparisons_with_nans_go_as_written():
    image = RANDOM.standard_normal((9, 21)).astype(np.float32)
    image[RANDOM.random(image.shape) < 0.2] = np.nan
    image[3, 4:9] = -0.0, 0.0, np.inf, -np.inf, 0.0
    same_as_python(median, [np.zeros((7, 19), np.float32), image], ndrange=(7, 19))


@pk.kernel
def machine(out, x, rounds):
    """Cells changed in branches, in loops of any length that may be left, in `while`; of several types."""
    i = pk.index()
    count, seen, sums = pk.private(3, pk.i32), pk.private((2, 2), pk.i8), pk.private(4, pk.f64)
    for k in range(4):
        sums[k] = 0.0
        seen[k // 2, k % 2] = 0
    for k in range(3):
        count[k] = k - 1
    for r in range(rounds):
        v = x[(i + r) % len(x)]
        if v > 3.0:
            break
        if v > 0.5:
            count[0] += 1
            sums[1] += v
        elif v < -0.5:
            count[1] -= 1
            for k in range(2):
                sums[k + 2] = 0.5 * sums[k + 2] + v
        else:
            seen[1, 0] = 1
            seen[0, 1] ^= 1
    n = i
    while n > 1:
        n -= 2
        count[2] += count[0]
        if count[2] > 9:
            count[2] = 0
    total = 0.0
    for k in range(3, -1, -1):
        total = 2.0 * total + sums[k]
    out[i] = total + count[0] + 10.0 * count[1] + 100.0 * count[2] + 0.25 * seen[1, 0] + 0.125 * seen[0, 1]


@pytest.mark.parametrize("n", [0, 1, 2, 17, 40])
@pytest.mark.parametrize("rounds", [0, 1, 6])
def test_branches_and_loops(n, rounds):
    x = RANDOM.standard_normal(max(n, 1)) * 1.5
    (out, _) = same_as_python(machine, [np.zeros(n), x], rounds, ndrange=n)
    assert not in_memory(machine, out, x, rounds, ndrange=n)


@pk.kernel
def last_of_branches(out, x):
    """A cell that one side of a branch writes, and a long array that is indexed by data beside one that is not."""
    i = pk.index()
    a, b = pk.private(2, pk.f32), pk.private(20, pk.f32)
    for k in range(20):
        b[k] = x[(i + k) % len(x)]
    a[0] = 1.0
    a[1] = 2.0
    if x[i] > 0.0:
        a[0] = b[int(abs(x[i])) % 20]
    for k in range(2):
        if k == 1 and x[i] < 1.0:
            a[k] = a[k - 1] + 1.0
    out[i] = a[0] + 16.0 * a[1]


def test_data_may_be_an_index():
    x = RANDOM.standard_normal(37).astype(np.float32) * 3
    out, _ = same_as_python(last_of_branches, [np.zeros(37, np.float32), x], ndrange=37)
    text = next(
        s.text for s in last_of_branches.lower(out, x, ndrange=37).stages if s.name == "kern-promote-private"
    )
    interior = text.partition("{kern.items}")[0].rpartition("\n    scf.for")[2]  # behind the loop over rims
    assert "memref<20xf32>" in interior
    assert "memref<2xf32>" not in interior


@pk.kernel
def sorted_by_insertion(out, x):
    i = pk.index()
    w = pk.private(5, pk.f32)
    for k in range(5):
        v = x[i + k]
        p = k
        while p > 0 and w[p - 1] > v:
            w[p] = w[p - 1]
            p -= 1
        w[p] = v
    for k in range(5):
        out[i, k] = w[k]


@pk.kernel
def sorted_by_selection(out, x):
    i = pk.index()
    w = pk.private(5, pk.f32)
    for k in range(5):
        w[k] = x[i + k]
    for a in range(5):
        m = a
        for b in range(a + 1, 5):
            if w[b] < w[m]:
                m = b
        w[a], w[m] = w[m], w[a]
    for k in range(5):
        out[i, k] = w[k]


@pytest.mark.parametrize("kernel", [sorted_by_insertion, sorted_by_selection])
@pytest.mark.parametrize("n", [1, 31, 67])
def test_cells_that_comparisons_find(kernel, n):
    x = RANDOM.integers(-3, 4, n + 4).astype(np.float32)  # some are equal
    out = np.full((n, 5), np.nan, np.float32)
    kernel(out, x, ndrange=n)
    windows = np.lib.stride_tricks.sliding_window_view(x, 5)[:n]
    np.testing.assert_array_equal(out, np.sort(windows, axis=1))
    assert not in_memory(kernel, out, x, ndrange=n)


@pytest.mark.parametrize("kernel", [sorted_by_insertion, sorted_by_selection])
def test_cells_that_comparisons_find_with_nans(kernel):
    x = RANDOM.standard_normal(45).astype(np.float32)
    x[[3, 17, 18]], x[30], x[31] = np.nan, -0.0, 0.0
    same_as_python(kernel, [np.zeros((41, 5), np.float32), x], ndrange=41)


@pk.kernel
def placed_in_a_table(out, x):
    """Two indices, one of which data gives."""
    i = pk.index()
    w = pk.private((3, 4), pk.i32)
    for a in range(3):
        for b in range(4):
            w[a, b] = 10 * a + b
    for k in range(3):
        w[k, x[i, k] % 4] += 100
        w[x[i, k] % 3, 1] -= 1000
    for a in range(3):
        for b in range(4):
            out[i, 4 * a + b] = w[a, b]


def test_one_of_two_indices_is_data():
    x = RANDOM.integers(0, 99, (37, 3))
    out, _ = same_as_python(placed_in_a_table, [np.zeros((37, 12), np.int32), x], ndrange=37)
    assert not in_memory(placed_in_a_table, out, x, ndrange=37)


@pk.kernel
def pivoted(x, a, b):
    """Four equations, with the largest pivot: its row is known, once the loop over rows is unrolled."""
    n = pk.index()
    m = pk.private((4, 5), pk.f64)
    for i in range(4):
        m[i, 4] = b[n, i]
        for j in range(4):
            m[i, j] = a[n, i, j]
    for k in range(4):
        for i in range(k + 1, 4):
            if abs(m[i, k]) > abs(m[k, k]):
                for j in range(5):
                    m[i, j], m[k, j] = m[k, j], m[i, j]
        for i in range(k + 1, 4):
            f = m[i, k] / m[k, k]
            for j in range(k, 5):
                m[i, j] -= f * m[k, j]
    for r in range(4):
        k = 3 - r
        s = m[k, 4]
        for j in range(k + 1, 4):
            s -= m[k, j] * m[j, 4]
        m[k, 4] = s / m[k, k]
        x[n, k] = m[k, 4]


@pytest.mark.parametrize("n", [0, 1, 16, 35])
def test_equations_with_pivots(n):
    a, b = RANDOM.standard_normal((n, 4, 4)), RANDOM.standard_normal((n, 4))
    a[:, 0, 0] = 0.0
    x = np.zeros((n, 4))
    pivoted(x, a, b, ndrange=n)
    np.testing.assert_allclose(x, np.linalg.solve(a, b[..., None])[..., 0], rtol=1e-7)
    assert not in_memory(pivoted, x, a, b, ndrange=n)


@pk.kernel
def long_sort(out, x):
    i = pk.index()
    w = pk.private(64, pk.f32)
    for k in range(64):
        w[k] = x[i, k]
    for a in range(63):
        for b in range(63 - a):
            if w[b] > w[b + 1]:
                w[b], w[b + 1] = w[b + 1], w[b]
    for k in range(64):
        out[i, k] = w[k]


def test_what_would_be_long_stays_in_memory():
    x = RANDOM.standard_normal((5, 64)).astype(np.float32)
    out = np.zeros_like(x)
    long_sort(out, x, ndrange=5)
    np.testing.assert_array_equal(out, np.sort(x, 1))
    assert in_memory(long_sort, out, x, ndrange=5)


@pk.kernel
def middle(out, x):
    i = pk.index()
    w = pk.private(25, pk.f32)
    for k in range(25):
        w[k] = x[i + k]
    for a in range(24):
        for b in range(24 - a):
            if w[b] > w[b + 1]:
                w[b], w[b + 1] = w[b + 1], w[b]
    out[i] = w[12]


def test_three_hundred_swaps_compile_without_the_square_of_them():
    x, out = RANDOM.standard_normal(60).astype(np.float32), np.zeros(36, np.float32)
    lowered = middle.lower(out, x, ndrange=36)
    middle(out, x, ndrange=36)
    np.testing.assert_array_equal(out, np.median(np.lib.stride_tricks.sliding_window_view(x, 25), -1))
    taken = {s.name: s.ms for s in lowered.stages}
    assert "memref.alloca" not in next(s.text for s in lowered.stages if s.name == "kern-promote-private")
    assert taken["llvm-optimise"] < 10 * taken["llvm-emit"] + 200  # with the SLP vectoriser 2000 beside 140


def test_gradients_of_kernels_with_private_memory():
    x = RANDOM.standard_normal((6, 9)).astype(np.float32)
    out = np.zeros((4, 7), np.float32)
    d_out, d_x = np.ones_like(out), np.zeros_like(x)
    pk.autodiff(median)(pk.Dup(out, d_out), pk.Dup(x, d_x), ndrange=out.shape)
    expected = np.zeros_like(x)
    for i, j in np.ndindex(*out.shape):
        window = x[i : i + 3, j : j + 3]
        a, b = np.argwhere(window == np.median(window))[0]
        expected[i + a, j + b] += 1
    np.testing.assert_array_equal(d_x, expected)
