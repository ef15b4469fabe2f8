"""Kernels that call functions of C by their names, ``pk.hypot``, launched from array programs, with derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_device


@pk.kernel
def distances(out, x):
    i = pk.index()
    out[i] = pk.hypot(x[i], 1.5) * x[i]


@pk.kernel
def logarithms(out, x):
    i = pk.index()
    out[i] = pk.lgamma(x[i]) * x[i]


@pk.kernel
def others(out, x):
    i = pk.index()
    out[i] = pk.gamma(x[i]) + pk.remainder(x[i], 0.3)


EXPECTED = {
    "distances": lambda x: np.hypot(x, 1.5) * x,
    "logarithms": lambda x: np.vectorize(math.lgamma)(x) * x,
    "others": lambda x: np.vectorize(math.gamma)(x) + np.vectorize(math.remainder)(x, 0.3),
}
KERNELS = {"distances": distances, "logarithms": logarithms, "others": others}


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("n", [0, 1, 9])
def test_values(rng, name, n):
    kernel = KERNELS[name]

    @pk.jit
    def launched(x):
        out = np.zeros_like(x)
        kernel(out, x, ndrange=len(x))
        return out * 2

    x = rng.random(n) + 0.1
    np.testing.assert_allclose(launched(x), 2 * EXPECTED[name](x) if n else np.zeros(0), rtol=1e-13)


@pytest.mark.parametrize("name", ["distances", "logarithms"])
def test_derivatives(rng, name):
    kernel, value = KERNELS[name], EXPECTED[name]

    @pk.jit
    def total(x):
        out = np.zeros_like(x)
        kernel(out, x, ndrange=len(x))
        return (out * out).sum()

    x, way, step = rng.random(7) + 0.2, rng.random(7), 1e-6
    slopes = ((value(x + step) ** 2 - value(x - step) ** 2) / (2 * step)).astype(float)
    np.testing.assert_allclose(pk.grad(total)(x), slopes, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(pk.jvp(total, (x,), (way,))[1], slopes @ way, rtol=1e-6)


@pk.jit
def lengths(x, y):
    return np.hypot(x, y), np.hypot(x, y).max()


def test_devices_without_f64(rng):
    """Without floats of 64 bits hypot is computed from scaled numbers, and off by 2 units at most."""
    x, y = rng.standard_normal(70).astype(np.float32), rng.standard_normal(70).astype(np.float32)
    x[:4], y[:4] = (1e30, 1e-30, np.inf, np.nan), (2e30, -2e-30, np.nan, np.inf)
    made = lengths.lower(x, y, target="wgsl")
    assert "f64" not in made.compile().source
    need_device("metal:emulated")
    found, most = lengths(pk.array(x, device="metal:emulated"), pk.array(y, device="metal:emulated"))
    exact = np.hypot(x.astype(float), y.astype(float))
    np.testing.assert_allclose(found.numpy(), exact, rtol=3e-7)
    assert np.isinf(most)


@pk.jit
def neighbours(x):
    return np.nextafter(x, 2), np.nextafter(x, 2).max()


@pk.kernel
def doubled_0(y, x):
    i = pk.index()
    assert x[i] < 1
    y[i] = 2 * x[i]


@pk.jit
def doubled(x):
    y = np.empty_like(x)
    doubled_0(y, x, ndrange=len(x))
    return np.sqrt(y) + y[::-1]


def test_devices(rng):
    """A function that is called twice for the same elements, once for a reduction; and a kernel whose name is one that
    a kernel of the program's own would have."""
    need_device("opencl:0")
    x = rng.random(70)
    found, most = neighbours(pk.array(x, device="opencl:0"))
    np.testing.assert_array_equal(found.numpy(), np.nextafter(x, 2))
    assert most == np.nextafter(x, 2).max()
    roots = doubled(pk.array(x, device="opencl:0"))
    np.testing.assert_allclose(roots.numpy(), np.sqrt(2 * x) + 2 * x[::-1], rtol=1e-14)
