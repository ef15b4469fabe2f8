"""Bad use on every device that runs here: the error names kernel and cause, and the device goes on."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.runtime import registry

DEVICES = ["opencl:0", "vulkan:0"]


@pk.kernel
def filled(y, value):
    y[pk.index()] = value


@pytest.fixture(params=DEVICES)
def place(request, need_device):
    """A device, which afterwards still does what it did, also in a stream made before."""
    name = need_device(request.param)
    stream = pk.Stream(name)
    y = pk.zeros(100, pk.f32, device=name)
    yield name
    filled(y, 3.0, ndrange=100, stream=stream).wait()
    np.testing.assert_array_equal(y.numpy(), np.full(100, 3, np.float32))
    host = np.zeros(100, np.float32)
    filled(host, 4.0, ndrange=100)
    assert host[99] == 4


def test_too_large_a_group(place):
    y = pk.zeros(10, pk.f32, device=place)
    with pytest.raises(pk.KernelError, match=r"group.*32768.*most|group of \(32768,\)") as caught:
        filled(y, 1.0, ndrange=10, workgroup=1 << 15)
    assert "filled" in str(caught.value)


def test_too_much_shared_memory(place):
    @pk.kernel(workgroup=64)
    def greedy(y):
        s = pk.shared((1 << 20,), pk.f32)
        s[pk.local_index()] = 1.0
        pk.barrier()
        y[pk.index()] = s[63 - pk.local_index()]

    y = pk.zeros(128, pk.f32, device=place)
    with pytest.raises(pk.KernelError, match=r"greedy.*4194304 bytes of shared memory"):
        greedy(y, ndrange=128)


def test_too_much_shared_memory_asked_for_at_launch(place):
    """What is compiled in is not overrun."""

    @pk.kernel(workgroup=64)
    def sized(y):
        own = pk.shared((100,), pk.f32)
        s = pk.shared(None, pk.f32)
        own[pk.local_index()] = s[pk.local_index()] = 1.0
        pk.barrier()
        y[pk.index()] = s[63 - pk.local_index()] + own[0]

    y = pk.zeros(128, pk.f32, device=place)
    room = 32 * 1024 - 400
    with pytest.raises(pk.LaunchError, match=f"`sized`: shared_bytes={room + 4}, and {room} are left"):
        sized(y, ndrange=128, shared_bytes=room + 4)
    sized(y, ndrange=128, shared_bytes=room)
    np.testing.assert_array_equal(y.numpy(), np.full(128, 2, np.float32))


def test_more_memory_than_there_is(place):
    with pytest.raises(pk.OutOfMemory, match="17592186044416 bytes"):
        pk.zeros(1 << 44, pk.u8, device=place)


def test_arrays_of_two_devices(place):
    y = pk.zeros(10, pk.f32, device=place)
    with pytest.raises(pk.DeviceError, match=rf"`y` lives on {place}, and the launch is asked for on null:0"):
        filled(y, 1.0, ndrange=10, device="null:0")


def test_a_freed_array(place):
    y = pk.zeros(10, pk.f32, device=place)
    for _ in range(3):
        filled(y, 1.0, ndrange=10)
    y.free()
    with pytest.raises(pk.UsedAfterFree):
        filled(y, 1.0, ndrange=10)


def test_an_index_outside_is_told_and_touches_nothing(place):
    @pk.kernel(debug=True)
    def outside(y, n):
        y[pk.index() + n] = 1.0

    y = pk.zeros(10, pk.f32, device=place)
    with pytest.raises(pk.OutOfBounds, match=r"outside of `y`") as caught:
        outside(y, 5, ndrange=10).wait()
    assert caught.value.span.line == outside.text.first_line + 1
    assert registry.opened(place).driver is not None
