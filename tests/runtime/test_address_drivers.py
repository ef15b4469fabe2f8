"""The CUDA and ROCm drivers over FAKE bindings: packing of arguments, calls and their order, errors.

No GPU takes part; these are no device tests. One test asks the real bindings, where they are installed and no
GPU's driver is, whether they take the arguments that are given to them.
"""

from __future__ import annotations

import gc
import importlib
import sys
import types
from dataclasses import replace

import numpy as np
import pytest

from pykern.data.artifact import Artifact, DeviceCode
from pykern.environment.installation import install_extra
from pykern.errors import DeviceError, OutOfMemory
from pykern.runtime.driver import Missing
from pykern.runtime.drivers import cuda, rocm
from tests.runtime.fake_bindings import Machine, Result, fake_cuda, fake_hip

COMMON = {"X": 1024, "Y": 1024, "Z": 64}
CUDA_ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232_448,
    "MAX_THREADS_PER_BLOCK": 1024,
    "WARP_SIZE": 32,
    "INTEGRATED": 0,
    "MULTIPROCESSOR_COUNT": 132,
    "MEMORY_POOLS_SUPPORTED": 1,
    **{f"MAX_BLOCK_DIM_{axis}": size for axis, size in COMMON.items()},
    **{f"MAX_GRID_DIM_{axis}": size for axis, size in {"X": 2**31 - 1, "Y": 65535, "Z": 65535}.items()},
}
HIP_ATTRIBUTES = {
    "MaxSharedMemoryPerBlock": 65_536,
    "MaxThreadsPerBlock": 1024,
    "WarpSize": 64,
    "Integrated": 0,
    "MultiprocessorCount": 304,
    "MemoryPoolsSupported": 1,
    **{f"MaxBlockDim{axis}": size for axis, size in COMMON.items()},
    **{f"MaxGridDim{axis}": 2**31 - 1 for axis in COMMON},
}


class Setting:
    """A runtime over a fake, and its machine. `calls` names the API's functions as CUDA does."""

    def __init__(self, kind: str, monkeypatch: pytest.MonkeyPatch, **attributes: int) -> None:
        self.kind = kind
        self.machine = Machine("cuda" if kind == "cuda" else "hip")
        if kind == "cuda":
            module = fake_cuda(self.machine, CUDA_ATTRIBUTES | attributes)
            monkeypatch.setitem(sys.modules, "fake_cuda_bindings", module)
            self.runtime = cuda.CudaRuntime()
            self.runtime.bindings = "fake_cuda_bindings"
            self.format, self.launch_name = "ptx", "cuLaunchKernel"
        else:
            monkeypatch.setattr(rocm, "_address_of", self.machine.address_of)
            package = types.ModuleType("fake_package")
            package.hip = fake_hip(self.machine, HIP_ATTRIBUTES | attributes)
            monkeypatch.setitem(sys.modules, "fake_package", package)
            self.runtime = rocm.RocmRuntime()
            self.runtime.bindings = "fake_package.hip"
            self.format, self.launch_name = "hsaco", "hipModuleLaunchKernel"

    def name(self, cuda_name: str, hip_name: str) -> str:
        return cuda_name if self.kind == "cuda" else hip_name

    def artifact(self, *arguments: str, shared: int = 0) -> Artifact:
        self.machine.cells = len(arguments)
        code = DeviceCode(self.format, arguments, shared_bytes=shared)
        return Artifact("k", "kernel", "", "entry", b"image", device=code)


@pytest.fixture(params=["cuda", "rocm"])
def fake(request, monkeypatch):
    return Setting(request.param, monkeypatch)


@pytest.fixture
def driver(fake):
    return fake.runtime.open(fake.runtime.devices()[0])


@pytest.fixture
def stream(driver):
    return driver.stream("normal")


def test_what_a_device_is(fake):
    (info,) = fake.runtime.devices()
    assert (info.runtime, info.ordinal, info.name) == (fake.kind, 0, "Fake GPU")
    assert info.target == ("nvvm:sm_90a" if fake.kind == "cuda" else "rocdl:gfx942")
    assert info.subgroup_size == (32 if fake.kind == "cuda" else 64)
    assert info.max_group_sizes == (1024, 1024, 64) and info.max_grid[0] == 2**31 - 1
    assert info.memory_bytes == 1 << 34
    assert info.driver == ("CUDA 12.9" if fake.kind == "cuda" else "HIP 6.3")


@pytest.mark.parametrize(
    ("capability", "expected"),
    [((7, 0), None), ((7, 5), "sm_75"), ((8, 7), "sm_86"), ((8, 9), "sm_89"), ((9, 0), "sm_90a")]
    + [((10, 0), "sm_100a"), ((10, 3), "sm_100"), ((12, 0), "sm_120a"), ((12, 1), "sm_120")]
    + [((11, 0), "sm_100+ptx"), ((13, 0), "sm_120+ptx")],
)
def test_chips(capability, expected):
    assert cuda.chip(*capability) == expected


def test_a_device_too_old(monkeypatch):
    fake = Setting("cuda", monkeypatch, COMPUTE_CAPABILITY_MAJOR=6)
    found = fake.runtime.devices()
    assert isinstance(found, Missing) and "7.5" in found.reason


def test_arguments_are_packed_in_cells(fake, driver, stream):
    seen = []
    fake.machine.kernels[b"entry"] = lambda *given: seen.append(given)
    code = driver.load(fake.artifact("memory", "slot", "slot", "memory", "slot"))
    a, b = driver.allocate(100), driver.allocate(8)
    driver.launch(stream, code, [a, -1, 1 << 63, b, 7], (5, 4, 3), (64, 2, 1), 256)
    assert seen == [([a.address, 2**64 - 1, 1 << 63, b.address, 7], (5, 4, 3), (64, 2, 1), 256)]
    (call,) = fake.machine.did(fake.launch_name)
    assert call[8] is stream.handle and call[10] in (0, None)
    assert fake.machine.images == [b"image"]  # it ended with a zero byte


def test_a_kernel_without_arguments_and_an_empty_grid(fake, driver, stream):
    seen = []
    fake.machine.kernels[b"entry"] = lambda *given: seen.append(given)
    code = driver.load(fake.artifact())
    driver.launch(stream, code, [], (1, 1, 1), (1, 1, 1), 0)
    driver.launch(stream, code, [], (1, 0, 1), (1, 1, 1), 0)
    assert len(seen) == 1


def test_shared_memory_beyond_what_is_plain(fake, driver, stream):
    fake.machine.kernels[b"entry"] = lambda *given: None
    code = driver.load(fake.artifact(shared=1024))
    for nbytes in (40_000, 60_000, 50_000, 64_000):
        driver.launch(stream, code, [], (1, 1, 1), (1, 1, 1), nbytes)
    asked = [call[1:] for call in fake.machine.did("cuFuncSetAttribute")]
    name = "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
    assert asked == ([(name, 60_000), (name, 64_000)] if fake.kind == "cuda" else [])
    with pytest.raises(DeviceError, match="301024 bytes of shared memory"):
        driver.launch(stream, code, [], (1, 1, 1), (1, 1, 1), 300_000)


def test_copies_and_pinned_memory(fake, driver, stream, rng):
    data = rng.standard_normal(100)
    memory, other = driver.allocate(1000), driver.allocate(1000)
    driver.copy_in(stream, memory, 8, data)
    driver.copy(stream, other, 16, memory, 8, 800)
    driver.copy(stream, other, 24, other, 16, 800)  # they meet
    host = driver.pinned(800)
    assert host.dtype == np.uint8 and host.shape == (800,)
    driver.copy_out(stream, host, other, 24)
    np.testing.assert_array_equal(host.view(np.float64), data)
    held = len(fake.machine.memory)
    del host
    gc.collect()
    assert len(fake.machine.memory) == held - 1
    driver.free(memory)
    driver.free(other)
    assert not fake.machine.memory


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("offset", [0, 1, 2, 4, 8])
def test_fills(fake, driver, stream, rng, size, offset):
    pattern = np.full(size, 0xF0, np.uint8) + rng.integers(0, 16, size, np.uint8)  # the top bit is set
    memory = driver.allocate(offset + 50 * size + 5)
    driver.fill(stream, memory, 0, b"\x55", memory.nbytes)
    driver.fill(stream, memory, offset, pattern.tobytes(), 50 * size)
    out = np.zeros(memory.nbytes, np.uint8)
    driver.copy_out(stream, out, memory, 0)
    expected = np.full(memory.nbytes, 0x55, np.uint8)
    expected[offset:-5] = np.tile(pattern, 50)
    np.testing.assert_array_equal(out, expected)


def test_memory_is_ordered_with_stream_0(fake, driver):
    driver.free(driver.allocate(0))
    (allocated,) = fake.machine.did(fake.name("cuMemAllocAsync", "hipMallocAsync"))
    (freed,) = fake.machine.did(fake.name("cuMemFreeAsync", "hipFreeAsync"))
    assert allocated == (1, 0) and freed[1] == 0


def test_devices_without_pools_of_memory(monkeypatch):
    for kind, name in (("cuda", "MEMORY_POOLS_SUPPORTED"), ("rocm", "MemoryPoolsSupported")):
        fake = Setting(kind, monkeypatch, **{name: 0})
        driver = fake.runtime.open(fake.runtime.devices()[0])
        driver.free(driver.allocate(10))
        assert fake.machine.did(fake.name("cuMemAlloc", "hipMalloc")) == [(10,)]


def test_priorities_of_streams(driver):
    assert [driver.stream(p).handle.what for p in ("low", "normal", "high")] == [0, -2, -5]
    with pytest.raises(DeviceError, match="high, normal or low"):
        driver.stream("urgent")


def test_events(fake, driver, stream):
    event = driver.record(stream)
    (recorded,) = fake.machine.did(fake.name("cuEventRecord", "hipEventRecord"))
    assert recorded == (event.handle, stream.handle)
    assert driver.done(event) and driver.elapsed_ms(event, event) == 1.5
    driver.wait(event)
    driver.stream_wait(stream, event)
    (waited,) = fake.machine.did(fake.name("cuStreamWaitEvent", "hipStreamWaitEvent"))
    assert waited == (stream.handle, event.handle, 0)
    query = fake.name("cuEventQuery", "hipEventQuery")
    fake.machine.fails[query] = Result.NOT_READY
    assert not driver.done(event)
    fake.machine.fails[query] = Result.ILLEGAL_ADDRESS
    with pytest.raises(DeviceError, match=r"(?i)ask for an event: .*illegal_?address.*told by a fake"):
        driver.done(event)
    handle = event.handle
    del event, recorded, waited
    gc.collect()
    assert (handle,) in fake.machine.did(fake.name("cuEventDestroy", "hipEventDestroy"))


def test_errors_say_what_was_tried(fake, driver, stream):
    api, allocate = fake.name("CUDA", "HIP"), fake.name("cuMemAllocAsync", "hipMallocAsync")
    fake.machine.fails[allocate] = Result.OUT_OF_MEMORY
    name = fake.name("CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory")
    with pytest.raises(OutOfMemory, match=f"{api}: allocate 12 bytes: {name}: told by a fake"):
        driver.allocate(12)
    fake.machine.fails.clear()
    fake.machine.kernels[b"entry"] = lambda *given: None
    code = driver.load(fake.artifact("memory", "slot"))
    memory = driver.allocate(12)
    for arguments, message in (
        ([memory], "takes 2 arguments, not 1"),
        ([memory, memory], "argument 1 is a slot"),
        ([1, 1], "argument 0 is a memory"),
    ):
        with pytest.raises(DeviceError, match=message):
            driver.launch(stream, code, arguments, (1, 1, 1), (1, 1, 1), 0)
    driver.free(memory)
    with pytest.raises(DeviceError, match="launch kernel: this memory of 12 bytes was freed already"):
        driver.launch(stream, code, [memory, 1], (1, 1, 1), (1, 1, 1), 0)
    with pytest.raises(DeviceError, match="free: this memory of 12 bytes was freed already"):
        driver.free(memory)
    with pytest.raises(DeviceError, match="bytes 8 to 16 are not within the 12"):
        driver.copy_in(stream, driver.allocate(12), 8, np.zeros(1))
    with pytest.raises(DeviceError, match="cannot load spirv"):
        driver.load(Artifact("k", "k", "", "k", b"", device=DeviceCode("spirv", ())))


@pytest.mark.parametrize(
    ("result", "means"),
    [(Result.ILLEGAL_ADDRESS, "outside of memory"), (Result.LAUNCH_FAILED, "a kernel failed")],
)
def test_a_fault_names_kernels_and_what_to_do(fake, driver, stream, result, means):
    """It is told by a later call; the kernels launched before are named, the last one first."""
    for name in (b"first", b"second", b"first"):
        fake.machine.kernels[b"entry"] = lambda *given: None
        code = driver.load(replace(fake.artifact("slot"), kernel=name.decode()))
        driver.launch(stream, code, [1], (1, 1, 1), (1, 1, 1), 0)
    event = driver.record(stream)
    for call, give in (
        (fake.name("cuEventSynchronize", "hipEventSynchronize"), lambda: driver.wait(event)),
        (fake.name("cuStreamSynchronize", "hipStreamSynchronize"), lambda: driver.synchronize(stream)),
        (fake.name("cuEventQuery", "hipEventQuery"), lambda: driver.done(event)),
        (fake.name("cuMemAllocAsync", "hipMallocAsync"), lambda: driver.allocate(8)),
    ):
        fake.machine.fails = {call: result}
        with pytest.raises(DeviceError, match=means) as caught:
            give()
        assert "(launched here: `first`, `second`)" in caught.value.reason
        assert "debug=True" in caught.value.hint
    fake.machine.fails = {}
    driver.wait(event)


def test_a_launch_that_asks_for_too_much_says_so(fake, driver, stream):
    fake.machine.kernels[b"entry"] = lambda *given: None
    code = driver.load(fake.artifact("slot"))
    fake.machine.fails[fake.launch_name] = Result.LAUNCH_OUT_OF_RESOURCES
    with pytest.raises(DeviceError, match="launch kernel") as caught:
        driver.launch(stream, code, [1], (1, 1, 1), (1, 1, 1), 0)
    assert "smaller workgroup" in caught.value.hint


def test_missing_says_what_to_install(fake, monkeypatch):
    fake.machine.fails[fake.name("cuInit", "hipGetDeviceCount")] = Result.NO_DEVICE
    found = fake.runtime.devices()
    assert isinstance(found, Missing) and "told by a fake" in found.reason and "driver" in found.install
    fake.runtime.bindings = "no_such_package.driver"
    found = fake.runtime.devices()
    assert isinstance(found, Missing) and found.install == install_extra(fake.runtime.name)


@pytest.mark.parametrize("kind", ["cuda", "rocm"])
def test_the_real_bindings_take_these_arguments(kind):
    """They turn arguments into C's before they look for the function, so without a driver they say just that."""
    runtime = {"cuda": cuda, "rocm": rocm}[kind].RUNTIME
    found = runtime.devices()
    if not isinstance(found, Missing):
        pytest.skip("there is a device; its own tests call these")
    if found.install.startswith("pip"):
        pytest.skip(found.reason)
    if kind == "cuda":
        bindings = importlib.import_module("cuda.bindings.driver")
        stream, event = bindings.CUstream(0), bindings.CUevent(0)
        module, function = bindings.CUmodule(0), bindings.CUfunction(0)
        settings = [cuda.calls_of(bindings, bindings.CUcontext(0), pools=pools) for pools in (False, True)]
    else:
        bindings = importlib.import_module("hip").hip
        stream = event = module = function = 0
        settings = [rocm.calls_of(bindings, 0, pools=pools) for pools in (False, True)]
    host = np.zeros(64, np.uint8).ctypes.data
    most = 2**32 - 1
    for calls in settings:
        given = {
            "current": (), "select": (0,),
            "allocate": (16,), "free": (4096,), "host_allocate": (16, 1), "host_free": (4096,),
            "copy_in": (4096, host, 16, stream), "copy_out": (host, 4096, 16, stream),
            "copy": (4096, 8192, 16, stream), "set_8": (4096, 255, 4, stream),
            "set_16": (4096, 65535, 4, stream), "set_32": (4096, most, 4, stream),
            "set_2d_8": (4096, 8, 255, 1, 4, stream), "set_2d_32": (4096, 8, most, 1, 4, stream),
            "load": (host,), "unload": (module,), "function": (module, b"entry"),
            "launch": (function, 1, 2, 3, 4, 5, 6, 0, stream, host, 0), "priorities": (), "stream": (0, -1),
            "stream_destroy": (stream,), "stream_wait": (stream, event, 0), "stream_synchronize": (stream,),
            "synchronize": (), "event": (0,), "event_destroy": (event,), "record": (event, stream),
            "query": (event,), "wait": (event,), "elapsed": (event, event),
        }  # fmt: skip
        if calls.allow_shared is not None:
            given["allow_shared"] = (function, 60_000)
        if kind == "cuda":
            given["address_of"] = ("cuLaunchKernel",)
        if calls.set_2d_32 is None:
            del given["set_2d_32"]
        for name, arguments in given.items():
            with pytest.raises(RuntimeError):
                getattr(calls, name)(*arguments)
