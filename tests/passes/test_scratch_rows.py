"""kern-scratch-rows: kernels that keep a row in their result between two passes over it."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.benchmarking import kernels
from pykern.environment.machine import cache_bytes


@pk.kernel(fastmath=True)
def softmax(y, x):
    i = pk.index()
    n = x.shape[1]
    top = x[i, 0]
    for k in range(1, n):
        top = max(top, x[i, k])
    total = 0.0
    for k in range(n):
        e = pk.exp(x[i, k] - top)
        y[i, k] = e
        total += e
    for k in range(n):
        y[i, k] = y[i, k] / total


@pk.kernel
def thrice(y, x):
    """Integers; the row is changed twice, and in one loop read behind the store."""
    i, j = pk.index()
    n = x.shape[2]
    for k in range(n):
        y[i, j, k] = x[i, j, k] + 1
    for k in range(n):
        y[i, j, k] = y[i, j, k] * 2
        y[i, j, k] = y[i, j, k] + k
    for k in range(n):
        y[i, j, k] = y[i, j, k] - j


@pk.kernel
def neighbours(y, x):
    """The second loop needs what the first one left one column further: no pass over the row alone."""
    i = pk.index()
    n = x.shape[1]
    for k in range(n):
        y[i, k] = x[i, k]
    for k in range(n - 1):
        y[i, k] = y[i, k + 1] + y[i, k]


def scratch(kernel, *arguments, ndrange) -> bool:
    stages = kernel.lower(*arguments, ndrange=ndrange).stages
    return "memref.alloca" in next(s.text for s in stages if s.name == "kern-scratch-rows")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 31, 1000, 8192, 8193, 16384, 16385, 50001])
def test_rows_of_any_length(rng, columns, dtype):
    """In the result itself: these arrays fit the cache."""
    x = rng.standard_normal((5, columns)).astype(dtype)
    y = np.full_like(x, np.nan)
    softmax(y, x, ndrange=5)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=2e-5 if dtype == "float32" else 1e-12)
    assert scratch(softmax, y, x, ndrange=5)


@pytest.mark.parametrize("columns", [1003, 16385, 300_001])
def test_arrays_larger_than_the_cache(rng, columns):
    """Rows wait in scratch there, on the stack or from malloc, else in the result."""
    rows = cache_bytes() // (8 * columns) + 1
    if cache_bytes() > 64 << 20:
        pytest.skip("a large cache")
    x = rng.standard_normal((rows, columns), np.float32)
    x[rows // 2, columns // 2], x[0, 3], x[1, -1] = np.nan, np.inf, -np.inf
    y = np.full_like(x, 7.0)
    softmax(y, x, ndrange=rows - 1)
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(1, keepdims=True))
        right = e / e.sum(1, keepdims=True, dtype=np.float64)
    np.testing.assert_allclose(y[:-1], right[:-1], rtol=3e-5, atol=1e-30)
    np.testing.assert_array_equal(y[-1], 7.0)


def test_only_some_rows(rng):
    x = rng.standard_normal((6, 40)).astype(np.float32)
    y = np.full_like(x, 7.0)
    softmax(y, x, ndrange=4)
    np.testing.assert_allclose(y[:4].sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(y[4:], 7.0)


def test_in_place(rng):
    """Result and argument are one array: the version of the kernel that knows nothing of its arrays."""
    x = rng.standard_normal((9, 300)).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    softmax(x, x, ndrange=9)
    np.testing.assert_allclose(x, e / e.sum(1, keepdims=True), rtol=2e-5)


def test_more_dimensions_and_strides(rng):
    x = rng.integers(-100, 100, (3, 4, 77)).astype(np.int32)
    right = (x + 1) * 2 + np.arange(77) - np.arange(4)[:, None]
    wide = np.zeros((3, 4, 80), np.int32)
    for y in (np.zeros_like(x), wide[:, :, 1:78]):
        thrice(y, x, ndrange=(3, 4))
        np.testing.assert_array_equal(y, right)
    assert not wide[:, :, [0, 78, 79]].any()
    assert scratch(thrice, np.zeros_like(x), x, ndrange=(3, 4))


def test_neighbours_stay(rng):
    x = rng.standard_normal((3, 50)).astype(np.float32)
    y = np.zeros_like(x)
    neighbours(y, x, ndrange=3)
    right = x.copy()
    right[:, :-1] += x[:, 1:]
    np.testing.assert_array_equal(y, right)
    assert not scratch(neighbours, y, x, ndrange=3)


@pytest.mark.parametrize("kernel", [kernels.softmax, kernels.layernorm, kernels.residual_layernorm])
def test_rows_are_not_lanes(kernel):
    """A work-item goes along its row in vectors: 32 work-items side by side took 10 to 25 times as long."""
    x, weight = np.ones((64, 100), np.float32), np.ones(100, np.float32)
    more = {
        "softmax": (),
        "layernorm": (weight, weight, 1e-5),
        "residual_layernorm": (x, weight, weight, 1e-5),
    }
    lowered = kernel.lower(np.zeros_like(x), x, *more[kernel.__name__], ndrange=64)
    assert "vector<" not in lowered.as_text("kern-vectorize-items")
    assert "vector<32xf32>" in lowered.as_text("kern-vectorize-reductions")
