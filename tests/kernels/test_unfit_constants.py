"""Constants that the type of what they meet does not hold: an error where paths join, never another number."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk


@pk.kernel
def largest(o, x):
    i = pk.index()
    best = -1
    for k in range(len(x)):
        if x[k] > 3:
            best = x[k]
    o[i] = best


@pk.kernel
def waiting(o, x):
    i = pk.index()
    t = 300
    while t > 200:
        t = x[i]
    o[i] = t


@pk.kernel
def either(o, x):
    i = pk.index()
    t = x[i]
    if i % 2 == 0:
        t = -1
    o[i] = t


@pk.kernel
def at_the_end(o, x):
    i = pk.index()
    t = x[i]
    for _ in range(len(x)):
        o[i] = t
        t = 256


@pytest.mark.parametrize("kernel", [largest, waiting, either, at_the_end])
def test_refused_where_it_is_read(kernel):
    with pytest.raises(pk.KernelTypeError, match="common type does not hold both") as error:
        kernel(np.zeros(3, np.int64), np.arange(3, dtype=np.uint8), ndrange=3)
    assert error.value.code == "PK021"
    assert "pk.i32(" in str(error.value)


@pk.kernel
def temporary(o, x):
    """The constant is read before the loop, and never again."""
    i = pk.index()
    t = -1
    total = pk.i32(t)
    for k in range(len(x)):
        t = x[k]
        total += pk.i32(t)
    o[i] = total


@pk.kernel
def fits(o, x):
    i = pk.index()
    best = 0
    for k in range(len(x)):
        if x[k] > best:
            best = x[k]
    o[i] = best


@pk.kernel
def wide(o, x):
    i = pk.index()
    best = pk.i32(-1)
    for k in range(len(x)):
        if x[k] > 3:
            best = pk.i32(x[k])
    o[i] = best


@pytest.mark.parametrize("kernel", [temporary, fits, wide])
@pytest.mark.parametrize("length", [0, 1, 7])
def test_the_others_give_what_python_does(kernel, length):
    x = np.random.default_rng(3).integers(0, 255, length, dtype=np.uint8)
    found, expected = np.zeros(2, np.int64), np.zeros(2, np.int64)
    kernel(found, x, ndrange=2)
    kernel(expected, x, ndrange=2, device="python")
    np.testing.assert_array_equal(found, expected)
    best = {
        temporary: int(x.sum(dtype=np.int64)) - 1,
        fits: max(x, default=0),
        wide: x[x > 3][-1:].sum(dtype=int),
    }
    if kernel is not wide or (x > 3).any():
        np.testing.assert_array_equal(found, best[kernel])
    else:
        np.testing.assert_array_equal(found, -1)
