"""One device of Metal: buffers that host and device share, kernels as text in Metal's language, command queues.

Comes in: what `pykern.runtime.driver` asks. Goes out: the same done through PyObjC; what it raises and the errors
that Metal gives come out as `DeviceError` or `OutOfMemory`. Read next: `stream`, `transfers`.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.data.artifact import Artifact
from pykern.errors import DeviceError, OutOfMemory
from pykern.runtime.driver import DeviceInfo, Direct, Memory
from pykern.runtime.drivers.forked import ProcessLock
from pykern.runtime.drivers.launched import Launched
from pykern.runtime.drivers.metal.facts import LANES
from pykern.runtime.drivers.metal.framework import Framework
from pykern.runtime.drivers.metal.stream import Mark, Stream
from pykern.runtime.drivers.metal.transfers import GRAIN, copy, copy_in, copy_out, fill

_WORD = (1 << 64) - 1
MOST_BUFFERS = 31
"""Buffers of a kernel, by "Metal feature set tables"; the last is that of a launch's numbers."""
MOST_INLINE = 4096
"""Bytes that a command may carry in place of a buffer."""


@dataclass(eq=False)
class Code:
    """A kernel; `sized` arrays of a group's memory get their length from a launch."""

    name: str
    pipeline: Any
    memories: int
    words: struct.Struct
    sized: int


class MetalDriver:
    """See `pykern.runtime.driver.Driver`. `Memory.handle` is an MTLBuffer, an event a `Mark`, or None for nothing."""

    direct: Direct | None = None

    def __init__(self, framework: Framework, native: Any, info: DeviceInfo) -> None:
        self.info = info
        self._framework, self._metal, self._device = framework, framework.metal, native
        self._launched = Launched()
        self._lock = ProcessLock(f"{info.runtime}:{info.ordinal} ({info.name})")
        self._streams: weakref.WeakSet[Stream] = weakref.WeakSet()

    @contextmanager
    def _trying(self, what: str) -> Iterator[None]:
        """Hold the lock and a pool; turn what PyObjC raises into pykern's error: `what` was tried."""
        with self._lock, self._framework.pool():
            try:
                yield
            except self._framework.errors as error:
                raise DeviceError(f"Metal: {what}: {error}") from None

    # -- memory ----------------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> Memory:
        size = max(GRAIN, -(-nbytes // GRAIN) * GRAIN)
        if size > self.info.max_allocation:
            raise OutOfMemory(
                f"Metal: {nbytes} bytes in one piece, and a buffer of {self.info.name} has "
                f"{self.info.max_allocation} at most",
                hint="split the array into several",
            )
        with self._trying(f"a buffer of {nbytes} bytes"):
            buffer = self._device.newBufferWithLength_options_(size, self._metal.MTLResourceStorageModeShared)
        if buffer is None:
            raise OutOfMemory(f"Metal: there is no room for a buffer of {nbytes} bytes")
        return Memory(buffer, nbytes)

    def free(self, memory: Memory) -> None:
        if not self._lock.inherited:
            memory.handle = None  # what is encoded keeps it

    def pinned(self, nbytes: int) -> np.ndarray:
        """Host and device share memory, so that no memory of the host's is special."""
        return np.empty(nbytes, np.uint8)

    def copy_in(self, stream: Stream, memory: Memory, offset: int, host: np.ndarray) -> None:
        if host.nbytes:
            with self._trying(f"copy {host.nbytes} bytes to the device"), self._launched.told():
                copy_in(stream, memory.handle, offset, host.reshape(-1).view(np.uint8))

    def copy_out(self, stream: Stream, host: np.ndarray, memory: Memory, offset: int) -> None:
        if host.nbytes:
            with self._trying(f"copy {host.nbytes} bytes from the device"), self._launched.told():
                copy_out(stream, memory.handle, offset, host.reshape(-1).view(np.uint8))

    def copy(
        self, stream: Stream, to: Memory, to_offset: int, source: Memory, offset: int, nbytes: int
    ) -> None:
        if nbytes:
            with self._trying(f"copy {nbytes} bytes on the device"), self._launched.told():
                copy(stream, to.handle, to_offset, source.handle, offset, nbytes)

    def fill(self, stream: Stream, memory: Memory, offset: int, pattern: bytes, nbytes: int) -> None:
        if nbytes:
            with self._trying(f"fill {nbytes} bytes"), self._launched.told():
                fill(stream, memory.handle, offset, pattern, nbytes)

    # -- kernels ---------------------------------------------------------------------------------

    def load(self, artifact: Artifact) -> Code:
        assert artifact.device is not None, "it was compiled for a device"
        name, arguments = artifact.kernel, artifact.device.arguments
        memories = arguments.count("memory")
        if memories >= MOST_BUFFERS:
            raise DeviceError(
                f"{name} takes {memories} pieces of memory; a kernel of Metal has {MOST_BUFFERS - 1} at most",
                hint="pass several arrays as parts of one",
            )
        text = artifact.binary.decode()
        with self._trying(f"load `{name}` (Metal's language, {len(text)} characters)"):
            library, error = self._device.newLibraryWithSource_options_error_(text, self._options(), None)
            self._check(library, error, name)
            function = library.newFunctionWithName_(artifact.entry)
            self._check(function, None, name)
            pipeline, error = self._device.newComputePipelineStateWithFunction_error_(function, None)
            self._check(pipeline, error, name)
            items, lanes = int(pipeline.maxTotalThreadsPerThreadgroup()), int(pipeline.threadExecutionWidth())
        if int(np.prod(artifact.workgroup)) > items:
            raise DeviceError(
                f"`{name}` takes so many registers that a group has {items} work-items at most, and "
                f"{artifact.workgroup} are asked for",
                hint="give a smaller workgroup=",
            )
        if ("simd_" in text or "simdgroup_" in text) and lanes != LANES:
            raise DeviceError(
                f"`{name}` exchanges values within {LANES} lanes, and its subgroups have {lanes} here",
                hint="exchange values through pk.shared memory",
            )
        sized = artifact.device.dynamic_arrays if artifact.device.dynamic_shared else 0
        return Code(name, pipeline, memories, struct.Struct(f"<{len(arguments) - memories}Q"), sized)

    def _options(self) -> Any:
        """Fast math off: infinities, NaN and the order of sums are kept, functions are the precise ones."""
        options = self._metal.MTLCompileOptions.alloc().init()
        if hasattr(options, "setMathMode_"):  # macOS 15
            options.setMathMode_(self._metal.MTLMathModeSafe)
            options.setMathFloatingPointFunctions_(self._metal.MTLMathFloatingPointFunctionsPrecise)
        else:
            options.setFastMathEnabled_(False)
        return options

    def _check(self, made: Any, error: Any, name: str) -> None:
        """Metal gives an error beside what it makes; where something was made the error is a warning."""
        if made is None:
            told = "it is not in its library" if error is None else error.localizedDescription()
            raise DeviceError(
                f"Metal refuses `{name}`: {told}",
                hint="report it with the kernel and the output of `pykern devices`: pykern printed this text",
            )

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
        words = code.words.pack(*(each & _WORD for each in arguments if not isinstance(each, Memory)))
        with self._trying(f"launch `{code.name}`, {grid} groups of {group}"):
            encoder = stream.compute()
            encoder.setComputePipelineState_(code.pipeline)
            for number, memory in enumerate(each for each in arguments if isinstance(each, Memory)):
                encoder.setBuffer_offset_atIndex_(memory.handle, 0, number)
            if len(words) > MOST_INLINE:
                shared = self._metal.MTLResourceStorageModeShared
                buffer = self._device.newBufferWithBytes_length_options_(words, len(words), shared)
                encoder.setBuffer_offset_atIndex_(buffer, 0, code.memories)
            elif words:
                encoder.setBytes_length_atIndex_(words, len(words), code.memories)
            for number in range(code.sized):
                room = max(16, -(-(shared_bytes // code.sized) // 16) * 16)
                encoder.setThreadgroupMemoryLength_atIndex_(room, number)
            size = self._metal.MTLSizeMake
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(size(*grid), size(*group))
            stream.launched()

    # -- streams and events ----------------------------------------------------------------------

    def stream(self, priority: str) -> Stream:
        """Metal's queues have no priorities."""
        with self._trying("a command queue"):
            made = Stream(self._metal, self._device)
            self._streams.add(made)
            return made

    def record(self, stream: Stream) -> Mark | None:
        with self._trying("commit work"):
            return stream.commit()

    def done(self, event: Mark | None) -> bool:
        with self._trying("ask for an event"), self._launched.told():
            return event is None or event.stream.is_done(event)

    def wait(self, event: Mark | None) -> None:
        if event is None:
            return
        self._lock.check()
        commands = event.commands
        if commands is not None:
            with self._framework.pool():
                commands.waitUntilCompleted()  # without the lock: other threads go on meanwhile
        with self._trying("wait for an event"), self._launched.told():
            event.stream.wait(event)

    def stream_wait(self, stream: Stream, event: Mark | None) -> None:
        if event is not None and event.stream is not stream:
            with self._trying("let a stream wait"):
                stream.wait_for(event)

    def elapsed_ms(self, start: Mark | None, end: Mark | None) -> float:
        if start is None or end is None:
            return 0.0  # nothing was committed before one of them
        self.wait(start)
        self.wait(end)
        return (end.seconds - start.seconds) * 1e3

    def synchronize(self, stream: Stream | None) -> None:
        for each in [stream] if stream is not None else list(self._streams):
            self.wait(self.record(each))
