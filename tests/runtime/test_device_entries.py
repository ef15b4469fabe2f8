"""Compiled entries: launches that are repeated run no Python, and tell as much when something is wrong."""

from __future__ import annotations

import ctypes
import gc
import importlib
import sys
import threading

import numpy as np
import pytest

import pykern as pk
from pykern.errors import DeviceError, LaunchError, UsedAfterFree
from pykern.launching import device_entries
from pykern.runtime import registry
from pykern.runtime.launchable import SUPPORTED
from tests.cases.adapted import code_is_there
from tests.runtime.fake_bindings import Machine, Result, fake_cuda

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython")

OPENCL = pytest.mark.parametrize("device", ["opencl:0"], indirect=True)
SCALE = 3.0


class Counted:
    """How often calls of a kernel went through Python."""

    def __init__(self, kernel) -> None:
        self.count, self.launch = 0, kernel.launcher.launch
        kernel.launcher.launch = self

    def __call__(self, args, keywords):
        self.count += 1
        return self.launch(args, keywords)


def made(**options):
    """A kernel of its own, which no other test has launched."""

    @pk.kernel(**options)
    def add(y, x, a):
        i = pk.index()
        y[i] = a * x[i] + y[i]

    return add, Counted(add)


def pair(device, n=1000, dtype=np.float32):
    rng = np.random.default_rng(n)
    x, y = rng.integers(-9, 9, n).astype(dtype), rng.integers(-9, 9, n).astype(dtype)
    return x, y, pk.array(x, device=device), pk.array(y, device=device)


@OPENCL
def test_from_the_third_launch_on_no_python_runs(device):
    add, python = made()
    hx, hy, x, y = pair(device)
    for _ in range(10):
        add(y, x, 2.0, ndrange=1000)
        hy += 2 * hx
    np.testing.assert_array_equal(y.numpy(), hy)
    assert python.count == 2
    add(y, x, -1.5, ndrange=499)  # other numbers are the same kind
    hy[:499] -= 1.5 * hx[:499]
    np.testing.assert_array_equal(y.numpy(), hy)
    assert python.count == 2


@OPENCL
def test_a_tuple_of_one_length_is_no_other_call(device):
    add, python = made()
    hx, hy, x, y = pair(device)
    for _ in range(4):
        add(y, x, 2.0, ndrange=x.shape, workgroup=(50,))
        hy += 2 * hx
    np.testing.assert_array_equal(y.numpy(), hy)
    assert python.count == 2
    with pytest.raises(LaunchError):
        add(y, x, 2.0, ndrange=(1000, 1), workgroup=(50, 1, 1))


@OPENCL
def test_a_number_with_an_intent_is_what_it_is_annotated(device):
    @pk.kernel
    def fill(y, a: pk.In[pk.f32]):
        y[pk.index()] = a

    python = Counted(fill)
    y = pk.zeros(9, pk.f32, device=device)
    for n in range(6):
        fill(y, 1.5 + n, ndrange=9)
        np.testing.assert_array_equal(y.numpy(), np.full(9, 1.5 + n, np.float32))
    assert python.count == 2


@OPENCL
def test_other_arrays_go_through_python_once(device):
    add, python = made()
    _, _, x, y = pair(device)
    for _ in range(3):
        add(y, x, 2.0, ndrange=1000)
    for n in (17, 2000):
        hx, hy, x, y = pair(device, n)
        before = python.count
        for _ in range(4):
            add(y, x, 1.0, ndrange=n)
        np.testing.assert_array_equal(y.numpy(), hy + 4 * hx)
        assert python.count == before + 1


@OPENCL
@pytest.mark.parametrize("shape", [(7,), (33, 65), (5, 6, 70), (2, 3, 4, 20)])
@pytest.mark.parametrize("strided", [False, True])
def test_index_spaces_and_layouts(device, shape, strided, rng):
    @pk.kernel
    def shifted(y, x):
        if len(y.shape) == 1:
            i = pk.index()
            y[i] = x[i] + i
        elif len(y.shape) == 2:
            i, j = pk.index()
            y[i, j] = x[i, j] + 100 * i + j
        elif len(y.shape) == 3:
            i, j, k = pk.index()
            y[i, j, k] = x[i, j, k] + 10000 * i + 100 * j + k
        else:
            i, j, k, m = pk.index()
            y[i, j, k, m] = x[i, j, k, m] + 1000000 * i + 10000 * j + 100 * k + m

    python = Counted(shifted)
    hx = rng.integers(0, 50, tuple(2 * n for n in shape)).astype(np.int32)
    part = tuple(slice(1, None, 2) for _ in shape) if strided else tuple(slice(0, n) for n in shape)
    x = pk.array(hx, device=device)[part]
    x = x if strided else x.copy()
    y = pk.zeros(shape, pk.i32, device=device)
    for _ in range(4):
        y[...] = 0
        shifted(y, x, ndrange=shape if len(shape) > 1 else shape[0])
    places = np.indices(shape)
    want = hx[part] + sum(p * 100 ** (len(shape) - 1 - d) for d, p in enumerate(places))
    np.testing.assert_array_equal(y.numpy(), want)
    assert python.count == 2


@OPENCL
def test_keywords_in_any_order(device):
    add, python = made()
    stream = pk.Stream(device)
    hx, hy, x, y = pair(device)
    for _ in range(3):
        add(y, x, 1.0, ndrange=1000, workgroup=50, stream=stream)
    assert python.count == 2
    add(y, x, 1.0, stream=stream, ndrange=1000, workgroup=50)
    assert python.count == 2
    add(y, x, 1.0, ndrange=1000, workgroup=25, stream=stream)  # other code
    add(y, x, 1.0, ndrange=1000, stream=stream)
    assert python.count == 4
    stream.synchronize()
    np.testing.assert_array_equal(y.numpy(), hy + 6 * hx)
    with pytest.raises(LaunchError, match=r"is no pk\.Stream"):
        add(y, x, 1.0, ndrange=1000, workgroup=50, stream=7)
    with pytest.raises(DeviceError, match="asked for on null:0"):
        add(y, x, 1.0, ndrange=1000, workgroup=50, stream=pk.Stream("null:0"))


@OPENCL
def test_a_static_ndrange_needs_no_keyword(device):
    add, python = made(ndrange=1000)
    hx, hy, x, y = pair(device)
    for _ in range(5):
        add(y, x, 1.0)
    np.testing.assert_array_equal(y.numpy(), hy + 5 * hx)
    assert python.count == 2


@OPENCL
@pytest.mark.parametrize(
    ("numbers", "dtype"),
    [((3, -4, 2**40), np.int64), ((np.int8(-3), np.int8(4), np.int8(5)), np.int8),
     ((0.5, np.inf, -2.0), np.float64), ((np.uint16(65535), np.uint16(1), np.uint16(7)), np.uint16),
     ((np.float32(0.5), np.float32(-0.0), np.float32(3)), np.float32)],
)  # fmt: skip
def test_numbers(device, numbers, dtype):
    @pk.kernel
    def put(y, a):
        y[pk.index()] = a

    python = Counted(put)
    y = pk.zeros(3, dtype, device=device)
    for number in (*numbers[:1], *numbers):
        put(y, number, ndrange=3)
    assert python.count == 2
    np.testing.assert_array_equal(y.numpy(), np.full(3, numbers[-1], dtype))


def entered(device, **options):
    """A kernel with an entry, and arrays that it knows."""
    add, python = made(**options)
    hx, hy, x, y = pair(device)
    for _ in range(3):
        add(y, x, 0.0, ndrange=1000)
    assert python.count == 2
    return add, python, hx, hy, x, y


@OPENCL
def test_a_freed_array_is_refused(device):
    add, _, _, _, x, y = entered(device)
    view = x[:1000]
    add(y, view, 0.0, ndrange=1000)
    x.free()
    for gone in (x, view):
        with pytest.raises(UsedAfterFree):
            add(y, gone, 0.0, ndrange=1000)


@OPENCL
def test_overlap_is_refused_or_compiled_for(device):
    add, python, _, hy, _, y = entered(device)
    with pytest.raises(LaunchError, match="overlap"):
        add(y[1:], y[:-1], 1.0, ndrange=999)
    before = python.count
    for _ in range(3):
        add(y[:400], y[500:], 1.0, ndrange=400)  # apart; views of the moment are told once each
    want = hy.copy()
    want[:400] += 3 * hy[500:900]
    np.testing.assert_array_equal(y.numpy(), want)
    assert python.count > before
    add(y, y, 1.0, ndrange=1000)
    np.testing.assert_array_equal(y.numpy(), 2 * want)


@OPENCL
def test_other_kinds_go_on_to_python(device):
    add, python, hx, hy, x, y = entered(device)
    calls = python.count
    with pytest.raises(LaunchError):
        add(y, x, 1.0, ndrange=-5)
    with pytest.raises(LaunchError):
        add(y, x, 1.0)
    with pytest.raises(pk.KernelTypeError):
        add(y, x, ndrange=5)
    with pytest.raises(DeviceError, match="lives on"):
        add(y, pk.zeros(1000, pk.f32, device="null:0"), 1.0, ndrange=5)
    add(y, x, 1.0, ndrange=0)
    add(y, x, 1, ndrange=1000)  # a Python int is another kind
    add(y, x, 1.0, ndrange=[(1000,), (10,)])
    assert python.count == calls + 7
    np.testing.assert_array_equal(y.numpy(), hy + 2 * hx + np.where(np.arange(1000) < 10, hx, 0))


@OPENCL
def test_calls_in_another_form_are_adapted(device):
    code_is_there()
    add, python, hx, hy, x, y = entered(device)
    add(y, x, a=0.0, ndrange=1000)  # from here on they are looked at
    calls = python.count
    add(y, a=1.0, x=x, ndrange=1000)
    add(y, x, 1.0, ndrange=np.int64(1000))
    add(y, x, 1.0, ndrange=(range(1000),))
    assert python.count == calls
    np.testing.assert_array_equal(y.numpy(), hy + 3 * hx)
    with pytest.raises(pk.KernelTypeError, match="multiple values"):
        add(y, x, 1.0, a=1.0, ndrange=1000)


@OPENCL
def test_blocks_graphs_and_captured_names(device):
    global SCALE

    @pk.kernel
    def scaled(y):
        y[pk.index()] = SCALE

    python = Counted(scaled)
    y = pk.zeros(8, pk.f32, device=device)
    for _ in range(3):
        scaled(y, ndrange=8)
    assert python.count == 2
    try:
        SCALE = 4.0
        scaled(y, ndrange=8)
        assert y.numpy()[3] == 4.0 and python.count == 3
    finally:
        SCALE = 3.0
    with pk.device("python"), pytest.raises(DeviceError):
        scaled(y, ndrange=8, device="python")
    with pk.graph() as captured:
        scaled(y, ndrange=8)
    assert len(captured) == 1
    y[...] = 0
    captured.replay().wait()
    np.testing.assert_array_equal(y.numpy(), np.full(8, 3, np.float32))


@OPENCL
def test_events_stand_for_their_launch(device):
    add, python, hx, hy, x, y = entered(device)
    events = [add(y, x, 1.0, ndrange=1000) for _ in range(4)]
    assert python.count == 2 and len(set(map(id, events))) == 4
    for event in events:
        event.wait()
        assert event.done
    assert events[0].elapsed(events[3]) >= 0
    first = id(add(y, x, 1.0, ndrange=1000))
    assert id(add(y, x, 1.0, ndrange=1000)) == first  # nobody had it: it is used again
    kept = add(y, x, 1.0, ndrange=1000)
    other = pk.Stream(device)
    other.wait(kept)
    assert kept._pending is None and kept._native is not None
    again = add(y, x, 1.0, ndrange=1000)
    assert again is not kept
    again.record(other)  # another use of it
    np.testing.assert_array_equal(y.numpy(), hy + 8 * hx)


@OPENCL
def test_other_work_records_a_kept_event(device):
    add, _, _, _, x, y = entered(device)
    event = add(y, x, 1.0, ndrange=1000)
    assert event._pending is not None
    pk.copyto(x, 1.0)
    assert event._pending is None and event._native is not None


@OPENCL
def test_memory_of_another_owner_waits_for_it(device):
    """A new array in used memory is known to no stream until a launch through Python has looked at its past."""
    add, python, hx, _, x, _ = entered(device)
    z = pk.zeros(1000, pk.f32, device=device)
    add(z, x, 1.0, ndrange=1000, stream=pk.Stream(device))
    del z
    gc.collect()
    z = pk.zeros(1000, pk.f32, device=device)
    before = python.count
    add(z, x, 1.0, ndrange=1000)
    assert python.count == before + 1
    np.testing.assert_array_equal(z.numpy(), hx)


@OPENCL
def test_readonly_arrays(device):
    add, python, _, _, x, y = entered(device)
    owner = pk.zeros(1000, pk.f32, device=device)
    borrowed = owner._allocation.pool.adopt(owner.memory, owner, readonly=True)
    fixed = pk.Array(borrowed, (1000,), owner.dtype)
    for _ in range(3):
        add(y, fixed, 1.0, ndrange=1000)  # read alone: the same entry
    assert python.count == 3
    with pytest.raises(LaunchError, match="read-only"):
        add(fixed, x, 1.0, ndrange=1000)


@OPENCL
@pytest.mark.parametrize("options", [{"debug": True}])
def test_kernels_that_report_have_none(device, options):
    add, python = made(**options)
    _, _, x, y = pair(device)
    for _ in range(4):
        add(y, x, 1.0, ndrange=1000)
    assert python.count == 4
    with pytest.raises(pk.errors.OutOfBounds):
        add(y, x, 1.0, ndrange=1001)


def test_more_streams_than_bits(monkeypatch):
    pool = registry.opened("null:0").pool
    monkeypatch.setattr(pool, "_streams", 62)
    stream = registry.opened("null:0").driver.stream("normal")
    assert pool.bit(stream) == 0 == pool.bit(stream)


# -- arrays on the CPU -----------------------------------------------------------------------------


def test_arrays_on_the_cpu_have_the_cpus_entry():
    add, python = made()
    hx, hy, x, y = pair("cpu")
    for _ in range(5):
        add(y, x, 1.0, ndrange=1000)
    add(y, hx, 1.0, ndrange=1000)
    assert python.count == 1
    np.testing.assert_array_equal(y.numpy(), hy + 6 * hx)
    host = hy.copy()
    add(host, x, 1.0, ndrange=1000)
    np.testing.assert_array_equal(host, hy + hx)
    assert python.count == 1
    with pytest.raises(LaunchError, match="overlap"):
        add(y[1:], y[:-1], 1.0, ndrange=999)
    view = y[::2]
    for _ in range(2):
        add(view, x[:500], 1.0, ndrange=500)
    np.testing.assert_array_equal(y.numpy()[::2], (hy + 6 * hx)[::2] + 2 * hx[:500])
    y.free()
    for gone in (y, view):
        with pytest.raises(UsedAfterFree):
            add(gone, x[:500], 1.0, ndrange=500)


def test_an_array_of_another_device_is_no_array_of_the_cpu():
    add, _ = made()
    _, _, x, y = pair("cpu")
    for _ in range(2):
        add(y, x, 1.0, ndrange=1000)
    there = pk.zeros(1000, pk.f32, device="null:0")
    device_entries.register(there)
    with pytest.raises(DeviceError, match="lives on"):
        add(y, there, 1.0, ndrange=1000)


# -- CUDA's functions, over fakes --------------------------------------------------------------------


@pytest.fixture
def cuda(monkeypatch):
    """A fake GPU as cuda:0; a kernel's words come to the functions in `kernels`."""
    from pykern.runtime.drivers import cuda as driver
    from tests.runtime.test_address_drivers import CUDA_ATTRIBUTES

    machine, runtime, real = Machine("cuda"), driver.CudaRuntime(), registry.runtime
    module = fake_cuda(machine, CUDA_ATTRIBUTES)
    monkeypatch.setitem(sys.modules, "fake_cuda_bindings", module)
    runtime.bindings = "fake_cuda_bindings"
    monkeypatch.setattr(registry, "runtime", lambda kind: runtime if kind == "cuda" else real(kind))
    monkeypatch.setattr(registry, "_opened", {})
    monkeypatch.setattr(registry, "_by_name", {})
    monkeypatch.setattr(importlib.import_module("pykern.runtime.devices"), "_known", {})
    monkeypatch.setattr("pykern.runtime.stream._defaults", {})
    registry.found.cache_clear()
    yield machine
    registry.found.cache_clear()


def floats(address, n):
    return np.ctypeslib.as_array((ctypes.c_float * n).from_address(address))


def emulated(words, grid, group, shared):
    """`add` over the words of `pykern.data.abi`: two arrays with a length each, a number, the count, the first
    group."""
    y, ny, x, nx, a, count, first = words
    assert (first, shared) == (0, 0) and grid[1:] == group[1:] == (1, 1)
    assert (grid[0] - 1) * group[0] < count <= grid[0] * group[0]
    floats(y, ny)[:count] += np.float32(np.array(a, np.uint64).view(np.float64)) * floats(x, nx)[:count]


def test_cuda_is_launched_by_its_own_functions(cuda):
    add, _ = made()
    cuda.kernels[b"kern_add"], cuda.cells = emulated, 7
    hx, hy, x, y = pair("cuda:0")
    stream = pk.Stream("cuda:0", priority="high")
    for _ in range(6):
        add(y, x, 2.0, ndrange=1000)
    for _ in range(4):
        add(y[100:], x[100:], 1.0, ndrange=900)  # views begin inside of memory
        add(y, x, 1.0, ndrange=500, stream=stream)
    want = hy + 12 * hx
    want[100:] += 4 * hx[100:]
    want[:500] += 4 * hx[:500]
    np.testing.assert_array_equal(y.numpy(), want)
    by_c = cuda.did("C cuLaunchKernel")
    assert len(cuda.did("C cuCtxGetCurrent")) == len(by_c) >= 6
    assert not cuda.did("C cuCtxSetCurrent")  # the device is this thread's own from the first call on
    assert len(cuda.did("cuLaunchKernel")) + len(by_c) == 14
    gx, gy, gz, bx, by, bz, shared, native = by_c[0][1:9]
    assert (gx * bx >= 1000) and (gy, gz, by, bz, shared) == (1, 1, 1, 1, 0)
    assert native == int(registry.opened("cuda:0").stream.handle)
    assert {call[8] for call in by_c} == {native, int(stream.native.handle)}


def test_what_cuda_refuses_is_told_by_python(cuda):
    add, _ = made()
    cuda.kernels[b"kern_add"], cuda.cells = emulated, 7
    _, _, x, y = pair("cuda:0")
    for _ in range(3):
        add(y, x, 2.0, ndrange=1000)
    assert len(cuda.did("C cuLaunchKernel")) == 1
    cuda.fails["cuLaunchKernel"] = Result.ILLEGAL_ADDRESS
    with pytest.raises(DeviceError, match="launch add: CUDA_ERROR_ILLEGAL_ADDRESS"):
        add(y, x, 2.0, ndrange=1000)
    cuda.fails = {"cuCtxGetCurrent": Result.NO_DEVICE}
    with pytest.raises(DeviceError, match="CUDA_ERROR_NO_DEVICE"):
        add(y, x, 2.0, ndrange=1000)
    cuda.fails = {}
    done = len(cuda.did("C cuLaunchKernel"))
    add(y, x, 2.0, ndrange=1000)  # the next launch is as before
    assert len(cuda.did("C cuLaunchKernel")) == done + 1


def test_what_others_selected_stays_selected(cuda):
    """A library that works on another device finds it its thread's own after calls and launches here."""
    add, _ = made()
    cuda.kernels[b"kern_add"], cuda.cells = emulated, 7
    hx, hy, x, y = pair("cuda:0")
    ours = cuda.current
    assert ours
    for others in (4711, 4711, 0, 4711, 4711):
        cuda.current = others
        add(y, x, 1.0, ndrange=1000)
        assert cuda.current == others or not others  # where nothing was, ours may stay
        cuda.current = others
        pk.zeros(10, pk.f32, device="cuda:0")
        assert cuda.current == others or not others
    assert cuda.did("C cuLaunchKernel") and set(cuda.selected) == {ours}
    np.testing.assert_array_equal(y.numpy(), hy + 5 * hx)


def test_threads_launch_side_by_side(cuda):
    """An event that one thread gives out again is not what another thread's launch is known by."""
    add, _ = made()
    cuda.kernels[b"kern_add"], cuda.cells = emulated, 7
    _, _, x, y = pair("cuda:0")
    for _ in range(3):
        add(y, x, 0.0, ndrange=1000)

    def work(wrong):
        for _ in range(200):
            event = add(y, x, 0.0, ndrange=1000)
            wrong += [event] if event._pending is None and event._native is None else []

    wrong: list = []
    threads = [threading.Thread(target=work, args=(wrong,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(cuda.did("C cuLaunchKernel")) >= 800
