"""FAKE bindings of CUDA and HIP: no GPU and no driver is behind them, and what passes with them is no device test.

They do in the host's memory, at once, what the functions that the drivers call would do on a device, and write
down each call. They take only what the real bindings take: numbers, and handles that they gave out.
"""

from __future__ import annotations

import ctypes
import enum
import types
from typing import Any


class Result(enum.IntEnum):
    """Result codes; both APIs number these alike."""

    SUCCESS = 0
    OUT_OF_MEMORY = 2
    NO_DEVICE = 100
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_FAILED = 719


NAMES = {
    "cuda": {one: f"CUDA_{'' if one == 0 else 'ERROR_'}{one.name}" for one in Result},
    "hip": {
        Result.SUCCESS: "hipSuccess",
        Result.OUT_OF_MEMORY: "hipErrorOutOfMemory",
        Result.NO_DEVICE: "hipErrorNoDevice",
        Result.NOT_READY: "hipErrorNotReady",
        Result.ILLEGAL_ADDRESS: "hipErrorIllegalAddress",
        Result.LAUNCH_OUT_OF_RESOURCES: "hipErrorLaunchOutOfResources",
        Result.LAUNCH_FAILED: "hipErrorLaunchFailure",
    },
}


class Code:
    """A result code of one API."""

    def __init__(self, api: str, number: Result) -> None:
        self.name = NAMES[api][number]
        self._number = number

    def __int__(self) -> int:
        return int(self._number)


class Handle:
    """A stream, an event, a module or a function."""

    def __init__(self, kind: str, what: Any = None) -> None:
        self.kind, self.what = kind, what

    def __int__(self) -> int:
        return id(self)


class Machine:
    """What both fakes have behind them. `kernels` are Python functions of (cells, grid, group, shared)."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.memory: dict[int, Any] = {}
        self.fails: dict[str, Result] = {}
        self.kernels: dict[bytes, Any] = {}
        self.cells = 0
        self.images: list[bytes] = []
        self.functions: dict[int, Handle] = {}
        self.kept: dict[str, Any] = {}
        self.current = 0
        """What the calling thread has selected."""
        self.selected: list[int] = []
        """The same at each launch of a compiled entry."""

    def did(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for called, arguments in self.calls if called == name]

    def function(self, name: str, does: Any) -> Any:
        def call(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append((name, arguments))
            if name in self.fails:
                return (Code(self.api, self.fails[name]), None)
            given = does(*arguments)
            values = given if isinstance(given, tuple) else () if given is None else (given,)
            return (Code(self.api, Result.SUCCESS), *values)

        return call

    # -- what the functions do ---------------------------------------------------------------------

    def allocate(self, nbytes: int, *_: Any) -> int:
        buffer = ctypes.create_string_buffer(nbytes)
        address = ctypes.addressof(buffer)
        self.memory[address] = buffer
        return address

    def free(self, address: int, *_: Any) -> None:
        del self.memory[address]

    def copy(self, to: int, source: int, nbytes: int, stream: Any) -> None:
        assert abs(to - source) >= nbytes, "bytes of a copy meet"
        ctypes.memmove(to, source, nbytes)

    def setter(self, width: int) -> Any:
        def fill(address: int, value: int, count: int, stream: Any) -> None:
            assert address % width == 0
            low = -(1 << 31) if self.api == "hip" and width == 4 else 0  # an int there
            assert low <= value < (low + (1 << 8 * width))
            ctypes.memmove(
                address, (value % (1 << 8 * width)).to_bytes(width, "little") * count, width * count
            )

        return fill

    def setter_2d(self, width: int) -> Any:
        def fill(address: int, pitch: int, value: int, columns: int, rows: int, stream: Any) -> None:
            assert address % width == 0 and pitch % width == 0
            for row in range(rows):
                data = value.to_bytes(width, "little") * columns
                ctypes.memmove(address + row * pitch, data, len(data))

        return fill

    def load(self, address: int) -> Handle:
        self.images.append(ctypes.string_at(address))  # up to the zero byte
        return Handle("module")

    def find(self, module: Handle, name: bytes) -> Handle:
        found = Handle("function", self.kernels[name])
        self.functions[int(found)] = found
        return found

    def address_of(self, name: str) -> int:
        """A C function that does what the binding does, for compiled entries: `current`, `select`, `launch`."""
        if name not in self.kept:
            launches = "Launch" in name

            def call(*arguments: Any) -> int:
                self.calls.append((f"C {name}", arguments))
                if name in self.fails:
                    return self.fails[name].value
                if launches:
                    self.selected.append(self.current)
                    self.launch(self.functions[arguments[0]], *arguments[1:])
                elif "Get" in name:
                    ctypes.c_int64.from_address(arguments[0]).value = self.current
                else:
                    self.current = arguments[0] or 0
                return 0

            pointer, number = ctypes.c_void_p, ctypes.c_uint
            kinds = (pointer, *(number,) * 7, *(pointer,) * 3) if launches else (pointer,)
            self.kept[name] = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(call)
        return ctypes.cast(self.kept[name], ctypes.c_void_p).value or 0

    def select(self, what: Any) -> None:
        self.current = int(what)

    def launch(self, function: Handle, *rest: Any) -> None:
        grid, group, shared, _, pointers, _ = rest[:3], rest[3:6], *rest[6:]
        addresses = (ctypes.c_void_p * self.cells).from_address(pointers)
        cells = [ctypes.c_uint64.from_address(address).value for address in addresses]
        function.what(cells, grid, group, shared)


def _common(machine: Machine) -> dict[str, Any]:
    """The functions by the names of `pykern.runtime.drivers.addresses.Calls`."""
    none = lambda *_: None  # noqa: E731 - shorter than a function
    return {
        "allocate": machine.allocate,
        "free": machine.free,
        "host_allocate": machine.allocate,
        "host_free": machine.free,
        "copy_in": machine.copy,
        "copy_out": machine.copy,
        "copy": machine.copy,
        "set_8": machine.setter(1),
        "set_16": machine.setter(2),
        "set_32": machine.setter(4),
        "set_2d_8": machine.setter_2d(1),
        "set_2d_32": machine.setter_2d(4),
        "load": machine.load,
        "unload": none,
        "function": machine.find,
        "launch": machine.launch,
        "priorities": lambda: (0, -5),
        "stream": lambda flags, priority: Handle("stream", priority),
        "stream_destroy": none,
        "stream_wait": none,
        "stream_synchronize": none,
        "synchronize": none,
        "event": lambda flags: Handle("event"),
        "event_destroy": none,
        "record": none,
        "query": none,
        "wait": none,
        "elapsed": lambda start, end: 1.5,
        "error_text": lambda code: b"told by a fake",
    }


CUDA_NAMES = {
    "cuMemAlloc": "allocate", "cuMemFree": "free", "cuMemAllocAsync": "allocate", "cuMemFreeAsync": "free",
    "cuMemHostAlloc": "host_allocate", "cuMemFreeHost": "host_free", "cuMemcpyHtoDAsync": "copy_in",
    "cuMemcpyDtoHAsync": "copy_out", "cuMemcpyDtoDAsync": "copy", "cuMemsetD8Async": "set_8",
    "cuMemsetD16Async": "set_16", "cuMemsetD32Async": "set_32", "cuMemsetD2D8Async": "set_2d_8",
    "cuMemsetD2D32Async": "set_2d_32", "cuModuleLoadData": "load", "cuModuleUnload": "unload",
    "cuModuleGetFunction": "function", "cuLaunchKernel": "launch", "cuCtxGetStreamPriorityRange": "priorities",
    "cuStreamCreateWithPriority": "stream", "cuStreamDestroy": "stream_destroy", "cuStreamWaitEvent": "stream_wait",
    "cuStreamSynchronize": "stream_synchronize", "cuCtxSynchronize": "synchronize", "cuEventCreate": "event",
    "cuEventDestroy": "event_destroy", "cuEventRecord": "record", "cuEventQuery": "query",
    "cuEventSynchronize": "wait", "cuEventElapsedTime": "elapsed", "cuGetErrorString": "error_text",
}  # fmt: skip
HIP_NAMES = {
    name.replace("cu", "hip", 1): what for name, what in CUDA_NAMES.items()
} | {
    "hipMalloc": "allocate", "hipFree": "free", "hipMallocAsync": "allocate", "hipFreeAsync": "free",
    "hipHostMalloc": "host_allocate", "hipHostFree": "host_free", "hipModuleLaunchKernel": "launch",
    "hipDeviceGetStreamPriorityRange": "priorities", "hipDeviceSynchronize": "synchronize",
    "hipEventCreateWithFlags": "event", "hipMemset2DAsync": "set_2d_8",
}  # fmt: skip


class Names:
    """Every attribute is its own name: an enumeration of the bindings."""

    def __getattr__(self, name: str) -> str:
        return name


def fake_cuda(machine: Machine, attributes: dict[str, int]) -> types.ModuleType:
    """In the place of ``cuda.bindings.driver``."""
    module = types.ModuleType("fake_cuda_bindings")
    common = _common(machine)
    functions = {name: common[what] for name, what in CUDA_NAMES.items()} | {
        "cuInit": lambda flags: None,
        "cuDeviceGetCount": lambda: 1,
        "cuDeviceGet": lambda number: number,
        "cuDeviceGetName": lambda length, device: b"Fake GPU".ljust(length, b"\0"),
        "cuDeviceTotalMem": lambda device: 1 << 34,
        "cuDriverGetVersion": lambda: 12090,
        "cuDeviceGetAttribute": lambda kind, device: attributes[kind.removeprefix("CU_DEVICE_ATTRIBUTE_")],
        "cuDevicePrimaryCtxRetain": lambda device: Handle("context"),
        "cuCtxGetCurrent": lambda: machine.current,
        "cuCtxSetCurrent": machine.select,
        "cuFuncSetAttribute": lambda function, kind, value: None,
        "cuGetProcAddress": lambda name, version, flags: (machine.address_of(name.decode()), 0),
    }
    for name, does in functions.items():
        setattr(module, name, machine.function(name, does))
    module.CUdevice_attribute = module.CUfunction_attribute = Names()
    return module


def fake_hip(machine: Machine, attributes: dict[str, int]) -> types.ModuleType:
    """In the place of ``hip.hip``."""
    module = types.ModuleType("fake_hip_bindings")
    common = _common(machine)
    properties = types.SimpleNamespace(
        name="Fake GPU", gcnArchName="gfx942:sramecc+:xnack-", totalGlobalMem=1 << 34
    )
    functions = {name: common[what] for name, what in HIP_NAMES.items()} | {
        "hipGetDeviceCount": lambda: 1,
        "hipGetDeviceProperties": lambda number: properties,
        "hipDeviceGetAttribute": lambda kind, number: attributes[kind.removeprefix("hipDeviceAttribute")],
        "hipRuntimeGetVersion": lambda: 60_342_134,
        "hipGetDevice": lambda: machine.current,
        "hipSetDevice": machine.select,
    }
    for name, does in functions.items():
        setattr(module, name, machine.function(name, does))
    module.hipDeviceAttribute_t = Names()
    return module
