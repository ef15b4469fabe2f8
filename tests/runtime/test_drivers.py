"""Every driver keeps the protocol: bytes go in and come out, streams are in order, events tell the time."""

from __future__ import annotations

import importlib
import types

import numpy as np
import pytest

import pykern as pk
from pykern.data.artifact import Artifact
from pykern.runtime import registry
from pykern.runtime.driver import Memory

over_drivers = pytest.mark.parametrize(
    "device", ["cpu", "null:0", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)


@pytest.fixture
def opened(device):
    return registry.opened(device)


def read(opened, memory, nbytes, offset=0):
    host = np.full(nbytes, 0xA5, np.uint8)
    opened.driver.copy_out(opened.stream, host, memory, offset)
    opened.driver.wait(opened.driver.record(opened.stream))
    return host


@over_drivers
@pytest.mark.parametrize("nbytes", [1, 3, 64, 4097, 1 << 20])
def test_bytes_go_in_and_come_out(opened, rng, nbytes):
    driver, stream = opened.driver, opened.stream
    memory = driver.allocate(nbytes + 8)
    assert isinstance(memory, Memory) and memory.nbytes >= nbytes
    data = rng.integers(0, 256, nbytes).astype(np.uint8)
    driver.copy_in(stream, memory, 8, data)
    np.testing.assert_array_equal(read(opened, memory, nbytes, 8), data)
    driver.free(memory)


@over_drivers
def test_copies_within_the_device(opened, rng):
    driver, stream = opened.driver, opened.stream
    a, b = driver.allocate(1000), driver.allocate(1000)
    data = rng.integers(0, 256, 1000).astype(np.uint8)
    driver.copy_in(stream, a, 0, data)
    driver.copy_in(stream, b, 0, data[::-1].copy())
    driver.copy(stream, b, 100, a, 40, 333)
    expected = data[::-1].copy()
    expected[100:433] = data[40:373]
    np.testing.assert_array_equal(read(opened, b, 1000), expected)
    driver.free(a)
    driver.free(b)


@over_drivers
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_fill_repeats_a_pattern(opened, width):
    driver, stream = opened.driver, opened.stream
    memory = driver.allocate(256)
    pattern = bytes(range(1, width + 1))
    driver.fill(stream, memory, 0, b"\0", 256)
    driver.fill(stream, memory, 16, pattern, 48)
    expected = np.zeros(256, np.uint8)
    expected[16:64] = np.frombuffer(pattern * (48 // width), np.uint8)
    np.testing.assert_array_equal(read(opened, memory, 256), expected)
    driver.free(memory)


@over_drivers
def test_streams_wait_for_events(opened):
    """A chain through three streams: each adds its part only after the one before."""
    driver = opened.driver
    streams = [driver.stream(priority) for priority in ("high", "normal", "low")]
    memory = driver.allocate(1 << 16)
    before = None
    for _ in range(5):
        for number, stream in enumerate(streams):
            if before is not None:
                driver.stream_wait(stream, before)
            driver.fill(stream, memory, 0, bytes([number + 1]), 1 << 16)
            before = driver.record(stream)
    driver.wait(before)
    assert driver.done(before)
    assert (read(opened, memory, 1 << 16) == 3).all()
    driver.free(memory)


@over_drivers
def test_elapsed_time_is_that_of_the_device(opened):
    driver, stream = opened.driver, opened.stream
    memory = driver.allocate(1 << 22)
    start = driver.record(stream)
    for _ in range(4):
        driver.fill(stream, memory, 0, b"\1", 1 << 22)
    end = driver.record(stream)
    driver.wait(end)
    assert 0 <= driver.elapsed_ms(start, end) < 60_000
    driver.free(memory)


@over_drivers
def test_synchronize_waits_for_every_stream(opened):
    driver = opened.driver
    streams = [driver.stream("normal") for _ in range(3)]
    memories = [driver.allocate(1 << 20) for _ in streams]
    events = []
    for stream, memory in zip(streams, memories, strict=True):
        driver.fill(stream, memory, 0, b"\7", 1 << 20)
        events.append(driver.record(stream))
    driver.synchronize(None)
    assert all(driver.done(event) for event in events)
    for memory in memories:
        driver.free(memory)


@over_drivers
def test_pinned_memory_is_host_memory(opened, rng):
    place = opened.driver.pinned(1000)
    assert place.dtype == np.uint8 and place.shape == (1000,)
    data = rng.integers(0, 256, 1000).astype(np.uint8)
    place[:] = data
    memory = opened.driver.allocate(1000)
    opened.driver.copy_in(opened.stream, memory, 0, place)
    np.testing.assert_array_equal(read(opened, memory, 1000), data)
    opened.driver.free(memory)


@over_drivers
def test_what_is_too_big_is_a_named_error(opened):
    with pytest.raises(pk.DeviceError):
        opened.driver.allocate(1 << 60)


@over_drivers
def test_a_device_tells_its_limits(opened):
    info = opened.info
    assert info.name and info.target
    assert {"f32", "i32"} <= info.dtypes
    assert info.max_group >= 64 and all(n >= 1 for n in info.max_grid)


def test_code_that_is_no_spirv_is_refused(need_device):
    opened = registry.opened(need_device("opencl:0"))
    from pykern.data.artifact import Artifact, DeviceCode

    wrong = Artifact(
        "", "wrong", opened.info.target, "wrong", b"\3\2\43\7 no code", device=DeviceCode("spirv", ())
    )
    with pytest.raises(pk.DeviceError, match=r"load `wrong`"):
        opened.driver.load(wrong)


@pytest.mark.parametrize("able", [True, False])
@pytest.mark.parametrize("fastmath", [True, False])
def test_opencl_is_asked_for_exact_roots_where_it_can(need_device, monkeypatch, able, fastmath):
    need_device("opencl:0")
    driver = registry.opened("opencl:0").driver
    flag = importlib.import_module("pyopencl").device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
    monkeypatch.setattr(driver, "_device", types.SimpleNamespace(single_fp_config=7 | flag if able else 7))
    artifact = Artifact("", "k", "", "k", b"", resources={"fastmath": True} if fastmath else {})
    asked = ["-cl-fp32-correctly-rounded-divide-sqrt"] if able and not fastmath else []
    assert driver._options(artifact) == asked
