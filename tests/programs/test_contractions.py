"""Contractions through their schedules: every way factors may lie, odd lengths, narrow numbers, convolutions.

Against NumPy in f64 with the bound n * eps * (|a| @ |b|).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def left_transposed(a, b):
    return a.T @ b


@pk.jit
def right_transposed(a, b):
    return a @ b.T


@pk.jit
def both_transposed(a, b):
    return a.T @ b.T


@pk.kernel
def wide_product(c, a, b):
    i, j = pk.index()
    total = pk.i32(0)
    for k in range(a.shape[1]):
        total += pk.i32(a[i, k]) * pk.i32(b[k, j])
    c[i, j] = total


@pk.jit
def integers(a, b):
    c = pk.zeros((a.shape[0], b.shape[1]), pk.i32)
    wide_product(c, a, b, ndrange=(a.shape[0], b.shape[1]))
    return c


@pk.kernel
def filter_kernel(y, x, w):
    i, j = pk.index()
    total = y.dtype(0)
    for p in range(w.shape[0]):
        for q in range(w.shape[1]):
            total += x[i + p, j + q] * w[p, q]
    y[i, j] = total


@pk.jit
def filtered(x, w):
    y = pk.zeros((x.shape[0] - w.shape[0] + 1, x.shape[1] - w.shape[1] + 1), x.dtype)
    filter_kernel(y, x, w, ndrange=y.shape)
    return y


@pk.kernel
def channel_kernel(y, x, w):
    i, j, o = pk.index()
    total = y.dtype(0)
    for p in range(w.shape[0]):
        for q in range(w.shape[1]):
            for c in range(w.shape[2]):
                total += x[i + p, j + q, c] * w[p, q, c, o]
    y[i, j, o] = total


@pk.jit
def channels(x, w):
    y = pk.zeros((x.shape[0] - w.shape[0] + 1, x.shape[1] - w.shape[1] + 1, w.shape[3]), x.dtype)
    channel_kernel(y, x, w, ndrange=y.shape)
    return y


@pk.kernel
def line_kernel(y, x, w):
    i = pk.index()
    total = y.dtype(0)
    for p in range(w.shape[0]):
        total += x[2 * i + p] * w[p]
    y[i] = total


@pk.jit
def strided_line(x, w):
    y = pk.zeros(((x.shape[0] - w.shape[0]) // 2 + 1,), x.dtype)
    line_kernel(y, x, w, ndrange=y.shape)
    return y


def scheduled(program, *arguments) -> str:
    """The functions of a program that have a schedule, as text."""
    text = next(s.text for s in program.lower(*arguments).stages if s.name.startswith("kern-make-nests"))
    return "\n".join(line for line in text.splitlines() if "kern.schedule" in line)


def close(found, a, b):
    a64, b64 = np.asarray(a, np.float64), np.asarray(b, np.float64)
    bound = a.shape[-1] * np.finfo(found.dtype).eps * (np.abs(a64) @ np.abs(b64))
    assert found.shape == (a64 @ b64).shape
    assert np.all(np.abs(found - a64 @ b64) <= bound)


SIZES = [
    (1, 1, 1), (2, 3, 4), (5, 4, 9), (7, 17, 3), (31, 37, 41), (97, 101, 103), (1, 33, 40), (61, 8, 2), (3, 300, 7),
    (130, 64, 700), (53, 1031, 149), (37, 1, 41),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_sizes(rng, m, n, k, dtype):
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    close(product(a, b), a, b)


@pytest.mark.parametrize(("m", "n", "k"), [(37, 41, 43), (127, 131, 257), (1, 19, 8), (37, 1, 41)])
def test_transposed(rng, m, n, k):
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    close(left_transposed(np.ascontiguousarray(a.T), b), a, b)
    close(right_transposed(a, np.ascontiguousarray(b.T)), a, b)
    close(both_transposed(np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)), a, b)


@pytest.mark.parametrize("shape", [(0, 5, 7), (5, 0, 7), (5, 7, 0), (0, 0, 0)])
def test_nothing(shape):
    m, n, k = shape
    np.testing.assert_array_equal(product(np.ones((m, k)), np.ones((k, n))), np.zeros((m, n)))


@pytest.mark.parametrize("m", [1, 3])
def test_few_rows_times_a_large_matrix(rng, m):
    a, b = rng.standard_normal((m, 409)), rng.standard_normal((409, 1103))
    assert "depth = 8" in scheduled(product, a, b)
    close(product(a, b), a, b)
    if m == 1:
        close(product(a[0], b)[None], a, b)


@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(1, 190, 2100), (2, 77, 5003), (1, 40, 20001), (9, 401, 2003), (13, 1021, 1019), (15, 190, 5003)],
)
def test_few_rows_times_long_lines(rng, m, k, n):
    """Lines go in pieces alike, which threads share."""
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    if m > 4:
        assert "depth = 8" in scheduled(product, a, b)
    before = pk.get_num_threads()
    try:
        pk.set_num_threads(2)
        both = product(a, b)
        pk.set_num_threads(1)
        np.testing.assert_array_equal(product(a, b), both)
    finally:
        pk.set_num_threads(before)
    close(both, a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "k"), [(4, 1), (5, 7), (37, 16), (41, 33), (500, 131), (4, 5000)])
def test_a_matrix_times_a_vector(rng, m, k, dtype):
    a, x = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal(k).astype(dtype)
    if k > 8:
        assert 'form = "dots"' in scheduled(product, a, x)
    close(product(a, x)[:, None], a, x[:, None])


def test_a_matrix_times_a_vector_in_16_bits(rng):
    a, x = (rng.standard_normal(s).astype(np.float16) for s in ((33, 50), (50,)))
    exact = a.astype(np.float64) @ x.astype(np.float64)
    np.testing.assert_allclose(product(a, x).astype(np.float64), exact, rtol=1e-3, atol=1e-3)


def test_batches_and_broadcast(rng):
    a, b = rng.standard_normal((5, 33, 20)), rng.standard_normal((5, 20, 19))
    np.testing.assert_allclose(product(a, b), a @ b, atol=1e-12)
    np.testing.assert_allclose(product(a, b[0]), a @ b[0], atol=1e-12)
    np.testing.assert_allclose(product(a[:1], b), a[:1] @ b, atol=1e-12)


def test_large_batches_are_packed(rng):
    a, b = rng.standard_normal((2, 70, 300)), rng.standard_normal((2, 300, 2000))
    assert 'form = "packed"' in scheduled(product, a, b)
    np.testing.assert_allclose(product(a, b), a @ b, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("m", "n", "k"), [(20, 24, 16), (67, 300, 500)])
def test_16_bits_are_summed_in_f32(rng, m, n, k, dtype):
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    found, exact = product(a, b), a.astype(np.float64) @ b.astype(np.float64)
    assert found.dtype == dtype and scheduled(product, a, b)
    eps = float(ml_dtypes.finfo(dtype).eps)
    limit = eps * np.abs(exact) + k * 2.0**-23 * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)))
    assert np.all(np.abs(found.astype(np.float64) - exact) <= limit)


@pytest.mark.parametrize(("m", "n", "k"), [(9, 11, 5), (67, 130, 800)])
def test_bytes_are_summed_in_i32(rng, m, n, k):
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    assert scheduled(integers, a, b)
    np.testing.assert_array_equal(integers(a, b), a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize(
    ("window", "tiles"), [((3, 3), False), ((5, 2), False), ((5, 4), True), ((1, 7), True)]
)
def test_filters(rng, window, tiles):
    """Windows of few numbers are kept in registers by lanes, others are filtered in tiles."""
    x, w = rng.standard_normal((37, 61)), rng.standard_normal(window)
    assert ('form = "direct"' in scheduled(filtered, x, w)) is tiles
    views = np.lib.stride_tricks.sliding_window_view(x, window)
    np.testing.assert_allclose(filtered(x, w), np.einsum("ijpq,pq->ij", views, w), atol=1e-12)


@pytest.mark.parametrize(("depth", "out"), [(3, 8), (5, 17), (40, 160)])
def test_convolutions_with_channels(rng, depth, out):
    x, w = rng.standard_normal((12, 19, depth)), rng.standard_normal((3, 2, depth, out))
    assert scheduled(channels, x, w)
    views = np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(0, 1))
    np.testing.assert_allclose(channels(x, w), np.einsum("ijcpq,pqco->ijo", views, w), atol=1e-11)


def test_a_line_in_steps_of_two(rng):
    x, w = rng.standard_normal(201), rng.standard_normal(5)
    exact = np.lib.stride_tricks.sliding_window_view(x, 5)[::2] @ w
    np.testing.assert_allclose(strided_line(x, w), exact, atol=1e-13)


@pytest.mark.parametrize("n", [20, 130])
def test_nan_and_infinity_stay_where_they_are(rng, n):
    a, b = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    a[n - 1, 0], b[0, n - 1] = np.nan, np.inf
    found = product(a, b)
    with np.errstate(invalid="ignore"):
        exact = a @ b
    np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(exact))


@pytest.mark.parametrize("n", [61, 150])
def test_threads_change_no_bit(rng, n):
    a, b = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    before = pk.get_num_threads()
    try:
        pk.set_num_threads(1)
        alone = product(a, b)
        pk.set_num_threads(3)
        np.testing.assert_array_equal(product(a, b), alone)
    finally:
        pk.set_num_threads(before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(67, 67, 67), (16, 5, 33), (64, 64, 64), (40, 129, 7), (130, 70, 16), (33, 100, 201), (17, 31, 1)],
)
def test_small_right_factor_along_its_terms(rng, m, n, k, dtype):
    """It is turned once, before the factor is changed behind the product."""
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((n, k)).astype(dtype)
    limit = 4 * (k + 4) * np.finfo(dtype).eps
    exact, most = a.astype(np.float64) @ b.T.astype(np.float64), np.abs(a) @ np.abs(b).T
    assert np.all(np.abs(by_transposed(a, b) - exact) <= limit * most)
    assert np.all(np.abs(by_transposed(np.asfortranarray(a), b) - exact) <= limit * most)
    y, changed = changes_behind(a, b)
    assert np.all(np.abs(y - np.maximum(exact, 0)) <= limit * most)
    np.testing.assert_array_equal(changed, b + 1)


@pk.jit
def by_transposed(a, b):
    return a @ b.T


@pk.jit
def changes_behind(a, b):
    b = b.copy()
    y = a @ b.T
    b[:] = b + 1
    return pk.maximum(y, 0.0), b


@pk.jit
def rows_times(a, x):
    return a.astype(x.dtype) @ x, (a * x).sum(axis=-1), a[0] @ x


@pytest.mark.parametrize("read", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 8, 9])
def test_short_rows_times_a_vector(rng, k, read):
    """Points, colours and small systems: rows of fewer terms than a vector has."""
    dtype = np.float64 if read is np.float64 else np.float32
    for rows in (1, 5, 257):
        a, x = rng.integers(0, 200, (rows, k)).astype(read), rng.standard_normal(k).astype(dtype)
        found, summed, one = rows_times(a, x)
        exact = a.astype(np.float64) @ x.astype(np.float64)
        limit = 20 * np.finfo(dtype).eps * (a.astype(np.float64) @ np.abs(x))
        assert np.all(np.abs(found - exact) <= limit)
        assert np.all(np.abs(summed - exact) <= limit)
        assert abs(one - exact[0]) <= limit[0]


def test_short_rows_of_more_dimensions(rng):
    a, x = rng.integers(0, 200, (7, 13, 3)).astype(np.uint8), rng.standard_normal(3).astype(np.float32)
    np.testing.assert_allclose(
        pk.jit(lambda a, x: a.astype(np.float32) @ x)(a, x), a.astype(np.float32) @ x, rtol=1e-5, atol=1e-4
    )
