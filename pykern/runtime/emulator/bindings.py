"""What `cuda.bindings.driver` is for a GPU, for emulated ones: the functions that `pykern.runtime.drivers.cuda` calls.

Comes in: calls, with the arguments of CUDA's driver API. Goes out: see `api`.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Callable, Sequence
from typing import Any

from pykern.runtime.emulator.api import MEMORY, EmulatedApi, Names, copy, fill, fill_rows, nothing, values_at
from pykern.runtime.emulator.program import LoadedText, Program
from pykern.runtime.emulator.ptx import rounded_up
from pykern.runtime.emulator.tensor_maps import CHUNK, NBYTES, SIZES, SWIZZLES, NoMap, TensorMap

VERSION = 12090
SHARED = {75: 64, 80: 163, 86: 99, 89: 99, 90: 227, 100: 227, 120: 99}
"""Compute capability -> KiB of shared memory that a group may have."""
NAME = "emulated GPU"
_pointer, _number = ctypes.c_void_p, ctypes.c_uint
_C_FORMS = {
    "cuCtxGetCurrent": (_pointer,),
    "cuCtxSetCurrent": (_pointer,),
    "cuLaunchKernel": (_pointer, *(_number,) * 7, *(_pointer,) * 3),
}
"""The functions that compiled entries call, and their parameters."""


class Result(enum.IntEnum):
    """CUresult."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_LAUNCH_FAILED = 719
    CUDA_ERROR_NOT_SUPPORTED = 801


class EncodedMap:
    """CUtensorMap."""

    def __init__(self, data: bytes) -> None:
        self._data = ctypes.create_string_buffer(data, NBYTES)

    def getPtr(self) -> int:  # noqa: N802 - as the bindings call it
        return ctypes.addressof(self._data)


class Bindings(EmulatedApi):
    """In the place of the module. A device's number is its compute capability."""

    CUdevice_attribute = CUfunction_attribute = Names()
    CUtensorMapDataType = CUtensorMapInterleave = CUtensorMapSwizzle = Names()
    CUtensorMapL2promotion = CUtensorMapFloatOOBfill = Names()
    results, c_forms = Result, _C_FORMS
    no_room, failed = Result.CUDA_ERROR_OUT_OF_MEMORY, Result.CUDA_ERROR_LAUNCH_FAILED

    def _functions(self) -> dict[str, Callable[..., Any]]:
        return {
            "cuInit": nothing,
            "cuDeviceGetCount": lambda: len(SHARED),
            "cuDeviceGet": lambda number: list(SHARED)[number],
            "cuDeviceGetName": lambda length, device: f"{NAME}, sm_{device}".encode().ljust(length, b"\0"),
            "cuDeviceTotalMem": lambda device: MEMORY,
            "cuDeviceGetAttribute": _attribute,
            "cuDriverGetVersion": lambda: VERSION,
            "cuDevicePrimaryCtxRetain": lambda device: device,
            "cuCtxGetCurrent": lambda: self._current,
            "cuCtxSetCurrent": self.select,
            "cuCtxSynchronize": nothing,
            "cuCtxGetStreamPriorityRange": lambda: (0, -5),
            "cuGetErrorString": lambda code: Result(code).name.encode(),
            "cuGetProcAddress": lambda name, version, flags: (self.c_address(name.decode()), 0),
            "cuMemAlloc": self.allocate,
            "cuMemAllocAsync": self.allocate,
            "cuMemFree": self.free,
            "cuMemFreeAsync": self.free,
            "cuMemHostAlloc": self.host_allocate,
            "cuMemFreeHost": self.host_free,
            "cuMemcpyHtoDAsync": copy,
            "cuMemcpyDtoHAsync": copy,
            "cuMemcpyDtoDAsync": copy,
            "cuMemsetD8Async": fill(1),
            "cuMemsetD16Async": fill(2),
            "cuMemsetD32Async": fill(4),
            "cuMemsetD2D8Async": fill_rows(1),
            "cuMemsetD2D32Async": fill_rows(4),
            "cuModuleLoadData": self._load,
            "cuModuleUnload": self._unload,
            "cuModuleGetFunction": lambda module, name: self.handle(
                self._handles[module].program(name.decode())
            ),
            "cuFuncSetAttribute": nothing,
            "cuLaunchKernel": self._launch,
            "cuTensorMapEncodeTiled": _encode_map,
            "cuStreamCreateWithPriority": lambda flags, priority: next(self._numbers),
            "cuStreamDestroy": nothing,
            "cuStreamWaitEvent": nothing,
            "cuStreamSynchronize": nothing,
            "cuEventCreate": self.make_event,
            "cuEventDestroy": self.forget,
            "cuEventRecord": self.record,
            "cuEventQuery": nothing,
            "cuEventSynchronize": nothing,
            "cuEventElapsedTime": self.elapsed,
        }

    # -- kernels -----------------------------------------------------------------------------------

    def _load(self, address: int) -> int:
        return self.handle(LoadedText(ctypes.string_at(address).decode(), self.memory))

    def _unload(self, module: int) -> None:
        self._handles.pop(module).unload()

    def _launch(self, function: int, *rest: Any) -> None:
        """Raises what the launch finds wrong, or what that of a compiled entry has found, just before."""
        self.raise_pending()
        grid, group, shared, _, pointers, _ = rest[:3], rest[3:6], *rest[6:]
        program: Program = self._handles[int(function)]
        sizes = [nbytes for _, nbytes in program.parameters]
        given = (value.ljust(rounded_up(len(value), 8), b"\0") for value in values_at(pointers, sizes))
        program.launch(grid, group, shared, b"".join(given))

    # -- for compiled entries ----------------------------------------------------------------------

    def _c_cuCtxGetCurrent(self, to: int) -> int:  # noqa: N802 - CUDA's name
        ctypes.c_uint64.from_address(to).value = self._current
        return 0

    def _c_cuCtxSetCurrent(self, context: int | None) -> int:  # noqa: N802 - CUDA's name
        self._current = context or 0
        return 0

    def _c_cuLaunchKernel(self, *arguments: Any) -> int:  # noqa: N802 - CUDA's name
        return self.launch_told(self._launch, *arguments)


def _encode_map(
    kind: str,
    rank: int,
    address: int,
    lengths: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    steps: Sequence[int],
    interleave: str,
    swizzle: str,
    promotion: str,
    fill: str,
) -> EncodedMap | Result:
    """cuTensorMapEncodeTiled; dimensions begin with the fastest one."""
    size = SIZES[kind.removeprefix("CU_TENSOR_MAP_DATA_TYPE_")]
    width = SWIZZLES[swizzle.removeprefix("CU_TENSOR_MAP_SWIZZLE_")]
    plain = interleave.endswith("_NONE") and fill.endswith("_NONE") and all(step == 1 for step in steps)
    if not plain or (width and 0 < box[0] * size < width and box[0] * size % CHUNK == 0):
        return Result.CUDA_ERROR_NOT_SUPPORTED
    made = TensorMap(int(address), size, width, *(tuple(map(int, each)) for each in (lengths, strides, box)))
    try:
        if rank != len(lengths):
            raise NoMap
        made.check()
    except NoMap:
        return Result.CUDA_ERROR_INVALID_VALUE
    return EncodedMap(made.encoded())


def _attribute(kind: str, device: int) -> int:
    attributes = {
        "COMPUTE_CAPABILITY_MAJOR": device // 10,
        "COMPUTE_CAPABILITY_MINOR": device % 10,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": SHARED[device] << 10,
        "MAX_THREADS_PER_BLOCK": 1024,
        "MAX_BLOCK_DIM_X": 1024,
        "MAX_BLOCK_DIM_Y": 1024,
        "MAX_BLOCK_DIM_Z": 64,
        "MAX_GRID_DIM_X": 2**31 - 1,
        "MAX_GRID_DIM_Y": 65535,
        "MAX_GRID_DIM_Z": 65535,
        "WARP_SIZE": 32,
        "INTEGRATED": 0,
        "MULTIPROCESSOR_COUNT": 1,
        "MEMORY_POOLS_SUPPORTED": 1,
    }
    return attributes[kind.removeprefix("CU_DEVICE_ATTRIBUTE_")]
