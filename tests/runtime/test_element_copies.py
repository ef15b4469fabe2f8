"""Copies of arrays whose elements lie apart: like NumPy's, and on the device itself."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.arrays import copying

over_devices = pytest.mark.parametrize(
    "device",
    ["opencl:0", "vulkan:0", "webgpu:0", "rocm:emulated:gfx942", "metal:emulated:0"],
    indirect=True,
)

VIEWS = {
    "turned": lambda a: a.T,
    "every second": lambda a: a[::2, 3:9],
    "backwards": lambda a: a[::-3],
    "a plane": lambda a: a[:, 4],
    "a row": lambda a: a[3, 5],
    "a column": lambda a: a[:, 7, 1],
    "one more axis": lambda a: a[:, None, ::2],
    "nothing": lambda a: a[3:3, ::2],
    "one element": lambda a: a[3, 5, 1],
}
DTYPES = [np.int8, np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@over_devices
@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES, ids=[np.dtype(d).name for d in DTYPES])
def test_dense_copies_of_views(rng, device, name, dtype):
    x = rng.integers(0, 100, (20, 11, 6)).astype(dtype)
    a, view = pk.asarray(x, device=device), VIEWS[name]
    np.testing.assert_array_equal(view(a).copy().numpy(), view(x))
    np.testing.assert_array_equal(view(a).numpy(), view(x))


@over_devices
def test_assignments_to_views(rng, device):
    x = rng.random((20, 11, 6))
    a, b, y = pk.asarray(x, device=device), pk.asarray(x, device=device).copy(), x.copy()
    b[::2], y[::2] = a[1::2], x[1::2]
    b[:, 3], y[:, 3] = a[0, 0], x[0, 0]  # broadcast
    b[5:7, ::3], y[5:7, ::3] = x[5:7, ::3] + 1, x[5:7, ::3] + 1  # from the host
    b[:, 7], y[:, 7] = 5, 5
    b[:, ::2], y[:, ::2] = a.numpy()[:, ::2].astype(np.float32), x[:, ::2].astype(np.float32)
    b[1:], y[1:] = b[:-1], y[:-1].copy()  # the two overlap
    np.testing.assert_array_equal(b.numpy(), y)
    with pytest.raises(pk.LaunchError):
        b[::2] = a[:3]


@over_devices
def test_nothing_goes_through_the_host(rng, device, monkeypatch):
    x = rng.random((40, 30)).astype(np.float32)  # which every device computes with
    a, b = pk.asarray(x, device=device), pk.zeros((30, 40), pk.f32, device=device)
    monkeypatch.setattr(copying, "_from_host", None)
    monkeypatch.setattr(copying, "to_host", None)
    b[...] = a.T
    monkeypatch.undo()
    np.testing.assert_array_equal(b.numpy(), x.T)


@over_devices
def test_in_a_stream(rng, device):
    x = rng.random((12, 9))
    a, b = pk.asarray(x, device=device), pk.zeros((9, 12), device=device)
    stream = pk.Stream(device)
    copying.copyto(b, a.T, stream).wait()
    np.testing.assert_array_equal(b.numpy(), x.T)


def test_many_dimensions_go_through_the_host(need_device):
    x = np.arange(2**6.0).reshape((2,) * 6)
    a = pk.asarray(x, device=need_device("opencl:0"))
    np.testing.assert_array_equal(a.T.copy().numpy(), x.T)
