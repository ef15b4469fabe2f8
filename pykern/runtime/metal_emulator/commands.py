"""Command queues of the emulated Metal: what is encoded runs in a thread of its queue once it is committed.

So the host goes on meanwhile, as beside a GPU, and work of two queues runs at the same time but for what events
order.
"""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

NOT_ENQUEUED, COMMITTED, COMPLETED, FAILED = 0, 2, 4, 5
"""States of a command buffer, MTLCommandBufferStatus."""
_WHY = {
    1: "no memory for the stacks of a group's work-items",
    2: "work-items of a group wait at different places, or for some that have ended",
}
"""Results of a launch, `pk::Result`."""


class NSError:
    """Why something failed."""

    def __init__(self, text: str) -> None:
        self._text = text

    def localizedDescription(self) -> str:  # noqa: N802 - PyObjC's name
        return self._text


class Event:
    """MTLEvent: a number that only grows."""

    def __init__(self) -> None:
        self._value = 0
        self._changed = threading.Condition()

    def signal(self, value: int) -> None:
        with self._changed:
            self._value = max(self._value, value)
            self._changed.notify_all()

    def wait(self, value: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._value >= value)


class CommandQueue:
    """MTLCommandQueue."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[CommandBuffer | None] = queue.SimpleQueue()
        threading.Thread(target=_run, args=(self._work,), name="pykern-metal", daemon=True).start()
        weakref.finalize(self, self._work.put, None)

    def commandBuffer(self) -> CommandBuffer:  # noqa: N802 - PyObjC's names
        return CommandBuffer(self)

    def put(self, commands: CommandBuffer) -> None:
        self._work.put(commands)


def _run(work: queue.SimpleQueue[CommandBuffer | None]) -> None:
    while (commands := work.get()) is not None:
        commands.run()


class CommandFailed(Exception):
    """What stops a command buffer."""


class CommandBuffer:
    """MTLCommandBuffer."""

    def __init__(self, queue: CommandQueue) -> None:
        self._queue: CommandQueue | None = queue
        self._commands: list[Callable[[], None]] = []
        self._status = NOT_ENQUEUED
        self._error: str | None = None
        self._over = threading.Event()
        self._times = 0.0, 0.0

    def computeCommandEncoder(self) -> ComputeEncoder:  # noqa: N802
        return ComputeEncoder(self._commands)

    def blitCommandEncoder(self) -> BlitEncoder:  # noqa: N802
        return BlitEncoder(self._commands)

    def encodeSignalEvent_value_(self, event: Event, value: int) -> None:  # noqa: N802
        self._commands.append(lambda: event.signal(value))

    def encodeWaitForEvent_value_(self, event: Event, value: int) -> None:  # noqa: N802
        self._commands.append(lambda: event.wait(value))

    def commit(self) -> None:
        assert self._queue is not None and self._status == NOT_ENQUEUED, "it is committed once"
        self._status = COMMITTED
        self._queue.put(self)
        self._queue = None

    def run(self) -> None:
        """Run what was encoded; an error ends it, but events are signalled all the same."""
        start = time.perf_counter()
        for command in self._commands:
            if self._error is None or not isinstance(command, Work):
                try:
                    command()
                except CommandFailed as error:
                    self._error = str(error)
        self._times = start, time.perf_counter()
        self._commands = []
        self._status = COMPLETED if self._error is None else FAILED
        self._over.set()

    def waitUntilCompleted(self) -> None:  # noqa: N802
        self._over.wait()

    def status(self) -> int:
        return self._status

    def error(self) -> NSError | None:
        return None if self._error is None else NSError(self._error)

    def GPUStartTime(self) -> float:  # noqa: N802
        return self._times[0]

    def GPUEndTime(self) -> float:  # noqa: N802
        return self._times[1]


class Work:
    """A command that an error before it leaves out."""

    def __init__(self, what: Callable[[], None]) -> None:
        self._what = what

    def __call__(self) -> None:
        self._what()


class Encoder:
    """MTLCommandEncoder. As Metal's validation does, it refuses what comes behind its end."""

    def __init__(self, commands: list[Callable[[], None]]) -> None:
        self._commands: list[Callable[[], None]] | None = commands

    def add(self, what: Callable[[], None]) -> None:
        assert self._commands is not None, "nothing is encoded behind endEncoding"
        self._commands.append(Work(what))

    def endEncoding(self) -> None:  # noqa: N802
        self._commands = None


class BlitEncoder(Encoder):
    """MTLBlitCommandEncoder. macOS takes multiples of four bytes."""

    def copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(  # noqa: N802
        self, source: Any, offset: int, to: Any, to_offset: int, size: int
    ) -> None:
        assert not (offset | to_offset | size) % 4, "multiples of four bytes"
        assert offset + size <= source.length() and to_offset + size <= to.length(), "inside of both buffers"
        overlap = source is to and abs(offset - to_offset) < size
        assert not overlap, "copies within a buffer do not overlap"

        def copy() -> None:
            to.memory[to_offset : to_offset + size] = source.memory[offset : offset + size]

        self.add(copy)


class ComputeEncoder(Encoder):
    """MTLComputeCommandEncoder."""

    def __init__(self, commands: list[Callable[[], None]]) -> None:
        super().__init__(commands)
        self._pipeline: Any = None
        self._buffers: dict[int, tuple[np.ndarray, int]] = {}
        self._shared: dict[int, int] = {}

    def setComputePipelineState_(self, pipeline: Any) -> None:  # noqa: N802
        self._pipeline = pipeline

    def setBuffer_offset_atIndex_(self, buffer: Any, offset: int, index: int) -> None:  # noqa: N802
        assert 0 <= index < 31, "a kernel has 31 buffers"
        self._buffers[index] = buffer.memory, offset

    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None:  # noqa: N802
        assert 0 <= index < 31 and length <= 4096, "so many bytes are a buffer"
        self._buffers[index] = np.frombuffer(data, np.uint8)[:length].copy(), 0

    def setThreadgroupMemoryLength_atIndex_(self, length: int, index: int) -> None:  # noqa: N802
        assert length % 16 == 0, "a multiple of 16 bytes"
        self._shared[index] = length

    def dispatchThreadgroups_threadsPerThreadgroup_(self, grid: Any, group: Any) -> None:  # noqa: N802
        function = self._pipeline.function
        wanted = function.parameters
        buffers = [self._buffers[n] for n in range(wanted.buffers)]
        shared = [self._shared[n] for n in range(wanted.shared)]
        grid, group = tuple(grid), tuple(group)

        def launch() -> None:
            places = [memory.ctypes.data + offset for memory, offset in buffers]
            result = function.library.run(function.name, places, shared, grid, group)
            if result:
                raise CommandFailed(f"`{function.name}`: {_WHY[result]}")

        self.add(launch)
