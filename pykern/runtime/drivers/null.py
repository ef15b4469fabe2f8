"""A device that is not there, for tests: memory is NumPy's, launches are written down and not run.

``null:0`` and ``null:1`` exist on every machine, `pk.devices` does not list them. `NullDriver.launches` holds
what came; code is compiled for OpenCL's flavour of SPIR-V and never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pykern.data.artifact import Artifact
from pykern.errors import OutOfMemory
from pykern.runtime.driver import DeviceInfo, Memory
from pykern.runtime.drivers.host import HostDriver, HostStream
from pykern.types import DTYPES

DEVICES = 2
LIMIT = 1 << 28


@dataclass(frozen=True)
class Launch:
    """What a launch was told."""

    stream: Any
    artifact: Artifact
    arguments: tuple[Memory | int, ...]
    grid: tuple[int, int, int]
    group: tuple[int, int, int]
    shared_bytes: int


class NullDriver(HostDriver):
    """One device that keeps notes: `launches`, and `waits` as (stream, the stream waited for)."""

    def __init__(self, info: DeviceInfo) -> None:
        super().__init__(info)
        self.launches: list[Launch] = []
        self.waits: list[tuple[Any, Any]] = []
        self.reserved = 0

    def allocate(self, nbytes: int) -> Memory:
        if self.reserved + nbytes > self.info.memory_bytes:
            raise OutOfMemory(f"{self.info.memory_bytes - self.reserved} bytes are left")
        self.reserved += nbytes
        return super().allocate(nbytes)

    def free(self, memory: Memory) -> None:
        self.reserved -= memory.nbytes
        super().free(memory)

    def load(self, artifact: Artifact) -> Artifact:
        return artifact

    def launch(
        self,
        stream: Any,
        code: Any,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        shared_bytes: int,
    ) -> None:
        assert all(0 < n <= most for n, most in zip(grid, self.info.max_grid, strict=True)), grid
        self.launches.append(Launch(stream, code, tuple(arguments), grid, group, shared_bytes))

    def record(self, stream: Any) -> tuple[HostStream, int]:
        return stream, super().record(stream)

    def stream_wait(self, stream: Any, event: Any) -> None:
        self.waits.append((stream, event[0]))

    def elapsed_ms(self, start: Any, end: Any) -> float:
        return super().elapsed_ms(start[1], end[1])


class NullRuntime:
    """Devices that are always there."""

    name = "null"

    def devices(self) -> list[DeviceInfo]:
        return [
            DeviceInfo(
                "null",
                ordinal,
                "nothing",
                "spirv:opencl3.0",
                memory_bytes=LIMIT,
                shared_bytes=1 << 16,
                max_grid=(1 << 16, 1 << 10, 1 << 6),
                max_allocation=LIMIT // 2,
                dtypes=DTYPES,
                atomics=DTYPES,
                unified=True,
                driver="none",
            )
            for ordinal in range(DEVICES)
        ]

    def open(self, info: DeviceInfo) -> NullDriver:
        return NullDriver(info)


RUNTIME = NullRuntime()
