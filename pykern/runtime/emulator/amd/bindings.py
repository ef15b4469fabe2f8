"""What `hip.hip` is for a GPU, for emulated ones: the functions that `pykern.runtime.drivers.rocm` calls.

Comes in: calls, with the arguments of HIP as `hip-python` binds it. Goes out: see `pykern.runtime.emulator.api`.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Callable
from typing import Any

from pykern.runtime.emulator.amd.program import LoadedAssembly, WaveProgram
from pykern.runtime.emulator.api import MEMORY, EmulatedApi, Names, copy, fill, fill_rows, nothing, values_at

VERSION = 60_342_134
CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
"""By the numbers that HIP counts them with."""
NAME = "emulated GPU"
_pointer, _number = ctypes.c_void_p, ctypes.c_uint
_C_FORMS = {
    "hipGetDevice": (_pointer,),
    "hipSetDevice": (ctypes.c_int,),
    "hipModuleLaunchKernel": (_pointer, *(_number,) * 7, *(_pointer,) * 3),
}
"""The functions that compiled entries call, and their parameters."""


class Result(enum.IntEnum):
    """hipError_t."""

    hipSuccess = 0  # noqa: N815 - HIP's name
    hipErrorOutOfMemory = 2  # noqa: N815 - HIP's name
    hipErrorLaunchFailure = 719  # noqa: N815 - HIP's name


class _Properties:
    """hipDeviceProp_t, as much of it as is asked for."""

    def __init__(self, number: int) -> None:
        self.gcnArchName = CHIPS[number].encode()
        self.name = f"{NAME}, {CHIPS[number]}".encode()
        self.totalGlobalMem = MEMORY


class Bindings(EmulatedApi):
    """In the place of the module."""

    hipDeviceAttribute_t = Names()  # noqa: N815 - HIP's name
    results, c_forms = Result, _C_FORMS
    no_room, failed = Result.hipErrorOutOfMemory, Result.hipErrorLaunchFailure

    def _functions(self) -> dict[str, Callable[..., Any]]:
        return {
            "hipGetDeviceCount": lambda: len(CHIPS),
            "hipGetDeviceProperties": _Properties,
            "hipDeviceGetAttribute": _attribute,
            "hipRuntimeGetVersion": lambda: VERSION,
            "hipGetDevice": lambda: self._current,
            "hipSetDevice": self.select,
            "hipDeviceSynchronize": nothing,
            "hipDeviceGetStreamPriorityRange": lambda: (0, -1),
            "hipGetErrorString": lambda code: Result(code).name.encode(),
            "hipMalloc": self.allocate,
            "hipMallocAsync": self.allocate,
            "hipFree": self.free,
            "hipFreeAsync": self.free,
            "hipHostMalloc": self.host_allocate,
            "hipHostFree": self.host_free,
            "hipMemcpyHtoDAsync": copy,
            "hipMemcpyDtoHAsync": copy,
            "hipMemcpyDtoDAsync": copy,
            "hipMemsetD8Async": fill(1),
            "hipMemsetD16Async": fill(2),
            "hipMemsetD32Async": fill(4),
            "hipMemset2DAsync": fill_rows(1),
            "hipModuleLoadData": self._load,
            "hipModuleUnload": self._unload,
            "hipModuleGetFunction": lambda module, name: self.handle(
                self._handles[module].program(name.decode())
            ),
            "hipModuleLaunchKernel": self._launch,
            "hipStreamCreateWithPriority": lambda flags, priority: next(self._numbers),
            "hipStreamDestroy": nothing,
            "hipStreamWaitEvent": nothing,
            "hipStreamSynchronize": nothing,
            "hipEventCreateWithFlags": self.make_event,
            "hipEventDestroy": self.forget,
            "hipEventRecord": self.record,
            "hipEventQuery": nothing,
            "hipEventSynchronize": nothing,
            "hipEventElapsedTime": self.elapsed,
        }

    def _load(self, address: int) -> int:
        return self.handle(LoadedAssembly(ctypes.string_at(address).decode(), self.memory))

    def _unload(self, module: int) -> None:
        self._handles.pop(module).unload()

    def _launch(self, function: int, *rest: Any) -> None:
        """Raises what the launch finds wrong, or what that of a compiled entry has found, just before."""
        self.raise_pending()
        grid, group, shared, _, pointers, _ = rest[:3], rest[3:6], *rest[6:]
        program: WaveProgram = self._handles[int(function)]
        given = bytearray(program.argument_bytes)
        values = values_at(pointers, [nbytes for _, nbytes in program.parameters])
        for (offset, nbytes), value in zip(program.parameters, values, strict=True):
            given[offset : offset + nbytes] = value
        program.launch(grid, group, shared, bytes(given))

    # -- for compiled entries ----------------------------------------------------------------------

    def _c_hipGetDevice(self, to: int) -> int:  # noqa: N802 - HIP's name
        ctypes.c_int.from_address(to).value = self._current
        return 0

    def _c_hipSetDevice(self, number: int) -> int:  # noqa: N802 - HIP's name
        self._current = number
        return 0

    def _c_hipModuleLaunchKernel(self, *arguments: Any) -> int:  # noqa: N802 - HIP's name
        return self.launch_told(self._launch, *arguments)


def _attribute(kind: str, number: int) -> int:
    attributes = {
        "MaxSharedMemoryPerBlock": (160 if CHIPS[number] == "gfx950" else 64) << 10,
        "MaxThreadsPerBlock": 1024,
        "MaxBlockDimX": 1024,
        "MaxBlockDimY": 1024,
        "MaxBlockDimZ": 1024,
        "MaxGridDimX": 2**31 - 1,
        "MaxGridDimY": 65535,
        "MaxGridDimZ": 65535,
        "WarpSize": 64 if CHIPS[number].startswith("gfx9") else 32,
        "Integrated": 0,
        "MultiprocessorCount": 1,
        "MemoryPoolsSupported": 1,
    }
    return attributes[kind.removeprefix("hipDeviceAttribute")]
