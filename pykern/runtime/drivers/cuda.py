"""NVIDIA GPUs through CUDA's driver API, as `cuda-bindings` binds it. What a device does is in addresses.py.

Comes in: nothing. Goes out: `RUNTIME`, which finds devices and opens them in their primary context, the one
other libraries of the process use too. Kernels come as PTX or cubin.
"""

from __future__ import annotations

import importlib
from typing import Any

from pykern.environment.installation import install_extra
from pykern.errors import DeviceError
from pykern.runtime.driver import DeviceInfo, Driver, Missing
from pykern.runtime.drivers.addresses import AddressDriver, Calls
from pykern.runtime.drivers.results import check
from pykern.types import DTYPES

DRIVER = "NVIDIA's driver for the GPU (it brings libcuda.so.1)"
CHIPS = {75: "sm_75", 80: "sm_80", 86: "sm_86", 89: "sm_89", 90: "sm_90a", 100: "sm_100a", 120: "sm_120a"}
"""Compute capability -> what kernels are compiled for there. Others take the next older one, without its "a"."""
ATOMICS = frozenset({"i32", "i64", "u32", "u64", "f16", "f32", "f64"})


def chip(major: int, minor: int) -> str | None:
    """The target's name of a device of this compute capability; None where it is too old."""
    capability = 10 * major + minor
    if capability in CHIPS:
        return CHIPS[capability]
    older = [known for known in CHIPS if known <= capability]
    if not older:
        return None
    # Machine code runs on later chips of the same generation alone; of PTX a driver makes some for any later one.
    return CHIPS[max(older)].removesuffix("a") + ("" if max(older) // 10 == major else "+ptx")


def calls_of(cu: Any, context: Any, *, pools: bool) -> Calls:
    """CUDA's functions; `pools`: the device allocates in the order of a stream."""
    shared = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    return Calls(
        api="CUDA",
        current=cu.cuCtxGetCurrent,
        select=cu.cuCtxSetCurrent,
        allocate=(lambda nbytes: cu.cuMemAllocAsync(nbytes, 0)) if pools else cu.cuMemAlloc,
        free=(lambda address: cu.cuMemFreeAsync(address, 0)) if pools else cu.cuMemFree,
        host_allocate=cu.cuMemHostAlloc,
        host_free=cu.cuMemFreeHost,
        copy_in=cu.cuMemcpyHtoDAsync,
        copy_out=cu.cuMemcpyDtoHAsync,
        copy=cu.cuMemcpyDtoDAsync,
        set_8=cu.cuMemsetD8Async,
        set_16=cu.cuMemsetD16Async,
        set_32=cu.cuMemsetD32Async,
        set_2d_8=cu.cuMemsetD2D8Async,
        set_2d_32=cu.cuMemsetD2D32Async,
        load=cu.cuModuleLoadData,
        unload=cu.cuModuleUnload,
        function=cu.cuModuleGetFunction,
        launch=cu.cuLaunchKernel,
        allow_shared=lambda function, nbytes: cu.cuFuncSetAttribute(function, shared, nbytes),
        priorities=cu.cuCtxGetStreamPriorityRange,
        stream=cu.cuStreamCreateWithPriority,
        stream_destroy=cu.cuStreamDestroy,
        stream_wait=cu.cuStreamWaitEvent,
        stream_synchronize=cu.cuStreamSynchronize,
        synchronize=cu.cuCtxSynchronize,
        event=cu.cuEventCreate,
        event_destroy=cu.cuEventDestroy,
        record=cu.cuEventRecord,
        query=cu.cuEventQuery,
        wait=cu.cuEventSynchronize,
        elapsed=cu.cuEventElapsedTime,
        error_text=cu.cuGetErrorString,
        out_of_memory="CUDA_ERROR_OUT_OF_MEMORY",
        not_ready="CUDA_ERROR_NOT_READY",
        address_of=lambda name: _address_of(cu, name),
        context=int(context),
        current_name="cuCtxGetCurrent",
        select_name="cuCtxSetCurrent",
        launch_name="cuLaunchKernel",
        bindings=cu,
    )


def _address_of(cu: Any, name: str) -> int:
    """Of a function of CUDA 12's; streams are those that are named, nothing is a thread's own."""
    code, address, *_ = cu.cuGetProcAddress(name.encode(), 12000, 0)
    return int(address) if int(code) == 0 else 0


def described(cu: Any, calls: Calls, ordinal: int, number: int, runtime: str) -> DeviceInfo | None:
    """CUDA's device `number`, listed as `ordinal`; None where no kernel can be made for it."""
    what = "describe a device"
    device = check(calls, cu.cuDeviceGet(number), what)

    def attribute(name: str) -> int:
        kind = getattr(cu.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(check(calls, cu.cuDeviceGetAttribute(kind, device), what))

    major, minor = attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")
    made_for = chip(major, minor)
    if made_for is None:
        return None
    name = check(calls, cu.cuDeviceGetName(256, device), what)
    memory = int(check(calls, cu.cuDeviceTotalMem(device), what))
    version = int(check(calls, cu.cuDriverGetVersion(), what))
    return DeviceInfo(
        runtime,
        ordinal,
        name.split(b"\0")[0].decode(),
        f"nvvm:{made_for}",
        memory_bytes=memory,
        shared_bytes=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        max_group=attribute("MAX_THREADS_PER_BLOCK"),
        max_group_sizes=(
            attribute("MAX_BLOCK_DIM_X"),
            attribute("MAX_BLOCK_DIM_Y"),
            attribute("MAX_BLOCK_DIM_Z"),
        ),
        max_grid=(attribute("MAX_GRID_DIM_X"), attribute("MAX_GRID_DIM_Y"), attribute("MAX_GRID_DIM_Z")),
        max_allocation=memory,
        subgroup_size=attribute("WARP_SIZE"),
        dtypes=DTYPES,
        atomics=ATOMICS,
        unified=bool(attribute("INTEGRATED")),
        driver=f"CUDA {version // 1000}.{version % 1000 // 10}",
        facts={
            "number": number,
            "capability": (major, minor),
            "multiprocessors": attribute("MULTIPROCESSOR_COUNT"),
            "pools": bool(attribute("MEMORY_POOLS_SUPPORTED")),
        },
    )


class CudaRuntime:
    """`pykern.runtime.driver.Runtime` for CUDA. Tests put something else in the place of `bindings`."""

    name = "cuda"
    bindings = "cuda.bindings.driver"

    @property
    def driver_api(self) -> Any:
        """The functions of CUDA's driver API. Raises `ImportError`."""
        return importlib.import_module(self.bindings)

    def devices(self) -> list[DeviceInfo] | Missing:
        try:
            cu = self.driver_api
        except ImportError as error:
            return Missing(self.name, f"the Python package cuda-bindings: {error}", install_extra("cuda"))
        try:
            return self._devices(cu)
        except RuntimeError as error:  # the bindings found no libcuda.so.1
            return Missing(self.name, f"libcuda.so.1 cannot be loaded: {error}", DRIVER)
        except DeviceError as error:
            return Missing(self.name, error.reason, DRIVER)

    def _devices(self, cu: Any) -> list[DeviceInfo] | Missing:
        calls = calls_of(cu, 0, pools=False)
        check(calls, cu.cuInit(0), "start CUDA")
        count = int(check(calls, cu.cuDeviceGetCount(), "count devices"))
        found: list[DeviceInfo] = []
        for number in range(count):
            info = self.described(cu, calls, len(found), number)
            if info is not None:
                found.append(info)
        if not found:
            return Missing(self.name, "no GPU of compute capability 7.5 or newer", "such a GPU")
        return found

    def described(self, cu: Any, calls: Calls, ordinal: int, number: int) -> DeviceInfo | None:
        return described(cu, calls, ordinal, number, self.name)

    def open(self, info: DeviceInfo) -> Driver:
        cu = self.driver_api
        calls = calls_of(cu, 0, pools=False)
        what = f"open {info.name}"
        device = check(calls, cu.cuDeviceGet(info.facts["number"]), what)
        context = check(calls, cu.cuDevicePrimaryCtxRetain(device), what)
        pools = bool(info.facts["pools"])
        return AddressDriver(calls_of(cu, context, pools=pools), info, ("ptx", "cubin"))


RUNTIME = CudaRuntime()
