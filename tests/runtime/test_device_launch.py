"""Launches on devices with a driver: what the driver is told (null), and the right numbers (OpenCL, Vulkan)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import pykern as pk
from pykern.launching.on_device import along_axes, parts
from pykern.runtime import registry
from pykern.runtime.driver import Memory

over_gpus = pytest.mark.parametrize(
    "device", ["opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)


@pk.kernel
def saxpy(z, x, y, a):
    i = pk.index()
    z[i] = a * x[i] + y[i]


@pk.kernel
def mark(z):
    i, j = pk.index()
    z[i, j] = z[i, j] * 2 + i * 100 + j


@pk.kernel
def mark4(z, n):
    i, j, k, m = pk.index()
    z[i, j, k, m] = ((i * 10 + j) * 10 + k) * 10 + m + n


@pk.kernel(debug=True)
def beyond(z):
    i = pk.index()
    z[i + 1] = 1.0


@pk.kernel
def check(z):
    i = pk.index()
    assert z[i] < 10, "too big"


@pk.kernel
def tell(z):
    i = pk.index()
    if i == 2:
        pk.print("element", i, z[i])


@pk.kernel
def add_to(x: pk.In[pk.f32[:]], z: pk.InOut[pk.f32[:]]):
    i = pk.index()
    z[i] += x[i]


SCALE = 2.0


@pk.kernel
def scaled(z, x, a):
    i = pk.index()
    z[i] = x[i] * SCALE + a


class Weights(NamedTuple):
    left: object
    factor: float
    right: object


@pk.kernel
def weighted(z, w):
    i = pk.index()
    z[i] = w.left[i] * w.factor + w.right[i]


@pytest.fixture
def null():
    driver = registry.opened("null:0").driver
    driver.launches.clear()
    driver.waits.clear()
    return driver


# -- what the driver is told -----------------------------------------------------------------------


def test_arguments_are_memory_and_words(null):
    z, x = pk.zeros(1000, pk.f32, device="null:0"), pk.zeros((1000, 2), pk.f32, device="null:0")
    y = pk.zeros(1000, pk.f32, device="null:0")
    saxpy(z[100:], x[::-1, 1], y, np.float32(2.5), ndrange=900)
    (launch,) = null.launches
    half = int(np.float32(2.5).view(np.int32))
    assert [a if isinstance(a, int) else a.handle.ctypes.data for a in launch.arguments] == [
        z.memory.address, 100, 900,                 # dense: where it begins, its length
        x.memory.address, 999 * 2 + 1, 1000, -2,    # strided: its stride too
        y.memory.address, 0, 1000,
        half,
        900,                                        # the count
        0,                                          # the first group
    ]  # fmt: skip
    group = launch.artifact.workgroup[0]
    assert launch.group == (group, 1, 1) and launch.grid == (-(-900 // group), 1, 1)
    kinds = tuple("memory" if isinstance(a, Memory) else "slot" for a in launch.arguments)
    assert launch.artifact.device is not None and launch.artifact.device.arguments == kinds


def test_code_that_knows_no_offsets_gets_addresses(monkeypatch):
    """What CUDA's and HIP's drivers are told; nothing runs."""
    opened = registry.opened("null:1")
    monkeypatch.setattr(opened, "info", replace(opened.info, target="nvvm:sm_80"))
    opened.driver.launches.clear()
    z, x, y = (pk.zeros((1000, 2), pk.f64, device="null:1") for _ in range(3))
    for _ in range(2):  # the long way, and the short one
        scaled(z[10:, 1], x[::-1, 0], 2.0, ndrange=900)
    check(y[5:, 0], ndrange=900)
    pk.synchronize("null:1")
    *pair, last = opened.driver.launches
    for launch in pair:
        kinds = tuple("memory" if isinstance(a, Memory) else "slot" for a in launch.arguments)
        assert launch.artifact.device.arguments == kinds and not launch.artifact.device.offsets
        told = [a.address if isinstance(a, Memory) else a for a in launch.arguments]
        assert told == [
            z.memory.address + 10 * 16 + 8, 990, 2,
            x.memory.address + 999 * 16, 1000, -2,
            int(np.float64(2).view(np.int64)), 900, 0,
        ]  # fmt: skip
    kinds = tuple("memory" if isinstance(a, Memory) else "slot" for a in last.arguments)
    assert last.artifact.device.arguments == kinds and isinstance(last.arguments[-1], Memory)


def test_groups_and_axes(null):
    z = pk.zeros((70, 130), pk.f32, device="null:0")
    mark(z, ndrange=(70, 130), workgroup=(8, 32))
    mark(z, ndrange=(range(1, 69, 2), 130), workgroup=(8, 32))
    first, second = null.launches
    assert first.group == (32, 8, 1) and first.grid == (5, 9, 1)
    assert first.arguments[-4:] == (70, 130, 0, 0)
    assert second.grid == (5, 5, 1)
    assert second.arguments[-8:] == (34, 1, 2, 130, 0, 1, 0, 0)
    with pytest.raises(pk.LaunchError, match="give a smaller workgroup"):
        mark(z, ndrange=(70, 130), workgroup=(64, 64))


def test_leading_dimensions_share_an_axis(null):
    z = pk.zeros((3, 4, 5, 6), pk.f32, device="null:0")
    mark4(z, 1.0, ndrange=z.shape, workgroup=(2, 1, 2, 4))
    (launch,) = null.launches
    assert launch.group == (4, 2, 2) and launch.grid == (2, 3, 2 * 4)
    assert launch.arguments[-7:] == (3, 4, 5, 6, 0, 0, 0)


@pk.kernel
def mark_inside(z):
    i, j = pk.index()
    if i < z.shape[0] and j < z.shape[1]:
        z[i, j] = i * 100 + j


def test_long_grids_are_cut(null):
    """The null device takes 65536 x 1024 x 64 groups at once."""
    z = pk.zeros((1, 1), pk.f32, device="null:0")
    mark_inside(z, ndrange=(2500, 70000), workgroup=(1, 1))
    grids = [launch.grid for launch in null.launches]
    first = [launch.arguments[-2:] for launch in null.launches]
    assert sum(x * y for x, y, _ in grids) == 2500 * 70000
    assert first == [(0, 0), (65536, 0), (0, 1024), (65536, 1024), (0, 2048), (65536, 2048)]


def test_parts_cover_a_grid_once():
    seen = np.zeros((11, 7, 5), int)
    for (x, y, z), (a, b, c) in parts((5, 7, 11), (2, 3, 4)):
        assert a <= 2 and b <= 3 and c <= 4
        seen[z : z + c, y : y + b, x : x + a] += 1
    assert (seen == 1).all()
    assert along_axes((2, 3, 4, 5)) == (5, 4, 6) and along_axes((7,)) == (7, 1, 1)


def test_nothing_is_launched_over_nothing(null):
    z = pk.zeros((3, 0), pk.f32, device="null:0")
    assert mark(z, ndrange=(3, 0)).done
    assert not null.launches


def test_streams_are_those_asked_for(null):
    stream = pk.Stream("null:0")
    z = pk.zeros((3, 3), pk.f32, device="null:0")
    mark(z, ndrange=(3, 3), stream=stream)
    assert null.launches[-1].stream is stream.native
    mark(z, ndrange=(3, 3))
    assert null.launches[-1].stream is registry.opened("null:0").stream


def test_the_second_launch_compiles_nothing(null, monkeypatch):
    z = pk.zeros((3, 3), pk.f32, device="null:0")
    mark(z, ndrange=(3, 3))
    import pykern.launching.launch_cache as module

    monkeypatch.setattr(module, "compiled", None)
    mark(z, ndrange=(3, 3))
    assert null.launches[0].artifact is null.launches[1].artifact


def test_a_graph_of_launches(null):
    z = pk.zeros((3, 3), pk.f32, device="null:0")
    with pk.graph() as g:
        mark(z, ndrange=(3, 3))
        mark(z, ndrange=(2, 3))
    assert not null.launches
    g.replay()
    g.replay(pk.Stream("null:0"))
    assert len(null.launches) == 4
    assert null.launches[2].stream is not null.launches[0].stream


def test_a_graph_of_launches_on_the_cpu():
    z = np.zeros((3, 3))
    mark(z, ndrange=(3, 3))  # the compiled entry is in place
    z[:] = 1
    with pk.graph() as g:
        mark(z, ndrange=(3, 3))
        mark(z, ndrange=(3, 3))
    assert (z == 1).all()
    expected = np.ones((3, 3))
    for _ in range(2):
        mark(expected, ndrange=(3, 3))
        mark(expected, ndrange=(3, 3))
        g.replay()
        np.testing.assert_array_equal(z, expected)


# -- which device ----------------------------------------------------------------------------------


def test_devices_do_not_mix():
    on_0, on_1 = pk.zeros(8, pk.f32, device="null:0"), pk.zeros(8, pk.f32, device="null:1")
    host = np.zeros(8, np.float32)
    launches = [
        (lambda: saxpy(on_0, on_1, on_0, 1.0, ndrange=8), "`z` lives on null:0, and `x` on null:1"),
        (lambda: saxpy(on_0, on_0, on_0, 1.0, ndrange=8, device="null:1"), "null:0, .* asked for on null:1"),
        (lambda: saxpy(on_0, on_0, on_0, 1.0, ndrange=8, device="cpu"), "null:0, and the launch is asked for on cpu"),
        (lambda: saxpy(on_0, host, on_0, 1.0, ndrange=8), "`x` lives on cpu, and other arguments live on null:0"),
        (lambda: saxpy(on_0, on_0, on_0, 1.0, ndrange=8, stream=pk.Stream("null:1")), "null:0, .* null:1"),
        (lambda: weighted(on_0, Weights(on_0, 1.0, on_1), ndrange=8), r"`z` lives on null:0, and `w\.right` on null:1"),
    ]  # fmt: skip
    for launch, said in launches:
        with pytest.raises(pk.DeviceError, match=said):
            launch()


def test_arrays_choose_before_a_block_does(null):
    z = pk.zeros(8, pk.f32, device="null:0")
    with pk.device("null:1"):
        saxpy(z, z, z, 1.0, ndrange=8)
    assert len(null.launches) == 1


def test_a_block_is_seen_by_calls_that_are_compiled(null):
    """The compiled CPython entry of the CPU is in place, and steps aside inside of the block only."""
    z = np.zeros((3, 3), np.float32)
    for _ in range(3):
        mark(z, ndrange=(3, 3))
    before = z.copy()
    with pk.device("null:0"):
        mark(z, ndrange=(3, 3))
    assert len(null.launches) == 1
    np.testing.assert_array_equal(z, before)  # the null device runs nothing
    mark(z, ndrange=(3, 3))
    assert (z != before).any() and len(null.launches) == 1


def test_arrays_on_the_cpu_are_programs_arguments(rng):
    @pk.jit
    def double(x):
        return x * 2

    x = rng.random(5)
    np.testing.assert_array_equal(double(pk.asarray(x, device="cpu")), x * 2)


def test_arrays_on_the_cpu_launch_like_numpys(rng):
    x, y = rng.random((2, 9)).astype(np.float32)
    z = pk.zeros(9, pk.f32, device="cpu")
    for device in (None, "cpu", "python"):
        z.fill(0)
        saxpy(z, pk.asarray(x, device="cpu"), y, np.float32(2), ndrange=9, device=device)
        np.testing.assert_allclose(z.numpy(), 2 * x + y, rtol=1e-6)
    saxpy(z, x, y, np.float32(3), ndrange=9, stream=pk.Stream("cpu")).wait()
    np.testing.assert_allclose(z.numpy(), 3 * x + y, rtol=1e-6)


def test_freed_and_read_only_arrays_are_refused():
    z = pk.zeros(8, pk.f32, device="null:0")
    x = np.zeros(8, np.float32)
    x.flags.writeable = False
    with pytest.raises(pk.LaunchError, match="`z` is read-only"):
        saxpy(x, x, x, 1.0, ndrange=8, device="null:0")
    z.free()
    with pytest.raises(pk.UsedAfterFree):
        saxpy(z, z, z, 1.0, ndrange=8)


def test_arguments_that_overlap():
    z = pk.zeros(100, pk.f32, device="null:0")
    x = np.zeros(100, np.float32)
    saxpy(z, z, z, 1.0, ndrange=100)
    saxpy(z[:50], z[50:], z[50:], 1.0, ndrange=50)
    with pytest.raises(pk.LaunchError, match="overlap in part"):
        saxpy(z[1:], z[:-1], z[:-1], 1.0, ndrange=99)
    with pytest.raises(pk.LaunchError, match="overlap in part"):
        saxpy(x[1:], x[:-1], x[:-1], 1.0, ndrange=99, device="null:0")


def test_a_dtype_that_a_device_has_not(monkeypatch):
    opened = registry.opened("null:1")
    monkeypatch.setattr(opened, "info", replace(opened.info, dtypes=frozenset({"f32", "i32"})))
    z = pk.zeros(8, pk.f64, device="null:1")
    with pytest.raises(
        pk.DeviceError, match=r"`z` holds f64, which null:1 \(nothing\) does not compute with"
    ):
        saxpy(z, z, z, 1.0, ndrange=8)


# -- the right numbers -----------------------------------------------------------------------------


@over_gpus
@pytest.mark.parametrize("n", [1, 255, 256, 257, 100_003])
def test_one_dimension(device, n, rng):
    x, y = rng.random((2, n)).astype(np.float32)
    z = pk.empty(n, pk.f32, device=device)
    event = saxpy(z, pk.asarray(x, device=device), pk.asarray(y, device=device), np.float32(3), ndrange=n)
    event.wait()
    assert event.done
    np.testing.assert_allclose(z.numpy(), 3 * x + y, rtol=1e-6)


@over_gpus
@pytest.mark.parametrize("shape", [(1, 1), (4, 64), (5, 65), (37, 53)])
def test_two_dimensions_and_views(device, shape, rng):
    x = rng.random(shape)
    a = pk.array(x, device=device)
    i, j = np.indices(shape)
    mark(a, ndrange=shape)
    np.testing.assert_allclose(a.numpy(), x * 2 + i * 100 + j)
    a = pk.array(x, device=device)
    part = x[::-1, ::2]
    mark(a[::-1, ::2], ndrange=part.shape, workgroup=(2, 16))
    i, j = np.indices(part.shape)
    expected = x.copy()
    expected[::-1, ::2] = part * 2 + i * 100 + j
    np.testing.assert_allclose(a.numpy(), expected)


@over_gpus
def test_four_dimensions(device):
    shape = (3, 4, 5, 6)
    z = pk.zeros(shape, pk.f32, device=device)
    mark4(z, np.float32(0.5), ndrange=shape, workgroup=(2, 2, 2, 4))
    i, j, k, m = np.indices(shape)
    np.testing.assert_array_equal(z.numpy(), (((i * 10 + j) * 10 + k) * 10 + m + 0.5).astype(np.float32))


@over_gpus
def test_cut_launches_are_one(device, monkeypatch):
    opened = registry.opened(device)
    monkeypatch.setattr(opened, "info", replace(opened.info, max_grid=(2, 3, 2)))
    shape = (3, 4, 50, 60)
    z = pk.zeros(shape, pk.f32, device=device)
    mark4(z, np.float32(0), ndrange=shape, workgroup=(2, 1, 4, 8))
    i, j, k, m = np.indices(shape)
    np.testing.assert_array_equal(z.numpy(), ((i * 10 + j) * 10 + k) * 10 + m)


@over_gpus
def test_ranges_with_steps(device, rng):
    x = rng.random((30, 40)).astype(np.float32)
    a = pk.array(x, device=device)
    mark(a, ndrange=(range(1, 29, 3), range(38, 2, -5)))
    expected = x.copy()
    for i in range(1, 29, 3):
        for j in range(38, 2, -5):
            expected[i, j] = x[i, j] * 2 + i * 100 + j
    np.testing.assert_allclose(a.numpy(), expected, rtol=1e-6)


@over_gpus
def test_numpys_arrays_are_copied_there_and_back(device, rng):
    x, y = rng.random((2, 501)).astype(np.float32)
    z = np.zeros((501, 2), np.float32)
    assert saxpy(z[::-1, 1], x, y, np.float32(2), ndrange=501, device=device).done
    np.testing.assert_allclose(z[::-1, 1], 2 * x + y, rtol=1e-6)
    assert (z[:, 0] == 0).all()
    with pk.device(device):
        saxpy(x, x, y, np.float32(2), ndrange=501)  # one and the same view stays one
    np.testing.assert_allclose(x, z[::-1, 1], rtol=1e-6)
    here = pk.zeros(501, pk.f32, device="cpu")
    saxpy(here, pk.asarray(x, device="cpu"), y, np.float32(2), ndrange=501, device=device)
    np.testing.assert_allclose(here.numpy(), 2 * x + y, rtol=1e-6)
    on_device = pk.array(y, device=device)
    saxpy(z[:, 0], on_device, y, np.float32(1), ndrange=501, device=device)
    np.testing.assert_allclose(z[:, 0], 2 * y, rtol=1e-6)


@over_gpus
def test_structs_of_arrays(device, rng):
    left, right = rng.random((2, 77))
    z = pk.zeros(77, pk.f64, device=device)
    w = Weights(pk.array(left, device=device), 1.5, pk.array(right, device=device))
    weighted(z, w, ndrange=77)
    np.testing.assert_allclose(z.numpy(), left * 1.5 + right)


@over_gpus
def test_launches_of_a_stream_are_in_order(device, rng):
    """Each adds to what the one before left; two streams join through an event."""
    x = rng.random(5000).astype(np.float32)
    first, second = pk.Stream(device, "high"), pk.Stream(device, "low")
    a, z = pk.array(x, device=device), pk.zeros(5000, pk.f32, device=device)
    for _ in range(10):
        event = add_to(a, z, ndrange=5000, stream=first)
    second.wait(event)
    add_to(z, a, ndrange=5000, stream=second).wait()
    total = np.zeros_like(x)
    for _ in range(10):
        total += x
    np.testing.assert_allclose(a.numpy(), x + total, rtol=1e-6)


@over_gpus
def test_a_graph_is_replayed(device, rng):
    x = rng.random(1000).astype(np.float32)
    a, z = pk.array(x, device=device), pk.zeros(1000, pk.f32, device=device)
    with pk.graph() as g:
        pk.copyto(z, 0)
        add_to(a, z, ndrange=1000)
        add_to(a, z, ndrange=1000)
    for factor in (1, 3):
        pk.copyto(a, x * factor)
        g.replay().wait()
        np.testing.assert_allclose(z.numpy(), 2 * factor * x, rtol=1e-6)


# -- reports ---------------------------------------------------------------------------------------


@over_gpus
def test_out_of_bounds_is_raised_by_the_launch(device):
    z = pk.zeros(5, pk.f64, device=device)
    with pytest.raises(pk.OutOfBounds, match="index 5 is outside of `z`, whose shape is 5") as caught:
        beyond(z, ndrange=5)
    assert caught.value.span.line == beyond.__wrapped__.__code__.co_firstlineno + 3
    np.testing.assert_array_equal(z.numpy(), [0, 1, 1, 1, 1])
    beyond(z, ndrange=4)


@over_gpus
def test_asserts_are_raised_by_whoever_waits(device):
    z = pk.array(np.arange(20.0), device=device)
    waits = [
        lambda event, stream: event.wait(),
        lambda event, stream: stream.synchronize(),
        lambda event, stream: pk.synchronize(device),
        lambda event, stream: stream.record().wait(),
        lambda event, stream: z.numpy(),
    ]
    for wait in waits:
        stream = pk.Stream(device)
        event = check(z, ndrange=20, stream=stream)
        with pytest.raises(pk.AssertionFailed, match="too big"):
            wait(event, stream)
        event.wait()  # told once
    check(z, ndrange=10).wait()


@over_gpus
def test_a_failed_launch_touches_no_other(device):
    z = pk.array(np.arange(20.0), device=device)
    stream = pk.Stream(device)
    good = check(z, ndrange=10, stream=stream)
    bad = check(z, ndrange=20, stream=stream)
    good.wait()
    with pytest.raises(pk.AssertionFailed):
        bad.wait()


@over_gpus
def test_prints(device, capfd):
    z = pk.array(np.arange(5) * 1.5, device=device)
    tell(z, ndrange=5).wait()
    assert re.fullmatch(r"element 2 3\.0\n", capfd.readouterr().out)


@pytest.mark.parametrize("level", ["auto", "direct"])
@over_gpus
def test_gradients_run_where_the_arrays_live(device, level, rng):
    x, y, seed = rng.random((3, 50)).astype(np.float32)
    arrays = [
        pk.array(v, device=device) for v in (np.zeros_like(x), seed, x, np.zeros_like(x), y, np.zeros_like(x))
    ]
    z, dz, a, da, b, db = arrays
    pk.autodiff(saxpy, level=level)(pk.Dup(z, dz), pk.Dup(a, da), pk.Dup(b, db), np.float32(3), ndrange=50)
    np.testing.assert_allclose(da.numpy(), 3 * seed, rtol=1e-6)
    np.testing.assert_allclose(db.numpy(), seed, rtol=1e-6)


def test_lower_goes_where_the_arrays_live(null):
    z = pk.zeros(8, pk.f32, device="null:0")
    lowered = saxpy.lower(z, z[::2], z, 1.0, ndrange=8)
    assert lowered.artifact.target == "spirv:opencl3.0"
    assert "spirv.module" in lowered.as_text("spirv-assemble") or lowered.artifact.binary[:4] == b"\3\2\43\7"
    assert saxpy.lower(z, z, z, 1.0, ndrange=8, target="llvm").artifact.target == "llvm"


def test_code_for_devices_is_kept_on_disk(null, monkeypatch):
    """Another kernel object of the same function, as in another process, needs no compiler."""
    z = pk.zeros((3, 3), pk.f32, device="null:0")
    mark(z, ndrange=(3, 3))
    import pykern.obtain.code as module

    monkeypatch.setattr(module, "service", None)
    pk.kernel(mark.__wrapped__)(z, ndrange=(3, 3))
    first, second = null.launches
    assert first.artifact.key and first.artifact.key == second.artifact.key
    assert first.artifact.device == second.artifact.device and first.artifact.binary == second.artifact.binary


def test_many_launches_that_report_do_not_pile_up(null):
    z = pk.zeros(8, pk.f64, device="null:0")
    stream = pk.Stream("null:0")
    live = pk.memory_stats("null:0").live
    for _ in range(500):
        check(z, ndrange=8, stream=stream)
    assert pk.memory_stats("null:0").live - live <= 65
    stream.synchronize()
    assert pk.memory_stats("null:0").live == live


# -- the short way ---------------------------------------------------------------------------------


@over_gpus
def test_repeated_launches_look_at_each_call(device, rng, monkeypatch):
    """Lengths, strides, offsets, dtypes, scalars and captured values are those of the call, not of the first."""
    x = rng.random(400)
    a, z = pk.array(x, device=device), pk.zeros(400, pk.f64, device=device)
    b, w = pk.array(x.astype(np.float32), device=device), pk.zeros(400, pk.f32, device=device)
    for number in range(6):
        part = [np.s_[:100], np.s_[7:399], np.s_[::3], np.s_[::-2], np.s_[::3], np.s_[300:]][number]
        n = x[part].size
        scaled(z[part], a[part], number * 1.5, ndrange=n)
        np.testing.assert_allclose(z.numpy()[part], x[part] * SCALE + number * 1.5)
        scaled(w[part], b[part], np.float32(number), ndrange=n)
        np.testing.assert_allclose(w.numpy()[part], x[part] * SCALE + number, rtol=1e-6)
        scaled(z[part], a[part], number, ndrange=range(0, n, 2))
        np.testing.assert_allclose(z.numpy()[part][::2], (x[part] * SCALE + number)[::2])
    monkeypatch.setitem(globals(), "SCALE", -3.0)
    scaled(z, a, 1.0, ndrange=400)
    np.testing.assert_allclose(z.numpy(), x * -3 + 1)
    z.free()
    with pytest.raises(pk.UsedAfterFree):
        scaled(z, a, 1.0, ndrange=400)


def test_repeated_launches_still_refuse(null):
    z, x = pk.zeros(100, pk.f32, device="null:0"), pk.zeros(100, pk.f32, device="null:0")
    for _ in range(3):
        scaled(z, x, 1.0, ndrange=100)
    with pytest.raises(pk.LaunchError, match="overlap in part"):
        scaled(z[1:], z[:-1], 1.0, ndrange=99)
    saxpy(z, x, pk.zeros_like(x), 1, ndrange=100)
    with pytest.raises(pk.LaunchError, match="more than 64 bits"):
        saxpy(z, x, pk.zeros_like(x), 1 << 70, ndrange=100)
    with pytest.raises(pk.DeviceError, match="null:1"):
        scaled(z, pk.zeros(100, pk.f32, device="null:1"), 1.0, ndrange=100)
    host = np.zeros(100, np.float32)
    host.flags.writeable = False
    borrowed = pk.from_pointer(host.ctypes.data, 100, pk.f32, "null:0", host)
    borrowed._allocation.readonly = True
    with pytest.raises(pk.LaunchError, match="read-only"):
        scaled(borrowed, x, 1.0, ndrange=100)
    assert len(null.launches) == 4


# -- the very same launch again --------------------------------------------------------------------


@pk.kernel
def shifted(z, x, a):
    i = pk.index()
    z[i] = x[i] * a + OFFSET


OFFSET = 1.0


@over_gpus
def test_launches_that_repeat(device, rng, monkeypatch):
    """What is the same object is launched as before; other arrays in its place, numbers, names and streams count."""
    hx = rng.random(300)
    x, z = pk.array(hx, device=device), pk.zeros(300, pk.f64, device=device)
    stream = pk.Stream(device)
    for a in (2.0, 2.0, 2.0, 3.0, 2.0, 3.0, 3.0):
        for given in ({}, {"stream": stream}, {"workgroup": 32}):
            pk.copyto(z, 0)
            pk.synchronize(device)
            shifted(z, x, a, ndrange=300, **given).wait()
            np.testing.assert_array_equal(z.numpy(), hx * a + 1)
    monkeypatch.setitem(globals(), "OFFSET", 5.0)
    for _ in range(3):
        shifted(z, x, 2.0, ndrange=300)
        np.testing.assert_array_equal(z.numpy(), hx * 2.0 + 5)
    for n in (100, 299):
        pk.copyto(z, 0)
        for _ in range(3):
            shifted(z, x, 2.0, ndrange=n)
        np.testing.assert_array_equal(z.numpy(), np.where(np.arange(300) < n, hx * 2.0 + 5, 0))
    for _ in range(4):  # arrays of one call at the address of the last call's
        hy = rng.random(300)
        y = pk.array(hy, device=device)
        shifted(z, y, 2.0, ndrange=300)
        np.testing.assert_array_equal(z.numpy(), hy * 2.0 + 5)
        del y
    ranges = [range(10), range(100, 120)]
    for _ in range(4):
        pk.copyto(z, 0)
        shifted(z, x, 2.0, ndrange=ranges)
        there = np.zeros(300, bool)
        there[:10] = there[100:120] = True
        np.testing.assert_array_equal(z.numpy(), np.where(there, hx * 2.0 + 5, 0))
    with pk.graph() as g:
        shifted(z, x, 2.0, ndrange=300)
    assert len(g) == 1
    x.free()
    with pytest.raises(pk.UsedAfterFree):
        shifted(z, x, 2.0, ndrange=300)


def test_repeats_keep_no_array():
    x, z = pk.zeros(300, pk.f64, device="null:0"), pk.zeros(300, pk.f64, device="null:0")
    for _ in range(5):
        shifted(z, x, 2.0, ndrange=300)
    live = pk.memory_stats("null:0").live
    del x
    assert pk.memory_stats("null:0").live == live - 1
