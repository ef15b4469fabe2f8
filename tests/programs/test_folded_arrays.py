"""Programs parts of which are known when they are compiled: constants, empty arrays, what cancels itself."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

over_devices = pytest.mark.parametrize("device", ["cpu", "python", "opencl:0", "vulkan:0"], indirect=True)


def cancelled(x, index):
    t = x - x
    return t[index % x.shape[0]]


def times_zero(x, index):
    t = x * 0
    return t[index % x.shape[0]] + x[index % x.shape[0]]


def ones(x, index):
    t = np.ones_like(x)
    return t[index % x.shape[0]] * 3


def constant_rows(x, index):
    t = np.zeros((3, 4), x.dtype) + 2
    return t[index % 3, index % 4]


def sum_of_constants(x, index):
    return (x * 0 + 2).sum() + (x - x).max()


def chosen(x, index):
    t = np.where(x == x, x * 0 + 5, x)
    return t[index % x.shape[0]] - t


def two_gathers(x, index):
    t = x ^ x
    u = t[index % x.shape[0]] + 1
    return u[index % u.shape[0]] + t


INTEGERS, FLOATS = (np.int64, np.int32, np.uint8), (np.float64, np.float32)
CASES = [
    (program, dtype)
    for program in (cancelled, times_zero, ones, constant_rows, sum_of_constants, chosen, two_gathers)
    for dtype in (*INTEGERS, *(FLOATS if program is not two_gathers else ()))  # floats have no exclusive or
]


@over_devices
@pytest.mark.parametrize(("program", "dtype"), CASES, ids=[f"{p.__name__}-{d.__name__}" for p, d in CASES])
def test_what_is_known_is_right(device, program, dtype, rng):
    x, index = rng.integers(1, 50, 6).astype(dtype), rng.integers(0, 100, 6)

    run = pk.jit(program)
    expected = program(x, index)
    if device == "python":
        with pk.device("python"):
            got = run(x, index)
    else:
        got = run(*(pk.asarray(a, device=device) for a in (x, index)))
        got = got.numpy() if isinstance(got, pk.Array) else got
    np.testing.assert_array_equal(np.asarray(got), expected)
