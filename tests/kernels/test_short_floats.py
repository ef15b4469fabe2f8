"""bf16 and f16 that are chosen, carried around loops and kept in registers, against the reference device."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk


@pk.kernel
def largest(out, x, y, limit):
    i = pk.index()
    top = x[i, 0]
    for k in range(x.shape[1]):
        if x[i, k] > top:
            top = x[i, k]
    out[i] = top if top < limit else limit


@pk.kernel
def swapped(out, x, y, limit):
    """Two values change places in some iterations."""
    i = pk.index()
    a, b = x[i, 0], limit
    for k in range(x.shape[1]):
        if y[k] < 0:
            continue
        a, b = b, a
        if y[k] > 3:
            break
        if x[i, k] < 1:
            a = x[i, k]
    out[i] = a - b


@pk.kernel
def middle(out, x, y, limit):
    """By swaps in memory of its own."""
    i = pk.index()
    w = pk.private(5, out.dtype)
    for k in range(5):
        w[k] = x[i, k]
    for a in range(4):
        for b in range(4 - a):
            if w[b] > w[b + 1]:
                w[b], w[b + 1] = w[b + 1], w[b]
    out[i] = w[2]


@pk.kernel
def wide(out, x, y, limit):
    """Through f64, which is two steps up."""
    i = pk.index()
    t = pk.maximum(1 * x[i, 0], y[0])
    while t > limit:
        t = t - abs(y[i]) - 1
    out[i] = t if bool(x[i, 1] // 7) else pk.minimum(x[i, 1] + 1, y[1])


@pytest.mark.parametrize("kernel", [largest, swapped, middle, wide], ids=lambda k: k.__name__)
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("step", [1, 2])
def test_moved_values(rng, kernel, dtype, step):
    x = np.round(rng.standard_normal((33, 9 * step)) * 4).astype(dtype)[:, ::step]
    y = np.round(rng.standard_normal(33) * 4)
    results = []
    for device in ("cpu", "python"):
        out = np.zeros(33, dtype)
        kernel(out, x, y, dtype(3), ndrange=33, device=device)
        results.append(out.astype(np.float64))
    np.testing.assert_array_equal(*results)
