"""Gradients of kernels where their arrays live: raised where they can be, and work-item by work-item."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

over_devices = pytest.mark.parametrize(
    "device",
    [
        "cpu",
        "python",
        "opencl",
        "vulkan",
        "webgpu",
        "cuda",
        "cuda:emulated",
        "rocm",
        "rocm:emulated",
        "metal",
        "metal:emulated",
    ],
    indirect=True,
)


@pk.kernel
def waves(y, x):
    i = pk.index()
    if 0 < i < x.shape[0] - 1:
        y[i] = pk.sin(x[i - 1]) * x[i] + x[i + 1] ** 2


def derivative(x: np.ndarray, seed: np.ndarray) -> np.ndarray:
    """The rows of the Jacobian written out."""
    dx = np.zeros_like(x)
    inner = seed[1:-1]
    dx[:-2] += inner * np.cos(x[:-2]) * x[1:-1]
    dx[1:-1] += inner * np.sin(x[:-2])
    dx[2:] += inner * 2 * x[2:]
    return dx


@over_devices
@pytest.mark.parametrize("level", ["auto", "direct"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stencil(dtype, level, device, rng):
    x, seed = rng.random((2, 301)).astype(dtype)
    gradient = pk.autodiff(waves, level=level)
    if device == "python":
        there = [np.zeros_like(x), seed, x, np.zeros_like(x)]
        with pk.device(device), pytest.raises(pk.DeviceError, match="runs kernels, not their derivatives"):
            gradient(pk.Dup(*there[:2]), pk.Dup(*there[2:]), ndrange=x.size)
        pytest.skip("unsupported: the reference device runs kernels, not their derivatives")
    y, dy, values, dx = (pk.array(v, device=device) for v in (np.zeros_like(x), seed, x, np.zeros_like(x)))
    gradient(pk.Dup(y, dy), pk.Dup(values, dx), ndrange=x.size)
    np.testing.assert_allclose(dx.numpy(), derivative(x, seed), rtol=1e-5 if dtype is np.float32 else 1e-12)
