"""Kernels on `cuda:emulated`: the driver, the compiled entries and errors, as a user meets them."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import DataRace, DeviceError, KernelError, OutOfBounds, OutOfMemory
from pykern.runtime import registry
from pykern.runtime.emulator.bindings import SHARED
from pykern.runtime.launchable import SUPPORTED

DEVICE = "cuda:emulated"


@pk.kernel
def gather(y, x, at):
    i = pk.index()
    y[i] = x[at[i]]


@pk.kernel(workgroup=64)
def reversed_twice(y, x):
    held = pk.shared(64, pk.f32)
    k = pk.local_index()
    held[k] = x[pk.index()]
    pk.barrier()
    other = held[63 - k]
    held[k] = other + 1.0  # a work-item may not have read it yet
    pk.barrier()
    y[pk.index()] = held[63 - k]


def on_device(*arrays):
    return [pk.array(array, device=DEVICE) for array in arrays]


@pytest.mark.parametrize("capability", sorted(SHARED))
def test_every_chip_runs(capability, rng):
    name = f"{DEVICE}:{capability}"
    info = pk.device(name).info
    assert info.target.startswith(f"nvvm:sm_{capability}") and info.target.endswith("+ptx+lines")
    x, at = rng.random(100, dtype=np.float32), rng.integers(0, 100, 70, dtype=np.int32)
    y = np.zeros(70, np.float32)
    gather(y, x, at, ndrange=70, device=name)
    np.testing.assert_array_equal(y, x[at])


def test_its_name():
    assert str(pk.device(DEVICE)) == "cuda:emulated:80"
    assert all(device.name.count(":") < 2 for device in pk.devices())  # used where it is named
    with pytest.raises(DeviceError, match="no device 'cuda:emulated:fast'"):
        pk.device("cuda:emulated:fast")
    with pytest.raises(DeviceError, match="no device 'cuda:emulated:7'"):
        pk.device("cuda:emulated:7")


@pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython")
def test_compiled_entries_launch(rng, monkeypatch):
    """From the third launch of a kind on, no Python of pykern's runs before the driver's function."""

    @pk.kernel
    def add(y, x):
        i = pk.index()
        y[i] += x[i]

    x = rng.random(300, dtype=np.float32)
    dx, dy = on_device(x, np.zeros_like(x))
    add(dy, dx, ndrange=300)
    add(dy, dx, ndrange=300)
    monkeypatch.setattr(add.launcher, "launch", None)
    add(dy, dx, ndrange=300)
    np.testing.assert_allclose(dy.numpy(), 3 * x, rtol=1e-6)


def line_of(error: KernelError) -> str:
    assert error.span is not None
    return error.span.source_line().strip()


@pytest.mark.parametrize("launches", [1, 4])
def test_an_access_behind_an_array_names_its_line(launches):
    """Also from a compiled entry, and the device goes on afterwards."""
    x, y, at = on_device(np.ones(100, np.float32), np.zeros(50, np.float32), np.arange(50, dtype=np.int32))
    for _ in range(launches - 1):
        gather(y, x, at, ndrange=50)
    wrong = on_device(np.full(50, 100, np.int32))[0]
    with pytest.raises(OutOfBounds, match=r"0 bytes behind the end of an allocation of 400 bytes") as caught:
        gather(y, x, wrong, ndrange=50)
    assert line_of(caught.value) == "y[i] = x[at[i]]"
    gather(y, x, at, ndrange=50)
    assert y.numpy().all()


def test_a_race_names_its_line():
    x, y = on_device(np.zeros(128, np.float32), np.zeros(128, np.float32))
    with pytest.raises(DataRace) as caught:
        reversed_twice(y, x, ndrange=128)
    assert line_of(caught.value).startswith(("held[k] = other", "other = held"))


def test_shared_memory_that_nobody_wrote():
    @pk.kernel(workgroup=32)
    def half(y):
        held = pk.shared(64, pk.f32)
        k = pk.local_index()
        held[k] = 1.0
        pk.barrier()
        y[pk.index()] = held[2 * k]

    with pytest.raises(
        DeviceError, match="a read of shared memory that no work-item of the group has written"
    ) as caught:
        half(np.zeros(32, np.float32), ndrange=32, device=DEVICE)
    assert line_of(caught.value) == "y[pk.index()] = held[2 * k]"


def test_a_line_of_a_function_that_is_called():
    @pk.func
    def read(x, i):
        return x[i]

    @pk.kernel
    def calls(y, x, at):
        i = pk.index()
        y[i] = read(x, at[i])

    x, y, at = on_device(np.zeros(8, np.float32), np.zeros(4, np.float32), np.array([0, 1, 2, 9], np.int32))
    with pytest.raises(OutOfBounds) as caught:
        calls(y, x, at, ndrange=4)
    assert line_of(caught.value) == "return x[i]"


def test_there_is_an_end_to_its_memory():
    with pytest.raises(OutOfMemory):
        pk.zeros(registry.info(DEVICE).memory_bytes // 4 + 1, np.float32, device=DEVICE)


def test_streams_events_and_pinned_memory(rng):
    x = rng.random(1000, dtype=np.float32)
    stream = pk.Stream(DEVICE)
    dx, y, at = on_device(x, np.zeros(1000, np.float32), np.arange(1000, dtype=np.int32)[::-1].copy())
    start, end = pk.Event(), pk.Event()
    start.record(stream)
    gather(y, dx, at, ndrange=1000, stream=stream)
    end.record(stream)
    end.wait()
    assert start.elapsed(end) >= 0
    np.testing.assert_array_equal(y.numpy(), x[::-1])
    pinned = pk.pinned(10, np.float32, device=DEVICE)
    pinned[:] = 3
    assert pk.array(pinned, device=DEVICE).numpy().sum() == 30
