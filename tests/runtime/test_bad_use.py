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


def test_an_assert_that_fails_is_told_by_who_waits(place):
    @pk.kernel
    def checked(y, most):
        i = pk.index()
        assert y[i] < most, "too large"
        y[i] = y[i] + 1

    y = pk.array(np.arange(10, dtype=np.float32), device=place)
    other = pk.Stream(place)
    z = pk.zeros(10, pk.f32, device=place)
    event = checked(y, 5.0, ndrange=10)
    filled(z, 2.0, ndrange=10, stream=other).wait()  # what others do goes on
    with pytest.raises(pk.AssertionFailed, match="too large") as caught:
        event.wait()
    assert "in checked" in str(caught.value)
    np.testing.assert_array_equal(z.numpy(), np.full(10, 2, np.float32))
    checked(y, 50.0, ndrange=10).wait()


@pk.jit
def doubled(x):
    return x * 2


def test_programs_say_the_same(place):
    """Freed arrays, arrays of two devices, streams of another one, what there is no room for."""
    x = pk.array(np.arange(8, dtype=np.float32), device=place)
    with pytest.raises(pk.DeviceError, match=rf"`x` lives on {place}.*asked for on null:0"):
        doubled(x, device="null:0")
    with pytest.raises(pk.DeviceError, match=rf"`x` lives on {place}.*on null:0"):
        doubled(x, stream=pk.Stream("null:0"))
    with pytest.raises(pk.DeviceError, match="`out` has an array on null:0"):
        doubled(x, out=pk.zeros(8, pk.f32, device="null:0"))
    for _ in range(3):
        doubled(x)
    x.free()
    with pytest.raises(pk.UsedAfterFree) as caught:
        doubled(x)
    assert "doubled" in str(caught.value)


def test_a_freed_array_in_a_graph(place):
    x = pk.array(np.arange(8, dtype=np.float32), device=place)
    with pk.graph() as g:
        y = doubled(x)
        filled(y, 1.0, ndrange=8)
    g.replay().wait()
    x.free()
    with pytest.raises(pk.UsedAfterFree):
        g.replay()


def test_no_room_leaves_what_there_is(place):
    """A failed allocation takes nothing: what was there is, and can be used."""
    x = pk.array(np.arange(1000, dtype=np.float32), device=place)
    before = pk.memory_stats(place)
    with pytest.raises(pk.OutOfMemory, match=place):
        pk.zeros(1 << 44, pk.u8, device=place)
    after = pk.memory_stats(place)
    assert (after.live, after.allocated) == (before.live, before.allocated)
    np.testing.assert_array_equal(doubled(x).numpy(), 2 * np.arange(1000, dtype=np.float32))


# -- a device that is lost -------------------------------------------------------------------------


class Lost:
    """A module of bindings of which one function fails."""

    def __init__(self, real, name, result):
        self._real, self._name, self._result = real, name, result

    def __getattr__(self, name):
        return (lambda *a: self._result) if name == self._name else getattr(self._real, name)


@pytest.mark.parametrize("device", ["vulkan:0"], indirect=True)
@pytest.mark.parametrize("call", ["vkQueueSubmit", "vkWaitSemaphores"])
def test_a_lost_device_names_its_kernels(device, call, monkeypatch):
    from pykern.runtime.drivers.vulkan import stream as module

    y = pk.zeros(100, pk.f32, device=device)
    filled(y, 1.0, ndrange=100).wait()
    lost = -4
    with monkeypatch.context() as patch:
        if call == "vkWaitSemaphores":
            event = filled(y, 1.0, ndrange=100)
            patch.setattr(module.Stream, "reap", lambda self, most=None: None)
        patch.setattr(module, "lib", Lost(module.lib, call, lost))
        with pytest.raises(pk.DeviceError, match=r"the device is lost.*VK_ERROR_DEVICE_LOST") as caught:
            filled(y, 1.0, ndrange=100) if call == "vkQueueSubmit" else event.wait()
    assert "`filled`" in str(caught.value)
    host = np.zeros(4, np.float32)
    filled(host, 4.0, ndrange=4)  # others go on
    assert host[3] == 4


@pytest.mark.parametrize("device", ["opencl:0"], indirect=True)
def test_a_lost_opencl_device_names_its_kernels(device, monkeypatch):
    import pyopencl as cl

    y = pk.zeros(100, pk.f32, device=device)
    event = filled(y, 1.0, ndrange=100)
    event.settle()

    class Gone:
        command_execution_status = cl.status_code.OUT_OF_RESOURCES  # below 0: it has failed

        def wait(self):
            raise cl.RuntimeError("clWaitForEvents", cl.status_code.OUT_OF_RESOURCES, "")

    native, event._native = event._native, Gone()
    with pytest.raises(pk.DeviceError, match=r"wait for an event: clWaitForEvents.*: `filled`") as caught:
        event.wait()
    assert "cpu" in (caught.value.hint or "")
    event._native = native
    event.wait()


# -- on the CPU and the reference device ---------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_bad_use_without_a_driver(device):
    y = pk.zeros(10, pk.f32, device="cpu")

    @pk.kernel(debug=True)
    def outside(y, n):
        y[pk.index() + n] = 1.0

    with pytest.raises(pk.OutOfBounds, match="`y`"):
        outside(y, 5, ndrange=10, device=device)
    with pytest.raises(pk.LaunchError, match="workgroup"):
        filled(y, 1.0, ndrange=10, workgroup=0, device=device)
    y.free()
    with pytest.raises(pk.UsedAfterFree):
        filled(y, 1.0, ndrange=10, device=device)


@pk.kernel(workgroup=64)
def greedy_on_the_cpu(y):
    s = pk.shared((1 << 40,), pk.f32)
    s[pk.local_index()] = 1.0
    pk.barrier()
    y[pk.index()] = s[63 - pk.local_index()]


def test_too_much_shared_memory_on_the_cpu():
    y = np.zeros(128, np.float32)
    with pytest.raises(pk.KernelError, match="a group takes 4398046511104 bytes") as caught:
        greedy_on_the_cpu(y, ndrange=128)
    assert "greedy_on_the_cpu" in str(caught.value)


def test_streams_wait_for_events(place):
    for given in (5, "event", [None], (pk.Event(), 3)):
        with pytest.raises(pk.LaunchError, match="a stream waits for events, not for"):
            pk.Stream(place).wait(given)


def test_memory_at_no_address():
    with pytest.raises(pk.LaunchError, match="no memory at the address 0"):
        pk.from_pointer(0, 3, pk.f32)
    assert pk.from_pointer(0, 0, pk.f32).shape == (0,)
