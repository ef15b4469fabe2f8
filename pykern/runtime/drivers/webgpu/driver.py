"""One device of WebGPU: buffers, kernels as WGSL, and the one queue that all streams share.

Comes in: what `pykern.runtime.driver` asks. Goes out: the same done through wgpu; its exceptions come out as
`DeviceError` or `OutOfMemory`. Read next: `queue`, `transfers`.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import wgpu

from pykern.data.artifact import Artifact
from pykern.errors import DeviceError, OutOfMemory
from pykern.runtime.driver import DeviceInfo, Direct, Memory
from pykern.runtime.drivers.forked import ProcessLock
from pykern.runtime.drivers.launched import Launched
from pykern.runtime.drivers.webgpu.facts import STAMPS, features, limits
from pykern.runtime.drivers.webgpu.queue import Mark, Queue
from pykern.runtime.drivers.webgpu.transfers import GRAIN, Transfers

_USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
_WORD = (1 << 64) - 1
BOUND = 16
"""Sets of arrays that a kernel remembers to have been launched with."""


@dataclass(eq=False)
class Stream:
    """A name for the one queue: work of all streams runs in order."""

    priority: str


@dataclass(eq=False)
class Code:
    """A kernel; `bound` are its arguments' memories as WebGPU wants them, the last used last."""

    name: str
    arguments: tuple[str, ...]
    group: tuple[int, ...]
    pipeline: Any
    layout: Any
    words: struct.Struct
    bound: OrderedDict[tuple[Any, ...], Any] = field(default_factory=OrderedDict)


@contextmanager
def trying(what: str) -> Iterator[None]:
    """Turn wgpu's exceptions into pykern's: `what` was tried."""
    try:
        yield
    except wgpu.GPUOutOfMemoryError as error:
        raise OutOfMemory(f"WebGPU: {what}: {error}") from None
    except (wgpu.GPUError, RuntimeError, ValueError) as error:
        raise DeviceError(f"WebGPU: {what}: {error}") from None


class WebGpuDriver:
    """See `pykern.runtime.driver.Driver`. `Memory.handle` is a `GPUBuffer`, an event a `Mark`, or None for nothing."""

    direct: Direct | None = None

    def __init__(self, adapter: Any, info: DeviceInfo) -> None:
        self.info = info
        there = features(adapter)
        with trying(f"open {info.name}"):
            self._device = adapter.request_device_sync(
                required_features=there, required_limits=limits(adapter)
            )
            self._queue = Queue(self._device, set(STAMPS) <= set(there))
        self._most_buffers = adapter.limits["max-storage-buffers-per-shader-stage"]
        self._transfers = Transfers(self._device, self._queue)
        self._launched = Launched()
        self._lock = ProcessLock(f"webgpu:{info.ordinal} ({info.name})")

    # -- memory ----------------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> Memory:
        size = max(GRAIN, -(-nbytes // GRAIN) * GRAIN)
        if size > self.info.max_allocation:
            raise OutOfMemory(
                f"WebGPU: {nbytes} bytes in one piece, and {self.info.name} lets a kernel see "
                f"{self.info.max_allocation} at most",
                hint="split the array into several",
            )
        with self._lock, trying(f"a buffer of {nbytes} bytes"):
            return Memory(self._device.create_buffer(size=size, usage=_USAGE), nbytes)

    def free(self, memory: Memory) -> None:
        if self._lock.inherited:
            return
        with self._lock, trying("free a buffer"):
            self._queue.submit()  # what is recorded may use it; what is submitted keeps it
            memory.handle.destroy()

    def pinned(self, nbytes: int) -> np.ndarray:
        """WebGPU has no memory that both sides see for long: it is ordinary memory."""
        return np.empty(nbytes, np.uint8)

    def copy_in(self, stream: Stream, memory: Memory, offset: int, host: np.ndarray) -> None:
        if host.nbytes:
            with self._lock, trying(f"copy {host.nbytes} bytes to the device"):
                self._transfers.copy_in(memory.handle, offset, host.reshape(-1).view(np.uint8))

    def copy_out(self, stream: Stream, host: np.ndarray, memory: Memory, offset: int) -> None:
        if host.nbytes:
            with self._lock, self._launched.told(), trying(f"copy {host.nbytes} bytes from the device"):
                self._transfers.copy_out(memory.handle, offset, host.reshape(-1).view(np.uint8))

    def copy(
        self, stream: Stream, to: Memory, to_offset: int, source: Memory, offset: int, nbytes: int
    ) -> None:
        if nbytes:
            with self._lock, trying(f"copy {nbytes} bytes on the device"):
                self._transfers.copy(to.handle, to_offset, source.handle, offset, nbytes)

    def fill(self, stream: Stream, memory: Memory, offset: int, pattern: bytes, nbytes: int) -> None:
        if nbytes:
            with self._lock, trying(f"fill {nbytes} bytes"):
                self._transfers.fill(memory.handle, offset, pattern, nbytes)

    # -- kernels ---------------------------------------------------------------------------------

    def load(self, artifact: Artifact) -> Code:
        assert artifact.device is not None, "it was compiled for a device"
        name, arguments = artifact.kernel, artifact.device.arguments
        memories = arguments.count("memory")
        if memories > self._most_buffers:
            raise DeviceError(
                f"{name} takes {memories} pieces of memory; {self.info.name} binds at most {self._most_buffers}"
            )
        words = struct.Struct(f"<{len(arguments) - memories}Q8x")  # behind them a zero
        kinds: list[dict[str, Any]] = [{"type": "storage"}] * memories
        kinds.append({"type": "uniform", "has_dynamic_offset": True, "min_binding_size": words.size})
        entries = [
            {"binding": number, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": kind}
            for number, kind in enumerate(kinds)
        ]
        with self._lock, trying(f"load `{name}` (WGSL, {len(artifact.binary)} bytes)"):
            layout = self._device.create_bind_group_layout(entries=entries)
            module = self._device.create_shader_module(code=artifact.binary.decode())
            pipeline = self._device.create_compute_pipeline(
                layout=self._device.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={"module": module, "entry_point": artifact.entry},
            )
        return Code(name, arguments, artifact.workgroup, pipeline, layout, words)

    def launch(
        self,
        stream: Stream,
        code: Code,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        shared_bytes: int,
    ) -> None:
        if 0 in grid:
            return
        self._launched.add(code.name)
        buffers = tuple(each.handle for each in arguments if isinstance(each, Memory))
        numbers = [each & _WORD for each in arguments if not isinstance(each, Memory)]
        with self._lock, trying(f"launch `{code.name}`, {grid} groups of {group}"):
            place = self._queue.put_words(code.words.pack(*numbers))
            self._queue.commands().launch(code.pipeline, self._bound(code, buffers), place, grid)

    def _bound(self, code: Code, buffers: tuple[Any, ...]) -> Any:
        found = code.bound.get(buffers)
        if found is None:
            resources = [{"buffer": buffer, "offset": 0, "size": buffer.size} for buffer in buffers]
            resources.append({"buffer": self._queue.words, "offset": 0, "size": code.words.size})
            entries = [{"binding": number, "resource": each} for number, each in enumerate(resources)]
            found = code.bound[buffers] = self._device.create_bind_group(layout=code.layout, entries=entries)
            if len(code.bound) > BOUND:
                code.bound.popitem(last=False)
        else:
            code.bound.move_to_end(buffers)
        return found

    # -- streams and events ----------------------------------------------------------------------

    def stream(self, priority: str) -> Stream:
        self._lock.check()
        return Stream(priority)

    def record(self, stream: Stream) -> Mark | None:
        with self._lock, trying("record an event"):
            return self._queue.mark()

    def done(self, event: Mark | None) -> bool:
        if event is None or event.number <= self._queue.completed:
            return True
        with self._lock, self._launched.told(), trying("ask for an event"):
            return self._queue.ask(event)

    def wait(self, event: Mark | None) -> None:
        if event is not None and event.number > self._queue.completed:
            with self._lock, self._launched.told(), trying("wait for an event"):
                self._queue.settle(event)

    def stream_wait(self, stream: Stream, event: Mark | None) -> None:
        """All streams are one queue, which runs in order."""

    def elapsed_ms(self, start: Mark | None, end: Mark | None) -> float:
        if not self._queue.stamps:
            raise DeviceError(f"webgpu:{self.info.ordinal} ({self.info.name}) keeps no time")
        if start is None or end is None:
            return 0.0  # nothing was submitted before one of them
        with self._lock, trying("read the times of events"):
            return (self._queue.nanoseconds(end) - self._queue.nanoseconds(start)) / 1e6

    def synchronize(self, stream: Stream | None) -> None:
        self.wait(self.record(stream or Stream("normal")))
