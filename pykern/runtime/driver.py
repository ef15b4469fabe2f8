"""What a device's driver can do: the one seam between pykern and the machines kernels run on.

Comes in: memory, bytes and artifacts. Goes out: things done on a device. A driver knows nothing of
kernels, arrays or Python signatures; `pykern.launching.launch` and `pykern.arrays.array` know nothing of drivers' APIs.
Each file of `pykern.runtime.drivers` implements `Runtime` and `Driver` for one API, with that API's own
Python bindings, imported when the first device is asked for; its module-level ``RUNTIME`` is what
`pykern.runtime.registry` finds. Every failure is a `DeviceError` that says what was tried, `OutOfMemory`
where there is no room; nothing raises an exception of the bindings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pykern.data.artifact import Artifact
from pykern.data.records import record


@record
class DeviceInfo:
    """A device of this machine. `target` is what kernels are compiled for when they run here.

    Limits in bytes and counts; 0 where the driver does not tell. `dtypes` are those the device computes
    with; `atomics` those it adds atomically. `unified`: host and device share memory.
    """

    runtime: str
    ordinal: int
    name: str
    target: str
    memory_bytes: int = 0
    shared_bytes: int = 0
    max_group: int = 1024
    max_group_sizes: tuple[int, int, int] = (1024, 1024, 64)
    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    max_allocation: int = 0
    subgroup_size: int = 0
    dtypes: frozenset[str] = frozenset()
    atomics: frozenset[str] = frozenset()
    unified: bool = False
    driver: str = ""
    facts: dict[str, object] = field(default_factory=dict, compare=False)

    @property
    def tuned_as(self) -> str:
        """What timings of `pk.tune` belong to: devices of one name and driver are alike."""
        return f"{self.runtime} {self.name} {self.driver}"


@record
class Missing:
    """Why a kind of device is not there, and what to install."""

    runtime: str
    reason: str
    install: str


@dataclass(eq=False)
class Memory:
    """A piece of a device's memory. `handle` is the driver's; `address` a pointer where the device has them."""

    handle: Any
    nbytes: int
    address: int = 0


class Code(Protocol):
    """A kernel loaded on a device."""


@record
class Direct:
    """How compiled entries launch on a device without Python: addresses of functions, and handles as numbers.

    `form` "addresses": `enter` is cuCtxGetCurrent, `flush` cuCtxSetCurrent, for the time of `launch`, which takes the
    arguments of cuLaunchKernel; its parameters are the addresses of 8-byte cells. "handles": `enter` is
    clSetKernelArg, `launch` clEnqueueNDRangeKernel, `flush` clFlush. `code` gives the handle of a loaded kernel, and
    what keeps it alive; nobody else launches by it.
    """

    form: str
    launch: int
    enter: int
    code: Callable[[Any], tuple[int, Any]]
    stream: Callable[[Any], int]
    memory: Callable[[Memory], int]
    context: int = 0
    flush: int = 0


class Driver(Protocol):
    """One device. Streams and events are the driver's own objects, opaque to everybody else.

    Work of one stream runs in order. Copies and launches return before they are done; host memory of a
    copy that is under way is the caller's to keep alive.
    """

    info: DeviceInfo
    direct: Direct | None
    """None where launches go through `launch` alone."""

    def allocate(self, nbytes: int) -> Memory: ...

    def free(self, memory: Memory) -> None: ...

    def pinned(self, nbytes: int) -> np.ndarray:
        """Host memory that copies overlap with kernels from; a u8 array."""
        ...

    def stream(self, priority: str) -> Any:
        """A new stream; `priority` is "high", "normal" or "low", the ends and the middle of the device's range."""
        ...

    def copy_in(self, stream: Any, memory: Memory, offset: int, host: np.ndarray) -> None:
        """Host to device; `host` is contiguous, `offset` in bytes."""
        ...

    def copy_out(self, stream: Any, host: np.ndarray, memory: Memory, offset: int) -> None: ...

    def copy(
        self, stream: Any, to: Memory, to_offset: int, source: Memory, offset: int, nbytes: int
    ) -> None: ...

    def fill(self, stream: Any, memory: Memory, offset: int, pattern: bytes, nbytes: int) -> None:
        """Repeat `pattern` (1, 2, 4 or 8 bytes)."""
        ...

    def load(self, artifact: Artifact) -> Any: ...

    def launch(
        self,
        stream: Any,
        code: Any,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        shared_bytes: int,
    ) -> None:
        """`arguments` in the order of `DeviceCode.arguments`; grid and group count along x, y, z.

        `shared_bytes` is what the launch adds to the code's own. Where the code knows no offsets, a memory
        may begin inside of an allocated one: then only its `address` and `handle` tell.
        """
        ...

    def record(self, stream: Any) -> Any:
        """An event: everything put into the stream so far."""
        ...

    def done(self, event: Any) -> bool: ...

    def wait(self, event: Any) -> None:
        """Block the host until the event; raises what the work before it raised."""
        ...

    def stream_wait(self, stream: Any, event: Any) -> None:
        """Later work of `stream` waits for `event`; the host does not."""
        ...

    def elapsed_ms(self, start: Any, end: Any) -> float:
        """Device time between two events that are done."""
        ...

    def synchronize(self, stream: Any | None) -> None:
        """Block until the stream, or the whole device, is done."""
        ...


class Runtime(Protocol):
    """One kind of device."""

    name: str

    def devices(self) -> list[DeviceInfo] | Missing:
        """What is there. Raises nothing."""
        ...

    def open(self, info: DeviceInfo) -> Driver:
        """The driver of one of `devices`."""
        ...
