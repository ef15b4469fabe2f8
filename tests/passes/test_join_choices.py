"""Choices within choices of what a loop carries, bit by bit as the reference device."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference


@pk.kernel
def nearest_hit(o, x):
    i = pk.index()
    best = x.dtype(9)
    for k in range(x.shape[1]):
        h = x[i, k]
        if h > 0:
            t = h - pk.sqrt(h)
            if t > -0.25 and t < best:
                best = t
    o[i] = best


@pk.kernel
def nearest_place(o, x):
    i = pk.index()
    best, at = x.dtype(9), -1
    for k in range(x.shape[1]):
        h = x[i, k]
        if h != 0 and h * h < best:
            d = h * h
            if h < 3:
                best = d
                at = k
    o[i] = best + at


@pytest.mark.parametrize("kernel", [nearest_hit, nearest_place], ids=lambda k: k.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_choices(kernel, dtype, rng):
    for rows, columns in [(1, 1), (37, 5), (100, 33), (3, 0)]:
        x = rng.integers(-4, 5, (rows, columns)).astype(dtype)
        if columns > 4:
            x[0, :4] = np.nan, np.inf, -0.0, -np.inf
        assert_as_reference(kernel, [np.zeros(rows, dtype)], [x], rows)
