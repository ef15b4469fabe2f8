"""Work-items that make no whole vector: every count, the reference device's bits, and nothing written beside arrays."""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np
import pytest

import pykern as pk
from tests.passes.bitwise import assert_as_reference

COUNTS = (1, 3, 4, 5, 15, 16, 17, 20, 31, 32, 33, 35, 47, 63, 100)


def values(*shape: int, dtype: str = "float32") -> np.ndarray:
    drawn = np.random.default_rng(shape[-1])
    if np.dtype(dtype).kind in "iu":
        return drawn.integers(0, 100, shape).astype(dtype)
    x = drawn.standard_normal(shape).astype(dtype)
    x.flat[::7], x.flat[3::11] = -0.0, np.nan
    return x


@pk.kernel
def sums_down(o, x):
    i = pk.index()
    s = o[i]
    for k in range(x.shape[0]):
        s += x[k, i]
    o[i] = s


@pk.kernel
def in_place(o, x):
    """Each launch adds once: no work-item may run twice."""
    i = pk.index()
    for k in range(x.shape[0]):
        o[i] += x[k, i]


@pk.kernel
def backwards(o, x):
    """Stores and loads lane by lane."""
    i = pk.index()
    s = x[0, 0] - x[0, 0]
    for k in range(x.shape[0]):
        s += x[k, i] - x[k, x.shape[1] - 1 - i]
    o[x.shape[1] - 1 - i] = s


@pk.kernel
def looked_up(o, x, places):
    """Indices from memory: those of lanes that are not there may be anything."""
    i = pk.index()
    s = x[0, 0] - x[0, 0]
    at = places[i]
    for k in range(x.shape[0]):
        s += x[k, i] + x[k, at]
    o[at] = s


@pk.kernel
def of_private_memory(o, x):
    i = pk.index()
    kept = pk.private(4, pk.f32)
    for k in range(x.shape[0]):
        kept[k % 4] = x[k, i] + k
    s = pk.f32(0)
    for k in range(4):
        s += kept[k]
    o[i] = s


@pk.kernel
def with_choices(o, x):
    i = pk.index()
    s = x[0, i]
    for k in range(x.shape[0]):
        v = x[k, i]
        s = s + v if v > 0 else s - 1
    o[i] = s if s < 3 else x[0, i]


ONE_EACH = (sums_down, in_place, backwards, of_private_memory, with_choices)


@pytest.mark.parametrize("kernel", ONE_EACH, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("count", COUNTS)
def test_counts(kernel, count):
    x = values(5, count)
    assert_as_reference(kernel, [values(count)], [x], count)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "uint8", "int64"])
@pytest.mark.parametrize("kernel", [sums_down, in_place, backwards], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("count", [3, 31, 77])
def test_types(kernel, dtype, count):
    x = values(5, count, dtype=dtype)
    assert_as_reference(kernel, [values(count, dtype=dtype)], [x], count)


@pytest.mark.parametrize("count", COUNTS)
def test_places_from_memory(count):
    places = np.random.default_rng(count).permutation(count).astype(np.int64)
    assert_as_reference(looked_up, [values(count)], [values(5, count), places], count)


def test_strided_arrays():
    x = np.repeat(values(5, 31), 2, axis=1)[:, ::2]
    for kernel in (sums_down, in_place, backwards):
        assert_as_reference(kernel, [values(31)], [x], 31, step=2)


@pk.kernel
def distances(o, x, c):
    i, j = pk.index()
    s = pk.f32(0)
    for k in range(x.shape[1]):
        s += abs(x[i, k] - c[k, j])
    o[i, j] = s


@pytest.mark.parametrize("columns", [1, 8, 31, 63])
def test_columns_of_rows(columns):
    """The last work-items of a row are followed by the next row."""
    x, c = values(3, 9), values(9, columns)
    assert_as_reference(distances, [values(3, columns)], [x, c], (3, columns))


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages as Linux does")
def test_at_the_end_of_memory():
    """Arrays that end where a page does, with nothing behind them."""
    memory = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 0) == 0
    page = np.frombuffer(memory, np.float32, mmap.PAGESIZE // 4)
    try:
        for count in (5, 31, 63):
            x = page[-count * 3 :].reshape(3, count)
            x[:] = values(3, count)
            o = np.zeros(count, np.float32)
            sums_down(o, x, ndrange=count)
            np.testing.assert_array_equal(o, (x[0] + x[1]) + x[2])
            del x
    finally:
        libc.mprotect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)
