"""gcd and isqrt, by the names of pykern, math and NumPy, on every integer type."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pykern as pk

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pk.kernel
def divisors(out, x, y):
    i = pk.index()
    out[i] = pk.gcd(x[i], y[i])


@pk.kernel
def weak_divisors(out, n):
    i = pk.index()
    out[0, i] = math.gcd(i, n)
    out[1, i] = math.gcd(12, 18)
    out[2, i] = pk.gcd(-i, 6 * i, 4)
    out[3, i] = np.gcd(i, 9)


@pk.kernel
def roots(out, x):
    i = pk.index()
    out[i] = pk.isqrt(x[i])


@pk.kernel
def weak_roots(out):
    i = pk.index()
    out[i] = math.isqrt(i * i + 7)


def samples(dtype: type, rng: np.random.Generator) -> np.ndarray:
    info = np.iinfo(dtype)
    edges = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 6, 100], dtype)
    return np.concatenate([edges, rng.integers(info.min, info.max, 40, dtype=dtype, endpoint=True)])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_gcd(dtype, device, rng):
    x, y = samples(dtype, rng), rng.permutation(samples(dtype, rng))
    out = np.zeros_like(x)
    divisors(out, x, y, ndrange=x.size, device=device)
    np.testing.assert_array_equal(out, np.gcd(x, y))


@pytest.mark.parametrize(("a", "b"), [(np.int8, np.int16), (np.uint8, np.int8), (np.uint32, np.int16)])
def test_gcd_in_the_common_type(a, b, device, rng):
    x, y = samples(a, rng), rng.permutation(samples(b, rng))
    out = np.zeros(x.size, np.int64)
    divisors(out, x, y, ndrange=x.size, device=device)
    np.testing.assert_array_equal(out, np.gcd(x, y))


def test_gcd_of_python_integers(device):
    out = np.zeros((4, 20), np.int64)
    weak_divisors(out, 36, ndrange=20, device=device)
    wanted = [[math.gcd(i, 36), 6, math.gcd(-i, 6 * i, 4), math.gcd(i, 9)] for i in range(20)]
    assert out.T.tolist() == wanted


@pytest.mark.parametrize("dtype", INTEGERS)
def test_isqrt(dtype, device, rng):
    most = math.isqrt(int(np.iinfo(dtype).max))
    squares = [r * r + d for r in (1, 2, 3, most - 1, most) for d in (-1, 0, 1)]
    x = np.concatenate([samples(dtype, rng), np.array(squares, object).astype(dtype)])
    out = np.zeros_like(x)
    roots(out, x, ndrange=x.size, device=device)
    assert out.tolist() == [math.isqrt(max(int(v), 0)) for v in x]


def test_isqrt_of_python_integers(device):
    out = np.zeros(50, np.int64)
    weak_roots(out, ndrange=50, device=device)
    assert out.tolist() == [math.isqrt(i * i + 7) for i in range(50)]


@pytest.mark.parametrize(("kernel", "function"), [(divisors, "gcd"), (roots, "isqrt")])
def test_floats_are_refused(kernel, function):
    args = [np.zeros(3) for _ in range(3 if kernel is divisors else 2)]
    with pytest.raises(pk.KernelTypeError, match=f"`{function}` takes integers, not f64"):
        kernel(*args, ndrange=3)
