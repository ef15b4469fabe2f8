"""f16 and bf16: every conversion, and arithmetic that rounds after each operation."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk

SOURCES = [
    np.bool_,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.float16,
    np.float32,
    np.float64,
]
SMALL = [np.float16, ml_dtypes.bfloat16]


@pk.kernel
def copy(y, x):
    i = pk.index()
    y[i] = x[i]


@pk.kernel
def arithmetic(out, x, y):
    i = pk.index()
    out[0, i] = x[i] + y[i]
    out[1, i] = x[i] * y[i]
    out[2, i] = x[i] - y[i]
    out[3, i] = x[i] / y[i]
    out[4, i] = -x[i]
    out[5, i] = max(x[i], y[i])
    out[6, i] = pk.sqrt(abs(x[i]))


@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize("other", [*SOURCES, ml_dtypes.bfloat16])
def test_conversions_both_ways(small: type, other: type, device: str) -> None:
    values = np.array([0, 1, 2, 3, 5, 77, 100, 1, 0, 9])
    x = values.astype(other)
    y = np.zeros(x.size, small)
    copy(y, x, ndrange=x.size, device=device)
    np.testing.assert_array_equal(y, x.astype(np.float32).astype(small))
    back = np.zeros(x.size, other)
    copy(back, y, ndrange=x.size, device=device)
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("small", SMALL)
def test_arithmetic_rounds_each_time(small: type) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.uniform(-100, 100, 500).astype(small) for _ in range(2))
    x[:4] = [np.inf, -np.inf, np.nan, 0]
    out = np.zeros((7, x.size), small)
    arithmetic(out, x, y, ndrange=x.size)
    wide_x, wide_y = x.astype(np.float32), y.astype(np.float32)
    with np.errstate(all="ignore"):
        exact = [wide_x + wide_y, wide_x * wide_y, wide_x - wide_y, wide_x / wide_y, -wide_x,
                 np.maximum(wide_x, wide_y), np.sqrt(np.abs(wide_x))]  # fmt: skip
        for row, expected in zip(out, exact, strict=True):
            np.testing.assert_array_equal(row.astype(np.float32), expected.astype(small).astype(np.float32))


def test_f64_to_f16_rounds_once() -> None:
    rng = np.random.default_rng(5)
    halves = rng.integers(0, 0x7BFF, 2000).astype(np.uint16).view(np.float16).astype(np.float64)
    following = np.nextafter(halves.astype(np.float16), np.float16(np.inf)).astype(np.float64)
    middle = (halves + following) / 2
    x = np.concatenate(
        [
            middle,
            np.nextafter(middle, 0),
            np.nextafter(middle, np.inf),
            -middle,
            [np.inf, np.nan, 1e300, 65520.0],
        ]
    )
    y = np.zeros(x.size, np.float16)
    copy(y, x, ndrange=x.size)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(y, x.astype(np.float16))


@pk.kernel
def fused(y, a, b, c):
    i = pk.index()
    y[i] = pk.fma(a[i], b[i], c[i])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_fma(dtype):
    random = np.random.default_rng(5)
    a, b, c = (random.standard_normal(333).astype(dtype) for _ in range(3))
    c[::3] = -(a * b)[::3]  # what is left is the rounding of the product
    here, there = np.zeros(333, dtype), np.zeros(333, dtype)
    fused(here, a, b, c, ndrange=333)
    fused(there, a, b, c, ndrange=333, device="python")
    np.testing.assert_array_equal(here, there)
