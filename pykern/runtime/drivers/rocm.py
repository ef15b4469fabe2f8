"""AMD GPUs through HIP, as AMD's `hip-python` binds it. What a device does is in addresses.py.

Comes in: nothing. Goes out: `RUNTIME`, which finds devices and opens them. Kernels come as hsaco.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from typing import Any

from pykern.environment.installation import install_extra
from pykern.errors import DeviceError
from pykern.runtime.driver import DeviceInfo, Driver, Missing
from pykern.runtime.drivers.addresses import AddressDriver, Calls
from pykern.runtime.drivers.results import check
from pykern.types import DTYPES

DRIVER = "ROCm (it brings libamdhip64) and AMD's driver for the GPU"
ATOMICS = frozenset({"i32", "i64", "u32", "u64", "f32", "f64"})


def calls_of(hip: Any, number: int, *, pools: bool) -> Calls:
    """HIP's functions; `pools`: the device allocates in the order of a stream."""
    return Calls(
        api="HIP",
        current=hip.hipGetDevice,
        select=hip.hipSetDevice,
        allocate=(lambda nbytes: hip.hipMallocAsync(nbytes, 0)) if pools else hip.hipMalloc,
        free=(lambda address: hip.hipFreeAsync(address, 0)) if pools else hip.hipFree,
        host_allocate=hip.hipHostMalloc,
        host_free=hip.hipHostFree,
        copy_in=hip.hipMemcpyHtoDAsync,
        copy_out=hip.hipMemcpyDtoHAsync,
        copy=hip.hipMemcpyDtoDAsync,
        set_8=hip.hipMemsetD8Async,
        set_16=hip.hipMemsetD16Async,
        set_32=lambda address, value, count, stream: hip.hipMemsetD32Async(
            address, value - (1 << 32) if value >> 31 else value, count, stream
        ),  # an int, where CUDA has an unsigned one
        set_2d_8=hip.hipMemset2DAsync,
        set_2d_32=None,  # hipMemsetD2D32Async is newer than the oldest hip-python
        load=hip.hipModuleLoadData,
        unload=hip.hipModuleUnload,
        function=hip.hipModuleGetFunction,
        launch=lambda *arguments: hip.hipModuleLaunchKernel(*arguments[:-1], None),
        allow_shared=None,
        priorities=hip.hipDeviceGetStreamPriorityRange,
        stream=hip.hipStreamCreateWithPriority,
        stream_destroy=hip.hipStreamDestroy,
        stream_wait=hip.hipStreamWaitEvent,
        stream_synchronize=hip.hipStreamSynchronize,
        synchronize=hip.hipDeviceSynchronize,
        event=hip.hipEventCreateWithFlags,
        event_destroy=hip.hipEventDestroy,
        record=hip.hipEventRecord,
        query=hip.hipEventQuery,
        wait=hip.hipEventSynchronize,
        elapsed=hip.hipEventElapsedTime,
        error_text=hip.hipGetErrorString,
        out_of_memory="hipErrorOutOfMemory",
        not_ready="hipErrorNotReady",
        address_of=_address_of,
        current_name="hipGetDevice",
        select_name="hipSetDevice",
        nothing=None,
        context=number,
        launch_name="hipModuleLaunchKernel",
    )


LIBRARIES = ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5")


def _address_of(name: str) -> int:
    """Of a function in the library that the bindings have loaded."""
    for library in LIBRARIES:
        try:
            found = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        except OSError:
            continue
        return ctypes.cast(getattr(found, name), ctypes.c_void_p).value or 0
    return 0


def described(hip: Any, calls: Calls, number: int) -> DeviceInfo:
    what = "describe a device"
    properties = check(calls, hip.hipGetDeviceProperties(number), what)

    def attribute(name: str) -> int:
        kind = getattr(hip.hipDeviceAttribute_t, f"hipDeviceAttribute{name}")
        return int(check(calls, hip.hipDeviceGetAttribute(kind, number), what))

    version = int(check(calls, hip.hipRuntimeGetVersion(), what))
    chip = _text(properties.gcnArchName).split(":")[0]  # features follow: gfx942:sramecc+:xnack-
    return DeviceInfo(
        "rocm",
        number,
        _text(properties.name) or chip,
        f"rocdl:{chip}",
        memory_bytes=int(properties.totalGlobalMem),
        shared_bytes=attribute("MaxSharedMemoryPerBlock"),
        max_group=attribute("MaxThreadsPerBlock"),
        max_group_sizes=(attribute("MaxBlockDimX"), attribute("MaxBlockDimY"), attribute("MaxBlockDimZ")),
        max_grid=(attribute("MaxGridDimX"), attribute("MaxGridDimY"), attribute("MaxGridDimZ")),
        max_allocation=int(properties.totalGlobalMem),
        subgroup_size=attribute("WarpSize"),
        dtypes=DTYPES,
        atomics=ATOMICS,
        unified=bool(attribute("Integrated")),
        driver=f"HIP {version // 10_000_000}.{version // 100_000 % 100}",
        facts={
            "multiprocessors": attribute("MultiprocessorCount"),
            "pools": bool(attribute("MemoryPoolsSupported")),
        },
    )


def _text(field: Any) -> str:
    return (field.decode() if isinstance(field, bytes) else str(field)).split("\0")[0]


class RocmRuntime:
    """`pykern.runtime.driver.Runtime` for HIP. Tests put something else in the place of `bindings`."""

    name = "rocm"
    bindings = "hip.hip"

    @property
    def driver_api(self) -> Any:
        """HIP's functions. Raises `ImportError`."""
        package, _, name = self.bindings.rpartition(".")
        return getattr(importlib.import_module(package), name)  # the package gives out modules of another

    def devices(self) -> list[DeviceInfo] | Missing:
        try:
            hip = self.driver_api
        except ImportError as error:
            return Missing(self.name, f"the Python package hip-python: {error}", install_extra("rocm"))
        except RuntimeError as error:  # some versions of the bindings load libamdhip64 at once
            return Missing(self.name, f"libamdhip64 cannot be loaded: {error}", DRIVER)
        try:
            calls = calls_of(hip, 0, pools=False)
            count = int(check(calls, hip.hipGetDeviceCount(), "count devices"))
            found = [described(hip, calls, number) for number in range(count)]
        except RuntimeError as error:
            return Missing(self.name, f"libamdhip64 cannot be loaded: {error}", DRIVER)
        except DeviceError as error:
            return Missing(self.name, error.reason, DRIVER)
        return found or Missing(self.name, "HIP finds no GPU", DRIVER)

    def open(self, info: DeviceInfo) -> Driver:
        calls = calls_of(self.driver_api, info.ordinal, pools=bool(info.facts["pools"]))
        return AddressDriver(calls, info, ("hsaco",))


RUNTIME = RocmRuntime()
