"""The framework Metal as PyObjC gives it to Python, over the host: devices, buffers, libraries, pipelines.

What the driver (`pykern.runtime.drivers.metal`) calls is here under the same names, with the same arguments and
results, so that the driver runs unchanged. Memory is the host's; a text is compiled as C++ (`compile`). Read next:
`commands`, which runs what is committed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pykern.runtime.metal_emulator.commands import CommandQueue, Event, NSError
from pykern.runtime.metal_emulator.compile import CompileError, Library, Parameters, compiled

MTLResourceStorageModeShared = 0
MTLCommandBufferStatusCompleted = 4
MTLCommandBufferStatusError = 5
MTLMathModeSafe = 0
MTLMathFloatingPointFunctionsPrecise = 1
MTLGPUFamilyApple7 = 1007

MOST_ITEMS = 1024
GROUP_BYTES = 32 << 10
BUFFER_BYTES = 1 << 34


class MTLSize(NamedTuple):
    """Counts along three axes."""

    width: int
    height: int
    depth: int


MTLSizeMake = MTLSize


class MTLCompileOptions:
    """How a text is compiled. Only the strict way is emulated, so nobody may ask for another."""

    @classmethod
    def alloc(cls) -> MTLCompileOptions:
        return cls()

    def init(self) -> MTLCompileOptions:
        return self

    def setMathMode_(self, mode: int) -> None:  # noqa: N802
        if mode != MTLMathModeSafe:
            raise ValueError("only MTLMathModeSafe is emulated")

    def setMathFloatingPointFunctions_(self, functions: int) -> None:  # noqa: N802
        if functions != MTLMathFloatingPointFunctionsPrecise:
            raise ValueError("only MTLMathFloatingPointFunctionsPrecise is emulated")

    def setFastMathEnabled_(self, enabled: bool) -> None:  # noqa: N802
        if enabled:
            raise ValueError("fast math is not emulated")


class Contents:
    """The address of a buffer, as PyObjC gives it: an array of no known length."""

    def __init__(self, memory: np.ndarray) -> None:
        self._memory = memory

    def as_buffer(self, count: int) -> memoryview:
        return self._memory.data[:count]


class Buffer:
    """MTLBuffer: memory of the host."""

    def __init__(self, memory: np.ndarray) -> None:
        self.memory = memory

    def length(self) -> int:
        return self.memory.nbytes

    def contents(self) -> Contents:
        return Contents(self.memory)


class Function:
    """MTLFunction: a kernel of a library, by its name."""

    def __init__(self, library: Library, name: str) -> None:
        self.library, self.name = library, name

    @property
    def parameters(self) -> Parameters:
        return self.library.kernels[self.name]


class MetalLibrary:
    """MTLLibrary: a text that was compiled."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def newFunctionWithName_(self, name: str) -> Function | None:  # noqa: N802
        return Function(self._library, name) if name in self._library.kernels else None


class Pipeline:
    """MTLComputePipelineState."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def maxTotalThreadsPerThreadgroup(self) -> int:  # noqa: N802
        return MOST_ITEMS

    def threadExecutionWidth(self) -> int:  # noqa: N802
        return 32


class Device:
    """MTLDevice: one of Apple's GPUs, as old as the family `MTLGPUFamilyApple7`."""

    def name(self) -> str:
        return "Metal on the host"

    def registryID(self) -> int:  # noqa: N802
        return 1

    def hasUnifiedMemory(self) -> bool:  # noqa: N802
        return True

    def recommendedMaxWorkingSetSize(self) -> int:  # noqa: N802
        return BUFFER_BYTES

    def maxBufferLength(self) -> int:  # noqa: N802
        return BUFFER_BYTES

    def maxThreadsPerThreadgroup(self) -> MTLSize:  # noqa: N802
        return MTLSize(MOST_ITEMS, MOST_ITEMS, MOST_ITEMS)

    def maxThreadgroupMemoryLength(self) -> int:  # noqa: N802
        return GROUP_BYTES

    def supportsFamily_(self, family: int) -> bool:  # noqa: N802
        return family <= MTLGPUFamilyApple7

    def newBufferWithLength_options_(self, length: int, options: int) -> Buffer | None:  # noqa: N802
        if not 0 < length <= BUFFER_BYTES:
            return None
        try:
            return Buffer(np.zeros(length, np.uint8))
        except MemoryError:
            return None

    def newBufferWithBytes_length_options_(self, data: Any, length: int, options: int) -> Buffer:  # noqa: N802
        return Buffer(np.frombuffer(data, np.uint8)[:length].copy())

    def newCommandQueue(self) -> CommandQueue:  # noqa: N802
        return CommandQueue()

    def newEvent(self) -> Event:  # noqa: N802
        return Event()

    def newLibraryWithSource_options_error_(  # noqa: N802
        self, text: str, options: MTLCompileOptions, error: None
    ) -> tuple[MetalLibrary | None, NSError | None]:
        try:
            return MetalLibrary(compiled(text)), None
        except CompileError as failure:
            return None, NSError(str(failure))

    def newComputePipelineStateWithFunction_error_(  # noqa: N802
        self, function: Function, error: None
    ) -> tuple[Pipeline, None]:
        return Pipeline(function), None


_device = Device()


def MTLCopyAllDevices() -> tuple[Device, ...]:  # noqa: N802
    return (_device,)


def MTLCreateSystemDefaultDevice() -> Device:  # noqa: N802
    return _device
