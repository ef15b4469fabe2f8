"""The CPU's side of the protocol: memory that NumPy owns, copies that are done when they return.

Arrays on ``cpu`` and ``python`` lie here; their kernels are run by `pykern.launching`, never through this driver.
Read next: `null`, which records what it is told.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pykern.data.artifact import Artifact
from pykern.errors import DeviceError, OutOfMemory
from pykern.runtime.driver import DeviceInfo, Direct, Memory
from pykern.types import DTYPES

ALIGNMENT = 64


class HostDriver:
    """One device whose memory is the host's. `Memory.handle` is an array of bytes."""

    direct: Direct | None = None

    def __init__(self, info: DeviceInfo) -> None:
        self.info = info

    def allocate(self, nbytes: int) -> Memory:
        try:
            whole = np.empty(nbytes + ALIGNMENT, np.uint8)
        except MemoryError as error:
            raise OutOfMemory(f"the host has no {nbytes} bytes: {error}") from None
        start = -whole.ctypes.data % ALIGNMENT
        place = whole[start : start + nbytes]
        return Memory(place, nbytes, place.ctypes.data)

    def free(self, memory: Memory) -> None:
        memory.handle = None

    def pinned(self, nbytes: int) -> np.ndarray:
        return self.allocate(nbytes).handle

    def stream(self, priority: str) -> Any:
        return HostStream(priority)

    def copy_in(self, stream: Any, memory: Memory, offset: int, host: np.ndarray) -> None:
        memory.handle[offset : offset + host.nbytes] = host.reshape(-1).view(np.uint8)

    def copy_out(self, stream: Any, host: np.ndarray, memory: Memory, offset: int) -> None:
        host.reshape(-1).view(np.uint8)[:] = memory.handle[offset : offset + host.nbytes]

    def copy(self, stream: Any, to: Memory, to_offset: int, source: Memory, offset: int, nbytes: int) -> None:
        to.handle[to_offset : to_offset + nbytes] = source.handle[offset : offset + nbytes]

    def fill(self, stream: Any, memory: Memory, offset: int, pattern: bytes, nbytes: int) -> None:
        unit = np.dtype(f"V{len(pattern)}")
        memory.handle[offset : offset + nbytes].view(unit)[:] = np.frombuffer(pattern, unit)[0]

    def load(self, artifact: Artifact) -> Any:
        raise DeviceError(f"{self.info.runtime} loads no device code")

    def launch(
        self,
        stream: Any,
        code: Any,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        shared_bytes: int,
    ) -> None:
        raise DeviceError(f"{self.info.runtime} runs no device code")

    def record(self, stream: Any) -> Any:
        return time.perf_counter_ns()

    def done(self, event: Any) -> bool:
        return True

    def wait(self, event: Any) -> None:
        pass

    def stream_wait(self, stream: Any, event: Any) -> None:
        pass

    def elapsed_ms(self, start: Any, end: Any) -> float:
        return (end - start) / 1e6

    def synchronize(self, stream: Any | None) -> None:
        pass


class HostStream:
    """Work of the host is done when it is asked for."""

    def __init__(self, priority: str) -> None:
        self.priority = priority


class HostRuntime:
    """The CPU, and the reference beside it."""

    name = "cpu"

    def devices(self) -> list[DeviceInfo]:
        return [DeviceInfo("cpu", 0, "CPU", "llvm", dtypes=DTYPES, atomics=DTYPES, unified=True)]

    def open(self, info: DeviceInfo) -> HostDriver:
        return HostDriver(info)


RUNTIME = HostRuntime()
