"""Products of narrow numbers: exact sums of bytes and of i16 at their extremes, for every way factors may lie."""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np
import pytest

import pykern as pk
from pykern.environment.machine import host_cpu


@pk.kernel
def summed(c, a, b):
    i, j = pk.index()
    total = pk.i32(0)
    for k in range(a.shape[1]):
        total += pk.i32(a[i, k]) * pk.i32(b[k, j])
    c[i, j] = total


@pk.kernel
def summed_transposed(c, a, b):
    i, j = pk.index()
    total = pk.i32(0)
    for k in range(a.shape[0]):
        total += pk.i32(a[k, i]) * pk.i32(b[j, k])
    c[i, j] = total


@pk.jit
def product(a, b):
    c = pk.zeros((a.shape[0], b.shape[1]), pk.i32)
    summed(c, a, b, ndrange=c.shape)
    return c


@pk.jit
def transposed(a, b):
    c = pk.zeros((a.shape[1], b.shape[0]), pk.i32)
    summed_transposed(c, a, b, ndrange=c.shape)
    return c


def factors(rng, types, m, n, k):
    made = []
    for kind, shape in zip(types, ((m, k), (k, n)), strict=True):
        limits = np.iinfo(kind)
        made.append(rng.integers(limits.min, limits.max, shape, kind, endpoint=True))
    return made


def exact(a, b):
    return (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)


TYPES = [
    (np.int8, np.int8),
    (np.uint8, np.int8),
    (np.int8, np.uint8),
    (np.uint8, np.uint8),
    (np.int16, np.int16),
    (np.int8, np.int16),
    (np.uint16, np.int16),
]


@pytest.mark.parametrize("types", TYPES, ids=str)
@pytest.mark.parametrize(("m", "n", "k"), [(67, 130, 801), (16, 17, 1), (23, 40, 3), (17, 33, 2050)])
def test_sums_wrap_and_never_saturate(rng, types, m, n, k):
    a, b = factors(rng, types, m, n, k)
    np.testing.assert_array_equal(product(a, b), exact(a, b))
    a[:], b[:] = np.iinfo(types[0]).min, np.iinfo(types[1]).min
    a[0], b[:, 0] = np.iinfo(types[0]).max, np.iinfo(types[1]).max
    np.testing.assert_array_equal(product(a, b), exact(a, b))


@pytest.mark.parametrize(("m", "n", "k"), [(37, 41, 43), (19, 67, 1030), (16, 16, 2)])
def test_transposed_factors(rng, m, n, k):
    a, b = factors(rng, (np.int8, np.int8), m, n, k)
    found = transposed(np.ascontiguousarray(a.T), np.ascontiguousarray(b.T))
    np.testing.assert_array_equal(found, exact(a, b))


def test_steps_and_nothing(rng):
    a, b = factors(rng, (np.int8, np.uint8), 60, 70, 90)
    np.testing.assert_array_equal(product(a[::2, ::3], b[::3, 1::2]), exact(a[::2, ::3], b[::3, 1::2]))
    np.testing.assert_array_equal(product(a[:, :0], b[:0]), np.zeros((60, 70), np.int32))
    assert product(a[:0], b).shape == (0, 70)


@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_the_copies_hold_groups(rng, kind):
    a, b = factors(rng, (kind, kind), 64, 64, 100)
    text = next(s.text for s in product.lower(a, b).stages if s.name.startswith("kern-make-nests"))
    quads = kind is np.int8 and host_cpu().registers == 32 and "i16-dot" in host_cpu().features
    if host_cpu().isa in ("avx2", "avx512"):
        assert ("x4xi8>" if quads else "x2xi16>") in text


@pk.jit
def widened(a, b):
    return a.astype(pk.i32) @ b.astype(pk.i32).T


def test_types_widened_before_a_product(rng):
    a, b = factors(rng, (np.int8, np.uint8), 37, 50, 129)
    b = np.ascontiguousarray(b.T)
    np.testing.assert_array_equal(widened(a, b), exact(a, b.T))


def before_a_guard(values):
    """A copy that ends where memory does: who reads beyond it dies."""
    size = -(-values.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    guard, nothing = ctypes.c_void_p(address + size), 0
    assert ctypes.CDLL(None).mprotect(guard, ctypes.c_size_t(mmap.PAGESIZE), nothing) == 0
    made = np.frombuffer(memory, values.dtype, values.size, size - values.nbytes).reshape(values.shape)
    made[...] = values
    return made


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mprotect is called as on Linux")
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32])
def test_nothing_beyond_the_last_row_is_read(rng, dtype):
    a, b = (before_a_guard(rng.integers(-9, 9, shape).astype(dtype)) for shape in ((103, 1031), (1031, 109)))
    expected = a.astype(np.int64) @ b.astype(np.int64)
    if dtype is np.float32:
        np.testing.assert_array_equal(pk.jit(matrix_product)(a, b), expected)
    else:
        np.testing.assert_array_equal(product(a, b), expected)
        right, left = before_a_guard(np.ascontiguousarray(b.T)), before_a_guard(np.ascontiguousarray(a.T))
        np.testing.assert_array_equal(transposed(left, right), expected)


def matrix_product(a, b):
    return a @ b
