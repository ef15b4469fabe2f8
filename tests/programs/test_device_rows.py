"""Programs that stay within rows, on devices: one kernel, a group a row, against NumPy at lengths that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from tests.cases.row_programs import (
    PROGRAMS,
    launches,
    layer_norm,
    leaves,
    log_softmax,
    rms_norm,
    several,
    softmax,
)

over_devices = pytest.mark.parametrize(
    "device",
    ["opencl:0", "vulkan:0", "cuda:emulated:80", "rocm:emulated:gfx942", "metal:emulated:0"],
    indirect=True,
)
SHAPES = [
    (5, 1),
    (1, 1),
    (7, 3),
    (6, 15),
    (3, 16),
    (40, 33),
    (2, 3, 300),
    (1, 257),
    (3, 2048),
    (2, 2049),
    (3, 5000),
]


def arguments(function, shape, rng, dtype):
    count = function.__code__.co_argcount
    return [rng.normal(size=shape if n == 0 else shape[-1:]).astype(dtype) for n in range(count)]


CASES = [(f, s) for f in (softmax, several) for s in SHAPES]
CASES += [(f, s) for f in (layer_norm, rms_norm, log_softmax) for s in ((7, 3), (2, 3, 300), (2, 2049))]


@over_devices
@pytest.mark.parametrize(("function", "shape"), CASES, ids=lambda v: str(getattr(v, "__name__", v)))
def test_rows(device, function, shape, rng):
    given = arguments(function, shape, rng, np.float32)
    found = leaves(pk.jit(function)(*(pk.array(a, device=device) for a in given)))
    wanted = leaves(function(*(a.astype(np.float64) for a in given)))
    atol = max(3e-5, 3e-8 * shape[-1])  # of sums: they may be near zero while their terms are not
    for have, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(have.numpy(), want, rtol=3e-5, atol=atol)


@pytest.mark.parametrize("shape", [(40, 33), (2, 3, 300), (3, 5000)], ids=str)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_one_kernel_does_it(function, shape):
    count = function.__code__.co_argcount
    specs = [pk.spec(shape if n == 0 else shape[-1:], pk.f32) for n in range(count)]
    assert launches(pk.jit(function), *specs) == 1


def integers(x):
    most = np.max(x, axis=-1, keepdims=True)
    return x - most, np.sum(x, axis=-1), np.min(x, axis=-1), np.any(x > 90, axis=-1), x == most


@over_devices
@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint8])
def test_integers_and_bools(device, dtype, rng):
    x = rng.integers(0, 99, (4, 300)).astype(dtype)
    for have, want in zip(pk.jit(integers)(pk.array(x, device=device)), integers(x), strict=True):
        np.testing.assert_array_equal(have.numpy(), want)


@over_devices
@pytest.mark.parametrize(("dtype", "error"), [(np.float16, 4e-3), (np.float64, 1e-13)])
def test_wide_and_narrow_floats(device, dtype, error, rng):
    x = rng.normal(size=(4, 300)).astype(dtype)
    found = pk.jit(softmax)(pk.array(x, device=device)).numpy()
    np.testing.assert_allclose(found, softmax(x.astype(np.float64)), rtol=error, atol=error)


@over_devices
def test_values_that_are_no_numbers(device):
    x = np.array([[1, np.nan, 3], [np.inf, 1, 2], [-np.inf] * 3], np.float32).repeat(20, axis=1)
    with np.errstate(all="ignore"):
        wanted = softmax(x)
    np.testing.assert_allclose(pk.jit(softmax)(pk.array(x, device=device)).numpy(), wanted, rtol=1e-5)


@over_devices
def test_no_rows_and_rows_of_nothing(device):
    for shape in ((0, 5), (0, 300)):
        assert pk.jit(softmax)(pk.zeros(shape, pk.f32, device=device)).numpy().shape == shape
    sums = pk.jit(sums_and_one)(pk.zeros((4, 0), pk.f32, device=device))
    np.testing.assert_array_equal(sums.numpy(), np.ones(4, np.float32))


def sums_and_one(x):
    return np.sum(x, axis=-1) + 1
