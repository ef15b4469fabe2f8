"""Streams and events: order within a stream, waiting between streams, times, priorities."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.runtime import registry

over_devices = pytest.mark.parametrize(
    "device", ["cpu", "null:0", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)


@over_devices
@pytest.mark.parametrize("priority", ["high", "normal", "low"])
def test_work_of_a_stream_is_in_order(device, priority, rng):
    stream = pk.Stream(device, priority=priority)
    assert stream.device.name == device and stream.priority == priority
    a, b = pk.zeros(1000, pk.f32, device=device), pk.zeros(1000, pk.f32, device=device)
    host = rng.random(1000).astype(np.float32)
    pk.copyto(a, 1, stream)
    pk.copyto(a, host, stream)
    pk.copyto(b, a, stream)
    event = pk.copyto(a, 2, stream)
    event.wait()
    assert event.done
    np.testing.assert_array_equal(b.numpy(), host)
    assert (a.numpy() == 2).all()
    stream.synchronize()
    assert stream.done


@pytest.mark.parametrize("wrong", ["urgent", "", None, 1, "High"])
def test_other_priorities_are_refused(wrong):
    with pytest.raises(pk.LaunchError, match="a priority is high, normal, low"):
        pk.Stream("cpu", priority=wrong)


@over_devices
def test_streams_wait_for_each_other(device, rng):
    first, second, third = (pk.Stream(device) for _ in range(3))
    n = 1 << 18
    x = rng.random(n)
    a, b, c = (pk.zeros(n, pk.f64, device=device) for _ in range(3))
    for _ in range(3):
        pk.copyto(a, x, first)
        second.wait(first.record())
        pk.copyto(b, a, second)
        third.wait([first.record(), second.record()])
        done = pk.copyto(c, b, third)
        first.wait(done)
    pk.wait([done, first.record()])
    np.testing.assert_array_equal(c.numpy(), x)


@over_devices
def test_events(device):
    stream = pk.Stream(device)
    start, end, never = pk.Event(), pk.Event(), pk.Event()
    a = pk.zeros(1 << 20, pk.f32, device=device)
    start.record(stream)
    pk.copyto(a, 1, stream)
    end.record(stream)
    assert start.elapsed(end) >= 0
    assert start.done and end.done and never.done
    never.wait()
    assert repr(end) == "<pykern.Event: done>"
    with pytest.raises(pk.LaunchError, match="between two recorded events"):
        start.elapsed(never)
    with pytest.raises(pk.LaunchError, match="between two recorded events"):
        never.elapsed(end)
    again = pk.Event().record()  # the current device's own stream
    again.wait()


def test_waiting_across_devices(need_device, rng):
    """No driver knows another's events: the host waits."""
    there = pk.Stream(need_device("opencl:0"))
    here = pk.Stream("null:0")
    x = rng.random(1000)
    a = pk.zeros(1000, pk.f64, device="opencl:0")
    event = pk.copyto(a, x, there)
    here.wait(event)
    assert event.done


@over_devices
def test_synchronize_waits_for_all(device):
    streams = [pk.Stream(device) for _ in range(3)]
    arrays = [pk.zeros(1 << 16, pk.f32, device=device) for _ in streams]
    events = [pk.copyto(a, 1, s) for a, s in zip(arrays, streams, strict=True)]
    pk.synchronize(device)
    assert all(event.done for event in events)
    with pk.device(device):
        pk.synchronize()


def test_a_stream_of_another_device_is_refused():
    a = pk.zeros(3, pk.f32, device="null:0")
    with pytest.raises(pk.DeviceError, match="the stream is on null:1, and the work on null:0"):
        pk.copyto(a, 1, pk.Stream("null:1"))
    with pytest.raises(pk.LaunchError, match=r"is no pk\.Stream"):
        pk.copyto(a, 1, 7)


def test_reading_waits_for_the_streams_that_write():
    """What reads an array on the host lets its stream wait for those that used the array."""
    driver = registry.opened("null:0").driver
    stream = pk.Stream("null:0")
    a = pk.empty(100, pk.f32, device="null:0")
    pk.copyto(a, 1, stream)
    driver.waits.clear()
    assert (a.numpy() == 1).all()
    assert (registry.opened("null:0").stream, stream.native) in driver.waits


@over_devices
def test_an_array_freed_under_way_is_not_given_out_too_early(device, rng):
    """The new owner's stream waits for the old one's: a copy into reused memory never meets the old fill."""
    slow, fast = pk.Stream(device), pk.Stream(device)
    n = 1 << 20
    for number in range(5):
        a = pk.empty(n, pk.f32, device=device)
        for _ in range(4):
            pk.copyto(a, -1, slow)
        del a
        b = pk.empty(n, pk.f32, device=device)
        pk.copyto(b, number, fast)
        assert (b.numpy() == number).all()


# -- graphs ----------------------------------------------------------------------------------------


@over_devices
def test_a_graph_runs_what_was_captured(device, rng):
    a, b = pk.zeros(100, pk.f32, device=device), pk.zeros(100, pk.f32, device=device)
    with pk.graph() as g:
        pk.copyto(b, a)
        pk.copyto(a, 5)
    assert len(g) == 2
    assert (a.numpy() == 0).all() and (b.numpy() == 0).all()  # nothing has run
    for value in (1, 2, 3):
        a.fill(value)
        g.replay().wait()
        assert (b.numpy() == value).all() and (a.numpy() == 5).all()
    stream = pk.Stream(device)
    a.fill(9)
    g.replay(stream).wait()
    assert (b.numpy() == 9).all()


def test_a_graph_keeps_its_arrays():
    a = pk.zeros(100, pk.f32, device="null:0")
    with pk.graph() as g:
        pk.copyto(a, 1)
    live = pk.memory_stats("null:0").live
    del a
    assert pk.memory_stats("null:0").live == live
    g.replay()
    del g
    assert pk.memory_stats("null:0").live == live - 1


def test_what_cannot_be_captured_says_so():
    a = pk.zeros(10, pk.f32, device="null:0")
    with pk.graph():
        with pytest.raises(pk.LaunchError, match="reading an array cannot be captured"):
            a.numpy()
        with pytest.raises(pk.LaunchError, match="cannot be captured"):
            pk.copyto(a, np.ones(10))
        with pytest.raises(pk.LaunchError, match="inside of another"), pk.graph():
            pass
    g = pk.graph()
    with g:
        pk.copyto(a, 1)
        with pytest.raises(pk.LaunchError, match="not replayed while"):
            g.replay()
    with pytest.raises(pk.LaunchError, match="captured once"), g:
        pass
    assert pk.graph().replay().done
