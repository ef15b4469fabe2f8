"""Buffers, arrays and images of pyopencl as arguments of launches, without a copy."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package
from tests.project.tree import ROOT

F = np.float32


@pk.kernel
def scaled(out, x, factor):
    i = pk.index()
    out[i] = x[i] * factor


@pk.kernel
def doubled(image):
    i, j = pk.index()
    image[i, j] *= 2


@pytest.fixture
def cl(need_device: Callable[[str], str]) -> Any:
    need_device("opencl")
    need_package("pyopencl")
    import pyopencl
    import pyopencl.array

    return pyopencl


def made(cl: Any, values: np.ndarray) -> Any:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(pk.opencl_context(), flags, hostbuf=values)


def test_a_buffer_is_used_where_it_lies(cl: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal(1001).astype(F)
    given, result = made(cl, x), made(cl, np.zeros_like(x))
    out = pk.from_opencl(result, x.shape, F)
    scaled(out, pk.from_opencl(given, dtype=F), 3, ndrange=x.size).wait()
    back = np.empty_like(x)
    cl.enqueue_copy(cl.CommandQueue(pk.opencl_context()), back, result)
    np.testing.assert_array_equal(back, x * F(3))
    assert out.shape == (1001,) and out.device_name == "opencl:0"


def test_strides_and_an_offset_in_a_buffer(cl: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal(100).astype(F)
    whole = made(cl, x)
    out = pk.zeros(20, F, "opencl")
    scaled(out, pk.from_opencl(whole, 20, F, strides=(12,), offset=8), 1, ndrange=20).wait()
    np.testing.assert_array_equal(out.numpy(), x[2:62:3])
    scaled(out, pk.from_opencl(whole, 20, F, strides=(-4,), offset=4 * 50), 1, ndrange=20).wait()
    np.testing.assert_array_equal(out.numpy(), x[50:30:-1])


def test_an_array_of_pyopencl_is_an_argument(cl: Any, rng: np.random.Generator) -> None:
    """The launch waits for what the queue of the array has still to do."""
    context = pk.opencl_context()
    queue = cl.CommandQueue(context)
    x = rng.standard_normal(5000).astype(F)
    given, out = cl.array.zeros(queue, 5000, F), cl.array.zeros(queue, 5000, F)
    for factor in (2, 3, 4):  # by all ways of a launch: the first, and known ones
        gate = cl.UserEvent(context)
        cl.enqueue_barrier(queue, wait_for=[gate])
        given.set(x * F(factor), queue, async_=True)
        launched = scaled(out, given, 2, ndrange=5000)
        gate.set_status(cl.command_execution_status.COMPLETE)
        launched.wait()
        np.testing.assert_array_equal(out.get(), x * F(factor) * F(2))
    part = given[10:4000:7]
    scaled(out[: part.size], part, 2, ndrange=part.size).wait()
    np.testing.assert_array_equal(out.get()[: part.size], (x * F(8))[10:4000:7])


def test_a_buffer_is_kept_alive(cl: Any) -> None:
    x = made(cl, np.arange(8, dtype=F))
    before = sys.getrefcount(x)
    array = pk.from_opencl(x, 8, F)
    assert sys.getrefcount(x) > before
    np.testing.assert_array_equal(array.numpy(), np.arange(8))
    del array
    pk.synchronize("opencl")
    pk.empty_cache("opencl")
    gc.collect()
    assert sys.getrefcount(x) == before
    assert x.size == 32, "it is not released with the array"


def image_of(
    cl: Any, context: Any, form: Any, shape: tuple[int, int], buffer: Any = None, pitch: int = 0
) -> Any:
    told = cl.ImageDescriptor()
    told.image_type, told.shape, told.array_size = cl.mem_object_type.IMAGE2D, (*shape, 1), 0
    told.pitches, told.num_mip_levels, told.num_samples, told.buffer = (pitch, 0), 0, 0, buffer
    return cl.Image(context, cl.mem_flags.READ_WRITE, form, desc=told)


def test_an_image_made_from_a_buffer(cl: Any, rng: np.random.Generator) -> None:
    context = pk.opencl_context()
    form = cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT)
    height, width = 5, 64
    x = rng.standard_normal((height, width)).astype(F)
    buffer = made(cl, x)
    try:
        image = image_of(cl, context, form, (width, height), buffer, 4 * width)
    except cl.Error as error:
        pytest.skip(f"this driver makes no image from a buffer: {error}")
    doubled(image, ndrange=(height, width)).wait()
    np.testing.assert_array_equal(pk.from_opencl(buffer, x.shape, F).numpy(), 2 * x)


def test_an_image_of_its_own_is_refused_by_name(cl: Any) -> None:
    form = cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT)
    photo = image_of(cl, pk.opencl_context(), form, (8, 8))
    with pytest.raises(pk.KernelTypeError, match="`image` is an image that was not made from a buffer"):
        doubled(photo, ndrange=(8, 8))


def test_what_does_not_fit_is_refused(cl: Any) -> None:
    x = made(cl, np.zeros(8, F))
    with pytest.raises(pk.KernelTypeError, match=r"`out` is a pyopencl.Buffer, which does not say what"):
        scaled(x, x, 1, ndrange=8)
    with pytest.raises(pk.KernelTypeError, match="does not say what it holds"):
        pk.from_opencl(x)
    with pytest.raises(pk.LaunchError, match="takes the bytes 0 to 36 of a buffer of 32"):
        pk.from_opencl(x, 9, F)
    with pytest.raises(pk.LaunchError, match="in the midst of an element"):
        pk.from_opencl(x, 1, F, offset=2)
    with pytest.raises(pk.KernelTypeError, match="a ndarray is no memory of OpenCL"):
        pk.from_opencl(np.zeros(3, F))
    with pytest.raises(pk.DeviceError, match="cpu has no context of OpenCL"):
        pk.opencl_context("cpu")


def test_memory_of_opencl_is_not_taken_on_the_cpu(cl: Any) -> None:
    x = cl.array.zeros(cl.CommandQueue(pk.opencl_context()), 8, F)
    with pytest.raises(pk.DeviceError, match="`out` lives on opencl:0"):
        scaled(x, x, 1, ndrange=8, device="cpu")


def test_another_context_is_refused_by_name(cl: Any) -> None:
    foreign = cl.Context(pk.opencl_context().devices)
    x = cl.Buffer(foreign, cl.mem_flags.READ_WRITE, 32)
    with pytest.raises(pk.DeviceError, match="`x` belongs to another context of OpenCL"):
        pk.from_opencl(x, 8, F)
    values = cl.array.zeros(cl.CommandQueue(foreign), 8, F)
    with pytest.raises(pk.DeviceError, match="`out` belongs to another context of OpenCL"):
        scaled(values, values, 1, ndrange=8)
    with pytest.raises(pk.DeviceError, match="in use already, in another context"):
        pk.opencl_context(adopt=foreign)


ADOPTED = """
import numpy as np
import pyopencl as cl
import pykern as pk
from pykern.runtime.drivers.opencl import RUNTIME
from tests.interop.test_opencl_memory import scaled

context = cl.Context([RUNTIME.native(0)])
x = np.arange(10, dtype=np.float32)
mine = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
assert pk.opencl_context(adopt=context) == context
given = pk.from_opencl(mine, 10, np.float32)
scaled(given, given, 2, ndrange=10).wait()
assert (given.numpy() == 2 * x).all()
"""


def test_pykern_works_in_a_context_of_somebody_else(cl: Any) -> None:
    run = subprocess.run(
        [sys.executable, "-c", ADOPTED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
