"""Zeros that a compiler knows beside numbers that it does not: infinities, NaN and signs of zeros are NumPy's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk

NUMBERS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0, 3.0]
DTYPES = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16]


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal, NaN like NaN, and zeros by their signs."""
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    np.testing.assert_array_equal(found, wanted)
    number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(wanted[number]))


@pk.kernel
def written(o, x):
    i = pk.index()
    o[0, i] = x[i] * 0.0
    o[1, i] = x[i] * -0.0
    o[2, i] = 0.0 / x[i]
    o[3, i] = x[i] / 0.0
    o[4, i] = x[i] / -0.0
    o[5, i] = 0.0 - x[i]
    o[6, i] = x[i] + 0.0
    o[7, i] = x[i] - 0.0
    o[8, i] = -0.0 + x[i]
    o[9, i] = x[i] * 0 * 0 + x[i]
    o[10, i] = x[i] - x[i]
    o[11, i] = x[i] / x[i]


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_that_are_written(dtype, device):
    x, nil = np.array(NUMBERS, dtype), dtype(0)
    with np.errstate(all="ignore"):
        wanted = np.stack([x * nil, x * -nil, nil / x, x / nil, x / -nil, nil - x, x + nil, x - nil, x + -nil,
                           x * nil * nil + x, x - x, x / x])  # fmt: skip
    found = np.zeros_like(wanted)
    written(found, x, ndrange=len(x), device=device)
    same(found, wanted)


@pk.kernel
def derived(o, x, stored, n):
    i, k = pk.index(), pk.local_index()
    counted = x[i]
    for j in range(3):
        counted += x[i] * j
    o[0, i] = counted
    stored[i] = 0.0
    o[1, i] = stored[i] * x[i]
    shared = pk.shared(8, x.dtype)
    shared[k] = 0.0
    o[2, i] = x[i] / shared[k]
    own = pk.private(4, x.dtype)
    for j in range(4):
        own[j] = j
    o[3, i] = own[0] * x[i]
    factor, total = 0.0, x[i]
    for _ in range(2):
        total += factor * x[i]
        factor = 1.0
    o[4, i] = total
    o[5, i] = (0.0 if n < 1000 else 1.0) * x[i]
    o[6, i] = pk.fma(x[i], 0.0, 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_zeros_that_are_derived(dtype, device):
    """From short loops, memory that was written, branches."""
    x, nil, one = np.array(NUMBERS, dtype), dtype(0), dtype(1)
    with np.errstate(all="ignore"):
        zero = x * nil
        wanted = np.stack([x + zero + x + x * dtype(2), zero, x / nil, zero, x + zero + x, zero, zero + one])
    found = np.zeros_like(wanted)
    derived(found, x, np.ones_like(x), 3, ndrange=len(x), workgroup=8, device=device)
    same(found, wanted)


@pk.jit
def program(x, y):
    gate = pk.where(x > 0, x, 0.0)
    return (
        x * 0,
        0 * x + y,
        x / 0,
        0 / x,
        gate * y,
        (x * 0.0).sum(),
        pk.zeros_like(x) @ y,
        x * pk.zeros_like(x),
    )


@pk.jit
def gated(x, y):
    return (pk.where(x > 0, x, 0.0) * y).sum()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_programs(dtype, device, rng):
    x = np.array(NUMBERS + [1.0], dtype).reshape(3, 3)
    y, nil = rng.permutation(x.reshape(-1)).reshape(3, 3), dtype(0)
    with np.errstate(all="ignore"):
        gate = np.where(x > 0, x, nil)
        wanted = (
            x * nil,
            nil * x + y,
            x / nil,
            nil / x,
            gate * y,
            (x * nil).sum(),
            np.zeros_like(x) @ y,
            x * nil,
        )
    for n, (a, b) in enumerate(zip(program(x, y, device=device), wanted, strict=True)):
        (np.testing.assert_array_equal if n == 6 else same)(np.asarray(a), np.asarray(b))
    if device != "python":  # which has no derivatives
        _, dy = pk.grad(gated, argnums=(0, 1))(x, y, device=device)
        np.testing.assert_array_equal(np.asarray(dy), gate)
