"""kern-raise-to-linalg: raised kernels compute what their direct launch does, and NumPy."""
# ruff: noqa: N803 (matrices keep their names)

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.cases.raised import check, raised_text

SIZES = (1, 7, 33)
rng = np.random.default_rng(3)


def real(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


def whole(*shape: int, low: int = -9, high: int = 9, dtype: Any = np.int32) -> np.ndarray:
    return rng.integers(low, high, shape).astype(dtype)


def has_no_loop(text: str) -> bool:
    return "scf.for" not in text and "kern." not in text.replace("kern.name", "").replace("kern.raised", "")


# -- elementwise ------------------------------------------------------------------------------------


@pk.kernel
def saxpy(y, x, a):
    i = pk.index()
    y[i] = a * x[i] + y[i]


@pytest.mark.parametrize("n", [0, *SIZES])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8])
def test_in_place(n, dtype):
    a = 3 if np.dtype(dtype).kind in "iu" else 2.5
    y, x = whole(n).astype(dtype), whole(n).astype(dtype)
    assert has_no_loop(check(saxpy, (y, x, a), n, ((a * x + y).astype(dtype), None, None)))


@pk.kernel
def scalar_math(y, x, k):
    i = pk.index()
    v = x[i]
    y[i, 0] = pk.sqrt(abs(v)) + pk.sin(v) * pk.exp(-v * v) if v > 0.25 else v**2 - pk.cos(v)
    y[i, 1] = pk.f32(v) * pk.f32(i) + k[i] // 3 + k[i] % 5
    y[i, 2] = pk.floor(v) + pk.tanh(v) + pk.log1p(abs(v)) + pk.atan2(v, 2.0) + (1.0 if pk.isnan(v) else 0.0)
    y[i, 3] = (k[i] & 6) | (k[i] << 2) ^ ~k[i]
    y[i, 4] = pk.fma(v, v, 1.0)


@pytest.mark.parametrize("n", SIZES)
def test_math_casts_and_index_as_data(n):
    x, k = real(n), whole(n)
    assert has_no_loop(check(scalar_math, (real(n, 5), x, k), n))


@pk.kernel
def clamp_select(y, x, low, high):
    i, j = pk.index()
    y[i, j] = min(max(x[i, j], low), high) if (i + j) % 3 != 0 else pk.where(x[i, j] > 0, x[i, j], -1.0)


@pytest.mark.parametrize("n", SIZES)
def test_clamp(n):
    assert has_no_loop(check(clamp_select, (real(n, n + 1), real(n, n + 1), -0.5, 0.5), (n, n + 1)))


@pk.kernel
def broadcast(y, x, b, w):
    i, j, k = pk.index()
    y[i, j, k] = x[i, j, k] * w[k] + b[j, k]


def test_broadcast():
    x, b, w = real(3, 5, 7), real(5, 7), real(7)
    check(broadcast, (real(3, 5, 7), x, b, w), (3, 5, 7), (x * w + b, None, None, None))


@pk.kernel
def transpose(y, x):
    i, j = pk.index()
    y[j, i] = x[i, j]


@pytest.mark.parametrize("n", SIZES)
def test_transpose(n):
    x = real(n, n + 2)
    assert has_no_loop(check(transpose, (real(n + 2, n), x), (n, n + 2), (x.T, None)))


@pk.kernel
def half(y, x):
    i = pk.index()
    y[i] = x[i] * x[i]


@pytest.mark.parametrize("dtype", [np.float16])
def test_small_floats(dtype):
    x = whole(9).astype(dtype)
    check(half, (np.zeros(9, dtype), x), 9, (x * x, None))


# -- slices, strides, guards ------------------------------------------------------------------------


@pk.kernel
def offsets(y, x):
    i = pk.index()
    y[2 * i + 1] = x[i + 2] - x[3 * i]


@pytest.mark.parametrize("n", SIZES)
def test_offsets_and_strides(n):
    x, y = real(3 * n + 2), real(2 * n + 3)
    expected = y.copy()
    expected[1 : 2 * n + 1 : 2] = x[2 : n + 2] - x[: 3 * n : 3]
    assert has_no_loop(check(offsets, (y, x), n, (expected, None)))


@pk.kernel
def reverse(y, x, n):
    i = pk.index()
    y[n - 1 - i] = x[i] * i


@pytest.mark.parametrize("n", SIZES)
def test_backwards(n):
    x = real(n)
    assert has_no_loop(check(reverse, (real(n), x, n), n, ((x * np.arange(n))[::-1], None, None)))


@pk.kernel
def heat(T2, T, c, dt, dx, dy):
    i, j = pk.index()
    if 0 < i < T.shape[0] - 1 and 0 < j < T.shape[1] - 1:
        T2[i, j] = T[i, j] + dt * c[i, j] * (
            (T[i + 1, j] - 2 * T[i, j] + T[i - 1, j]) / dx**2
            + (T[i, j + 1] - 2 * T[i, j] + T[i, j - 1]) / dy**2
        )


HEAT_RANGES = [
    lambda n, m: (n, m),
    lambda n, m: (n + 3, m),
    lambda n, m: (range(1, n), range(m - 1, -1, -2)),
    lambda n, m: (range(0, n, 3), range(2, m)),
]


@pytest.mark.parametrize("ranges", HEAT_RANGES)
@pytest.mark.parametrize("n", SIZES)
def test_guarded_stencil(n, ranges):
    m = n + 4
    args = (real(n, m), real(n, m), real(n, m), 0.1, 0.2, 0.3)
    text = check(heat, args, ranges(n, m))
    assert has_no_loop(text)
    assert "arith.select" not in text.split("linalg.generic")[1]  # the guard is the slice


@pk.kernel
def early(y, x, n):
    i = pk.index()
    if i >= n:
        return
    if x[i] < 0:
        y[i] = 0.0
        return
    y[i] = x[i] + x[i + 1]


def test_early_return():
    x, y = real(34), real(33)
    expected = y.copy()
    expected[:20] = np.where(x[:20] < 0, 0, x[:20] + x[1:21])
    check(early, (y, x, 20), 33, (expected, None, None))


@pk.kernel
def uniform_branch(y, x, s):
    i = pk.index()
    if s > 1.0:
        y[i] = x[i]
    else:
        y[i] -= x[i]


@pytest.mark.parametrize("s", [0.0, 2.0])
def test_uniform_branch(s):
    x, y = real(9), real(9)
    check(uniform_branch, (y, x, s), 9, (x if s > 1 else y - x, None, None))


# -- loops that collect -----------------------------------------------------------------------------


@pk.kernel
def several(out, x):
    i = pk.index()
    total, product, least, most = 0.0, 1.0, math.inf, -math.inf
    for j in range(x.shape[1]):
        total += x[i, j]
        product *= x[i, j]
        least = min(least, x[i, j])
        if x[i, j] < 2.0:
            most = max(most, x[i, j])
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = total, product, least, most


@pytest.mark.parametrize("n", SIZES)
def test_reductions(n):
    x = real(n, n + 2)
    expected = np.stack([x.sum(1), x.prod(1), x.min(1), np.where(x < 2, x, -np.inf).max(1)], 1)
    assert has_no_loop(check(several, (real(n, 4), x), n, (expected, None)))


@pk.kernel
def bits(out, x):
    i = pk.index()
    a, o, e, s = -1, 0, 0, 0
    for j in range(x.shape[1]):
        a &= x[i, j]
        o |= x[i, j]
        e ^= x[i, j]
        s -= x[i, j]
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a, o, e, s


def test_integer_reductions():
    x = whole(9, 5)
    reduce = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    expected = np.stack([*(f.reduce(x, 1) for f in reduce), -x.sum(1)], 1).astype(np.int32)
    assert has_no_loop(check(bits, (whole(9, 4), x), 9, (expected, None)))


@pk.kernel
def trips(out, x, n, st):
    i = pk.index()
    s = 0
    for k in range(n, 0, -1):
        s += x[k - 1] * k
    for k in range(1, n, st):
        s -= x[k]
    for k in range(1, n, 3):
        s += x[k] * 2
    out[i] = s // (x[i] % 7 + 1)


@pytest.mark.parametrize("n", [1, 8])
@pytest.mark.parametrize("step", [2, -1])
def test_trip_counts(n, step):
    assert has_no_loop(check(trips, (whole(n), whole(n), n, step), n))


@pk.kernel
def softmax(y, x):
    i = pk.index()
    m = -math.inf
    for j in range(x.shape[1]):
        m = max(m, x[i, j])
    s = 0.0
    for j in range(x.shape[1]):
        e = pk.exp(x[i, j] - m)
        y[i, j] = e
        s += e
    for j in range(x.shape[1]):
        y[i, j] /= s


@pytest.mark.parametrize("n", SIZES)
def test_softmax(n):
    x = real(n, n + 2)
    e = np.exp(x - x.max(1, keepdims=True))
    assert has_no_loop(check(softmax, (real(n, n + 2), x), n, (e / e.sum(1, keepdims=True), None)))


@pk.kernel
def softmax_in_place(x):
    i = pk.index()
    m = -math.inf
    for j in range(x.shape[1]):
        m = max(m, x[i, j])
    s = 0.0
    for j in range(x.shape[1]):
        x[i, j] = pk.exp(x[i, j] - m)
        s += x[i, j]
    for j in range(x.shape[1]):
        x[i, j] /= s


def test_softmax_in_place():
    x = real(5, 9)
    e = np.exp(x - x.max(1, keepdims=True))
    check(softmax_in_place, (x,), 5, (e / e.sum(1, keepdims=True),))


@pk.kernel
def layernorm(y, x, g, b, eps):
    i = pk.index()
    n = x.shape[1]
    s = 0.0
    for j in range(n):
        s += x[i, j]
    mean = s / n
    v = 0.0
    for j in range(n):
        d = x[i, j] - mean
        v += d * d
    inv = 1 / pk.sqrt(v / n + eps)
    for j in range(n):
        y[i, j] = (x[i, j] - mean) * inv * g[j] + b[j]


@pytest.mark.parametrize("n", SIZES)
def test_layernorm(n):
    x, g, b = real(n, n + 1), real(n + 1), real(n + 1)
    mean = x.mean(1, keepdims=True)
    expected = (x - mean) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b
    assert has_no_loop(check(layernorm, (real(n, n + 1), x, g, b, 1e-5), n, (expected, *[None] * 4)))


# -- contractions -----------------------------------------------------------------------------------


@pk.kernel
def matmul(C, A, B):
    i, j = pk.index()
    acc = 0.0
    for k in range(A.shape[1]):
        acc += A[i, k] * B[k, j]
    C[i, j] = acc


@pk.kernel
def matmul_in_memory(C, A, B):
    i, j = pk.index()
    C[i, j] = 0.0
    for k in range(A.shape[1]):
        C[i, j] += A[i, k] * B[k, j]


@pytest.mark.parametrize("kernel", [matmul, matmul_in_memory])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matmul(kernel, n, dtype):
    a, b = whole(n, 5).astype(dtype), whole(5, n + 1).astype(dtype)
    text = check(kernel, (whole(n, n + 1).astype(dtype), a, b), (n, n + 1), (a @ b, None, None))
    assert has_no_loop(text)
    assert text.count("linalg.matmul") == 1


@pk.kernel
def rows_of_products(C, A, B):
    i = pk.index()
    for k in range(A.shape[1]):
        for j in range(B.shape[1]):
            C[i, j] += A[i, k] * B[k, j]


def test_matmul_with_the_rows_loop_outside():
    c, a, b = real(5, 7), real(5, 3), real(3, 7)
    text = check(rows_of_products, (c, a, b), 5, (c + a @ b, None, None))
    assert "linalg.matmul" in text


@pk.kernel
def matvec(y, A, x):
    i = pk.index()
    s = 0.0
    for k in range(len(x)):
        s += A[i, k] * x[k]
    y[i] = s


def test_matvec():
    a, x = real(7, 5), real(5)
    assert "linalg.matvec" in check(matvec, (real(7), a, x), 7, (a @ x, None, None))


@pk.kernel
def conv1d(y, x, w):
    i = pk.index()
    s = 0.0
    for k in range(len(w)):
        s += x[i + k] * w[k]
    y[i] = s


@pk.kernel
def conv2d(y, x, w):
    i, j = pk.index()
    s = 0.0
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            s += x[i + a, j + b] * w[a, b]
    y[i, j] = s


@pytest.mark.parametrize("n", SIZES)
def test_convolutions(n):
    x, w = real(n + 4), real(5)
    assert "linalg.conv_1d" in check(conv1d, (real(n), x, w), n, (np.correlate(x, w, "valid"), None, None))
    x, w = real(n + 2, n + 3), real(3, 4)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 4))
    expected = np.einsum("ijab,ab->ij", windows, w)
    assert "linalg.conv_2d" in check(conv2d, (real(n, n), x, w), (n, n), (expected, None, None))


@pk.kernel
def conv_padded(y, x, w):
    i = pk.index()
    s = 0.0
    for k in range(-2, 3):
        if 0 <= i + k < len(x):
            s += x[i + k] * w[k + 2]
    y[i] = s


@pytest.mark.parametrize("n", SIZES)
def test_convolution_over_the_edge(n):
    x, w = real(n), real(5)
    expected = np.correlate(np.pad(x, 2), w, "valid")
    assert has_no_loop(check(conv_padded, (real(n), x, w), n, (expected, None, None)))


def test_launch_comes_after_the_arguments():
    text = raised_text(matmul, (real(2, 2), real(2, 2), real(2, 2)), (2, 2))
    assert "%arg4: index) attributes {kern.raised}" in text
