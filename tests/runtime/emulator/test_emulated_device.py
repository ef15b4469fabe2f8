"""Kernels on emulated GPUs: the drivers, the compiled entries and errors, as a user meets them."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import DataRace, DeviceError, KernelError, OutOfBounds, OutOfMemory
from pykern.runtime import registry
from pykern.runtime.emulator.amd.bindings import CHIPS
from pykern.runtime.emulator.bindings import SHARED
from pykern.runtime.launchable import SUPPORTED

DEVICES = ("cuda:emulated", "rocm:emulated", "rocm:emulated:gfx1100")
over_devices = pytest.mark.parametrize("device", DEVICES)
TARGETS = {
    **{f"cuda:emulated:{number}": (f"nvvm:sm_{number}", "+ptx+lines") for number in SHARED},
    **{f"rocm:emulated:{chip}": (f"rocdl:{chip}", "+assembly+lines") for chip in CHIPS},
}
"""Every emulated chip, and the begin and the end of its target's name."""


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


def on_device(device, *arrays):
    return [pk.array(array, device=device) for array in arrays]


@pytest.mark.parametrize("name", TARGETS)
def test_every_chip_runs(name, rng):
    info, (begin, end) = pk.device(name).info, TARGETS[name]
    assert info.target.startswith(begin) and info.target.endswith(end)
    x, at = rng.random(100, dtype=np.float32), rng.integers(0, 100, 70, dtype=np.int32)
    y = np.zeros(70, np.float32)
    gather(y, x, at, ndrange=70, device=name)
    np.testing.assert_array_equal(y, x[at])


@pytest.mark.parametrize(
    ("kind", "chip", "wrong"),
    [("cuda:emulated", "80", ("fast", "7")), ("rocm:emulated", "gfx942", ("fast", "942", "gfx7", "gfx906"))],
)
def test_their_names(kind, chip, wrong):
    assert str(pk.device(kind)) == str(pk.device(f"{kind}:{chip}")) == f"{kind}:{chip}"
    assert all(device.name.count(":") < 2 for device in pk.devices())  # used where they are named
    for name in wrong:
        with pytest.raises(DeviceError, match=f"no device '{kind}:{name}'") as caught:
            pk.device(f"{kind}:{name}")
        assert caught.value.hint and f"{kind}:{chip}" in caught.value.hint


@pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython")
@over_devices
def test_compiled_entries_launch(device, rng, monkeypatch):
    """From the third launch of a kind on, no Python of pykern's runs before the driver's function."""

    @pk.kernel
    def add(y, x):
        i = pk.index()
        y[i] += x[i]

    x = rng.random(300, dtype=np.float32)
    dx, dy = on_device(device, x, np.zeros_like(x))
    add(dy, dx, ndrange=300)
    add(dy, dx, ndrange=300)
    monkeypatch.setattr(add.launcher, "launch", None)
    add(dy, dx, ndrange=300)
    np.testing.assert_allclose(dy.numpy(), 3 * x, rtol=1e-6)


def line_of(error: KernelError) -> str:
    assert error.span is not None
    return error.span.source_line().strip()


@over_devices
@pytest.mark.parametrize("launches", [1, 4])
def test_an_access_behind_an_array_names_its_line(launches, device):
    """Also from a compiled entry, and the device goes on afterwards."""
    x, y, at = on_device(
        device, np.ones(100, np.float32), np.zeros(50, np.float32), np.arange(50, dtype=np.int32)
    )
    for _ in range(launches - 1):
        gather(y, x, at, ndrange=50)
    wrong = on_device(device, np.full(50, 100, np.int32))[0]
    with pytest.raises(OutOfBounds, match=r"0 bytes behind the end of an allocation of 400 bytes") as caught:
        gather(y, x, wrong, ndrange=50)
    assert line_of(caught.value) == "y[i] = x[at[i]]"
    gather(y, x, at, ndrange=50)
    assert y.numpy().all()


@over_devices
def test_a_race_names_its_line(device):
    x, y = on_device(device, np.zeros(128, np.float32), np.zeros(128, np.float32))
    with pytest.raises(DataRace) as caught:
        reversed_twice(y, x, ndrange=128)
    assert line_of(caught.value).startswith(("held[k] = other", "other = held"))


@over_devices
def test_a_barrier_that_is_missing(device):
    @pk.kernel(workgroup=64)
    def reverse(y, x):
        held = pk.shared(64, pk.f32)
        k = pk.local_index()
        held[k] = x[pk.index()]
        y[pk.index()] = held[63 - k]

    wrong = "no barrier between them|no work-item of the group has written"  # compilers may read first
    with pytest.raises(KernelError, match=wrong) as caught:
        reverse(*on_device(device, np.zeros(64, np.float32), np.ones(64, np.float32)), ndrange=64)
    assert line_of(caught.value) in ("held[k] = x[pk.index()]", "y[pk.index()] = held[63 - k]")


@over_devices
def test_shared_memory_that_nobody_wrote(device):
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
        half(np.zeros(32, np.float32), ndrange=32, device=device)
    assert line_of(caught.value) == "y[pk.index()] = held[2 * k]"


@over_devices
def test_a_line_of_a_function_that_is_called(device):
    @pk.func
    def read(x, i):
        return x[i]

    @pk.kernel
    def calls(y, x, at):
        i = pk.index()
        y[i] = read(x, at[i])

    indices = np.array([0, 1, 2, 9], np.int32)
    x, y, at = on_device(device, np.zeros(8, np.float32), np.zeros(4, np.float32), indices)
    with pytest.raises(OutOfBounds) as caught:
        calls(y, x, at, ndrange=4)
    assert line_of(caught.value) == "return x[i]"


@over_devices
@pytest.mark.parametrize("group", [(32, 32), (2, 300), (1024,)])
def test_the_largest_groups(group, device, rng):
    """Each with a barrier, several groups one after the other; what a process keeps beside them is not touched."""

    @pk.kernel
    def turned(y, x):
        k = pk.subgroup_index() * pk.subgroup_size() + pk.lane_index()
        held = pk.shared(1024, pk.f32)
        at = pk.index()
        held[k] = x[at]
        pk.barrier()
        y[at] = held[k]

    shape = tuple(3 * n for n in group)
    x = rng.random(shape, dtype=np.float32)
    for _ in range(5):
        dx, dy = on_device(device, x, np.zeros_like(x))
        turned(dy, dx, ndrange=shape, workgroup=group)
        np.testing.assert_array_equal(dy.numpy(), x)


@over_devices
def test_there_is_an_end_to_its_memory(device):
    with pytest.raises(OutOfMemory):
        pk.zeros(registry.info(device).memory_bytes // 4 + 1, np.float32, device=device)


@over_devices
def test_streams_events_and_pinned_memory(device, rng):
    x = rng.random(1000, dtype=np.float32)
    stream = pk.Stream(device)
    dx, y, at = on_device(device, x, np.zeros(1000, np.float32), np.arange(1000, dtype=np.int32)[::-1].copy())
    start, end = pk.Event(), pk.Event()
    start.record(stream)
    gather(y, dx, at, ndrange=1000, stream=stream)
    end.record(stream)
    end.wait()
    assert start.elapsed(end) >= 0
    np.testing.assert_array_equal(y.numpy(), x[::-1])
    pinned = pk.pinned(10, np.float32, device=device)
    pinned[:] = 3
    assert pk.array(pinned, device=device).numpy().sum() == 30


@over_devices
def test_a_graph_of_launches_in_two_streams(device, rng):
    x = rng.random(500, dtype=np.float32)
    at = np.arange(500, dtype=np.int32)[::-1].copy()
    first, second = pk.Stream(device), pk.Stream(device)
    dx, middle, y, places = on_device(device, x, np.zeros_like(x), np.zeros_like(x), at)
    gather(y, dx, places, ndrange=500).wait()
    with pk.graph() as captured:
        done = gather(middle, dx, places, ndrange=500, stream=first)
        second.wait(done)
        gather(y, middle, places, ndrange=500, stream=second)
    for _ in range(2):
        pk.copyto(dx, x)
        captured.replay().wait()
        np.testing.assert_array_equal(y.numpy(), x)
        x = rng.random(500, dtype=np.float32)


@over_devices
def test_what_the_device_refuses_is_an_error_and_it_goes_on(device, rng):
    x = rng.random(100, dtype=np.float32)
    dx, y, at = on_device(device, x, np.zeros_like(x), np.arange(100, dtype=np.int32))
    with pytest.raises(KernelError, match="a group of 4096 work-items"):
        gather(y, dx, at, ndrange=100, workgroup=4096)

    @pk.kernel
    def held(y):
        cells = pk.shared(None, pk.f32)
        cells[pk.local_index()] = 1
        y[pk.index()] = cells[pk.local_index()]

    with pytest.raises(KernelError, match="shared"):
        held(y, ndrange=100, workgroup=100, shared_bytes=1 << 20)
    gather(y, dx, at, ndrange=100)
    np.testing.assert_array_equal(y.numpy(), x)


@over_devices
def test_other_libraries_are_told_that_they_cannot_see_its_memory(device, rng):
    (x,) = on_device(device, rng.random(10, dtype=np.float32))
    with pytest.raises(BufferError, match=f"no devices of {device.partition(':')[0]}:emulated"):
        np.from_dlpack(x)
    copied = np.from_dlpack(pk.asarray(x.numpy()))
    np.testing.assert_array_equal(copied, x.numpy())
