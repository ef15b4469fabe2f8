"""Extremes of extremes, whose NaN is looked for once: bit by bit as the reference device has them, NaN anywhere."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def median_of_five(o, x):
    i = pk.index()
    a, b, c, d, e = x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4]
    a, b = min(a, b), max(a, b)
    c, d = min(c, d), max(c, d)
    a, c = min(a, c), max(a, c)
    b, d = min(b, d), max(b, d)
    b, c = min(b, c), max(b, c)
    o[i] = max(min(max(b, e), c), min(b, c))


@pk.kernel
def limits(o, x):
    """The least, the greatest, and the greatest of fewer numbers, which may be a number where that is none."""
    i = pk.index()
    o[i, 0] = min(x[i], x[i + 1], x[i + 2], x[i + 3])
    o[i, 1] = max(x[i], x[i + 1], x[i + 2], x[i + 3])
    o[i, 2] = max(x[i], x[i + 1])


@pk.kernel
def steps(o, x):
    """What is carried from step to step, beside numbers of each."""
    i = pk.index()
    so_far = x[i]
    for k in range(1, 5):
        so_far = max(min(so_far + x[i + k], x[i]), min(x[i + k], x[i + k - 1]))
    o[i] = so_far


@pk.jit
def opened(x):
    low = np.minimum(np.minimum(x[:-2], x[1:-1]), x[2:])
    return np.maximum(np.maximum(low[:-2], low[1:-1]), low[2:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [median_of_five, limits, steps])
def test_as_the_reference(rng, kernel, dtype):
    for n in (1, 17, 70):
        x = rng.choice([1.0, -2.5, np.nan, np.inf, -np.inf, *range(30)], n + 4).astype(dtype)
        out = np.zeros((n, 3) if kernel is limits else n, dtype)
        assert_as_reference(kernel, [out], [x], n)


def test_programs(rng):
    x = np.where(rng.random((40, 33)) < 0.1, np.nan, rng.standard_normal((40, 33))).astype(np.float32)
    np.testing.assert_array_equal(opened(x), opened.__wrapped__(x))
