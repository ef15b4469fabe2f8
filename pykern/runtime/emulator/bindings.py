"""What `cuda.bindings.driver` is for a GPU, for emulated ones: the functions that `pykern.runtime.drivers.cuda` calls.

Comes in: calls, with the arguments of CUDA's driver API. Goes out: tuples that begin with a result code. Everything is
done at once, so streams need no order. What a launch finds wrong is raised where it is launched from Python; compiled
entries get a result code, and Python, which launches again, raises it then.
"""

from __future__ import annotations

import ctypes
import enum
import itertools
import time
from collections.abc import Callable
from typing import Any

from pykern.errors import KernelError
from pykern.runtime.emulator.device_memory import DeviceMemory, NoRoom
from pykern.runtime.emulator.program import LoadedText, Program
from pykern.runtime.emulator.ptx import rounded_up

MEMORY = 2 << 30
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
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_LAUNCH_FAILED = 719


class _Names:
    """Every attribute is its own name: an enumeration of the bindings."""

    def __getattr__(self, name: str) -> str:
        return name


class Bindings:
    """In the place of the module. A device's number is its compute capability; all share one memory."""

    CUdevice_attribute = CUfunction_attribute = _Names()

    def __init__(self) -> None:
        self._memory: DeviceMemory | None = None
        self._current = 0
        self._handles: dict[int, Any] = {}
        self._numbers = itertools.count(1)
        self._pinned: dict[int, Any] = {}
        self._pending: KernelError | None = None
        self._c_functions: dict[str, Any] = {}
        for name, function in self._functions().items():
            setattr(self, name, _answering(function))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the emulator has no {name}")

    def _functions(self) -> dict[str, Callable[..., Any]]:
        def nothing(*_: Any) -> None:
            """All work is done already."""

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
            "cuCtxSetCurrent": self._select,
            "cuCtxSynchronize": nothing,
            "cuCtxGetStreamPriorityRange": lambda: (0, -5),
            "cuGetErrorString": lambda code: Result(code).name.encode(),
            "cuGetProcAddress": lambda name, version, flags: (self._c_address(name.decode()), 0),
            "cuMemAlloc": self._allocate,
            "cuMemAllocAsync": self._allocate,
            "cuMemFree": self._free,
            "cuMemFreeAsync": self._free,
            "cuMemHostAlloc": self._host_allocate,
            "cuMemFreeHost": lambda address: self._pinned.pop(address) and None,
            "cuMemcpyHtoDAsync": _copy,
            "cuMemcpyDtoHAsync": _copy,
            "cuMemcpyDtoDAsync": _copy,
            "cuMemsetD8Async": _fill(1),
            "cuMemsetD16Async": _fill(2),
            "cuMemsetD32Async": _fill(4),
            "cuMemsetD2D8Async": _fill_rows(1),
            "cuMemsetD2D32Async": _fill_rows(4),
            "cuModuleLoadData": self._load,
            "cuModuleUnload": self._unload,
            "cuModuleGetFunction": lambda module, name: self._handle(
                self._handles[module].program(name.decode())
            ),
            "cuFuncSetAttribute": nothing,
            "cuLaunchKernel": self._launch,
            "cuStreamCreateWithPriority": lambda flags, priority: next(self._numbers),
            "cuStreamDestroy": nothing,
            "cuStreamWaitEvent": nothing,
            "cuStreamSynchronize": nothing,
            "cuEventCreate": lambda flags: self._handle([0.0]),
            "cuEventDestroy": lambda event: self._handles.pop(event) and None,
            "cuEventRecord": self._record,
            "cuEventQuery": nothing,
            "cuEventSynchronize": nothing,
            "cuEventElapsedTime": lambda start, end: (self._handles[end][0] - self._handles[start][0]) * 1e3,
        }

    def _handle(self, what: Any) -> int:
        number = next(self._numbers)
        self._handles[number] = what
        return number

    def _select(self, context: int) -> None:
        self._current = int(context)

    def _record(self, event: int, stream: int) -> None:
        self._handles[event][0] = time.perf_counter()

    # -- memory ------------------------------------------------------------------------------------

    @property
    def memory(self) -> DeviceMemory:
        if self._memory is None:
            self._memory = DeviceMemory(MEMORY)
        return self._memory

    def _allocate(self, nbytes: int, *_: Any) -> int | Result:
        try:
            return self.memory.allocate(nbytes)
        except NoRoom:
            return Result.CUDA_ERROR_OUT_OF_MEMORY

    def _free(self, address: int, *_: Any) -> None:
        self.memory.free(address)

    def _host_allocate(self, nbytes: int, flags: int) -> int:
        buffer = ctypes.create_string_buffer(nbytes)
        address = ctypes.addressof(buffer)
        self._pinned[address] = buffer
        return address

    # -- kernels -----------------------------------------------------------------------------------

    def _load(self, address: int) -> int:
        return self._handle(LoadedText(ctypes.string_at(address).decode(), self.memory))

    def _unload(self, module: int) -> None:
        self._handles.pop(module).unload()

    def _launch(self, function: int, *rest: Any) -> None:
        """Raises what the launch finds wrong, or what that of a compiled entry has found, just before."""
        pending, self._pending = self._pending, None
        if pending is not None:
            raise pending
        grid, group, shared, _, pointers, _ = rest[:3], rest[3:6], *rest[6:]
        program: Program = self._handles[int(function)]
        addresses = (ctypes.c_void_p * len(program.parameters)).from_address(pointers)
        given = b""
        for address, (_, nbytes) in zip(addresses, program.parameters, strict=True):
            given += ctypes.string_at(address, nbytes).ljust(rounded_up(nbytes, 8), b"\0")
        program.launch(grid, group, shared, given)

    # -- for compiled entries ----------------------------------------------------------------------

    def _c_address(self, name: str) -> int:
        """The address of a C function that does what the binding does."""
        if name not in self._c_functions:
            form = ctypes.CFUNCTYPE(ctypes.c_int, *_C_FORMS[name])
            self._c_functions[name] = form(getattr(self, f"_c_{name}"))
        return ctypes.cast(self._c_functions[name], ctypes.c_void_p).value or 0

    def _c_cuCtxGetCurrent(self, to: int) -> int:  # noqa: N802 - CUDA's name
        ctypes.c_uint64.from_address(to).value = self._current
        return 0

    def _c_cuCtxSetCurrent(self, context: int | None) -> int:  # noqa: N802 - CUDA's name
        self._current = context or 0
        return 0

    def _c_cuLaunchKernel(self, *arguments: Any) -> int:  # noqa: N802 - CUDA's name
        try:
            self._launch(*arguments)
        except KernelError as error:
            self._pending = error
            return Result.CUDA_ERROR_LAUNCH_FAILED
        return 0


def _answering(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the bindings: a result code, then the values."""

    def call(*arguments: Any) -> tuple[Any, ...]:
        given = function(*arguments)
        if isinstance(given, Result):
            return given, None
        values = given if isinstance(given, tuple) else () if given is None else (given,)
        return (Result.CUDA_SUCCESS, *values)

    return call


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


def _copy(to: int, source: int, nbytes: int, stream: Any) -> None:
    ctypes.memmove(to, source, nbytes)


def _fill(width: int) -> Callable[..., None]:
    def fill(address: int, value: int, count: int, stream: Any) -> None:
        ctypes.memmove(address, value.to_bytes(width, "little") * count, width * count)

    return fill


def _fill_rows(width: int) -> Callable[..., None]:
    def fill(address: int, pitch: int, value: int, columns: int, rows: int, stream: Any) -> None:
        data = value.to_bytes(width, "little") * columns
        for row in range(rows):
            ctypes.memmove(address + row * pitch, data, len(data))

    return fill
