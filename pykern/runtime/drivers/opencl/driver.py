"""One OpenCL device: buffers, in-order queues that keep times, SPIR-V programs.

Comes in: what `pykern.runtime.driver` asks. Goes out: the same done through pyopencl; its exceptions come out
as `DeviceError` or `OutOfMemory`.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyopencl as cl

from pykern.data.artifact import Artifact
from pykern.errors import DeviceError, OutOfMemory
from pykern.runtime.driver import DeviceInfo, Direct, Memory
from pykern.runtime.drivers.forked import ProcessLock
from pykern.runtime.drivers.launched import Launched
from pykern.runtime.drivers.opencl.build import Builder, make_kernel
from pykern.runtime.drivers.waiting import wait

_SET_ARGUMENT = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p
)
_WORD = (1 << 64) - 1
EXACT = "-cl-fp32-correctly-rounded-divide-sqrt"
_QUEUE_PRIORITY = 0x1096  # CL_QUEUE_PRIORITY_KHR; pyopencl has no name for it
_PRIORITIES = {"high": 1, "normal": 2, "low": 4}
_NO_ROOM = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_HOST_MEMORY", "OUT_OF_RESOURCES")


@contextmanager
def trying(what: str) -> Iterator[None]:
    """Turn pyopencl's exceptions into pykern's: `what` was tried."""
    try:
        yield
    except cl.MemoryError as error:
        raise OutOfMemory(f"OpenCL: {what}: {error}") from None
    except cl.Error as error:
        kind = OutOfMemory if any(word in str(error) for word in _NO_ROOM[:1]) else DeviceError
        raise kind(f"OpenCL: {what}: {error}") from None


@dataclass(eq=False)
class Queue:
    """An in-order queue. `copies` are events of copies under way: they keep host memory alive."""

    native: Any
    copies: deque[Any] = field(default_factory=deque)

    def keep(self, event: Any) -> None:
        while self.copies and _is_complete(self.copies[0]):
            self.copies.popleft()
        self.copies.append(event)


@dataclass(eq=False)
class Code:
    """A kernel; its arguments are set one by one, so one launch at a time."""

    name: str
    kernel: Any
    program: Any
    lock: Any = field(default_factory=threading.Lock)


class OpenClDriver:
    """See `pykern.runtime.driver.Driver`. `Memory.handle` is a `cl.Buffer`, an event a `cl.Event`."""

    def __init__(self, device: Any, info: DeviceInfo, context: Any = None) -> None:
        self.info = info
        self._device = device
        with trying(f"open {info.name}"):
            self._context = context if context is not None else cl.Context([device])
        self._launched = Launched()
        self._process = ProcessLock(f"opencl:{info.ordinal} ({info.name})")
        self._builder = Builder(self._context, device, info.ordinal)
        self._queues: weakref.WeakSet[Queue] = weakref.WeakSet()
        self.direct = _direct()
        self._put = _SET_ARGUMENT(self.direct.enter) if self.direct is not None else None

    def _trying(self, what: str) -> AbstractContextManager[None]:
        """`trying`; raises `DeviceError` in a child of a fork, where the driver may wait for threads for ever."""
        self._process.check()
        return trying(what)

    def allocate(self, nbytes: int) -> Memory:
        with self._trying(f"a buffer of {nbytes} bytes"):
            return Memory(cl.Buffer(self._context, cl.mem_flags.READ_WRITE, nbytes), nbytes)

    def free(self, memory: Memory) -> None:
        if not self._process.inherited:
            with trying("release a buffer"):
                memory.handle.release()

    def pinned(self, nbytes: int) -> np.ndarray:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        access: Any = cl.map_flags.READ | cl.map_flags.WRITE
        with self._trying(f"{nbytes} bytes of pinned memory"):
            buffer = cl.Buffer(self._context, flags, nbytes)
            queue = cl.CommandQueue(self._context, self._device)
            array, _ = cl.enqueue_map_buffer(queue, buffer, access, 0, (nbytes,), np.dtype(np.uint8))
        return array

    def stream(self, priority: str) -> Queue:
        properties: Any = cl.command_queue_properties.PROFILING_ENABLE
        if priority != "normal" and "cl_khr_priority_hints" in self._device.extensions.split():
            properties = [cl.queue_properties.PROPERTIES, properties, _QUEUE_PRIORITY, _PRIORITIES[priority]]
        with self._trying("a queue"):
            queue = Queue(cl.CommandQueue(self._context, self._device, properties))
        self._queues.add(queue)
        return queue

    def copy_in(self, stream: Queue, memory: Memory, offset: int, host: np.ndarray) -> None:
        if host.nbytes:
            flat = host.reshape(-1).view(np.uint8)
            with self._trying(f"copy {host.nbytes} bytes to the device"):
                stream.keep(
                    cl.enqueue_copy(stream.native, memory.handle, flat, dst_offset=offset, is_blocking=False)
                )

    def copy_out(self, stream: Queue, host: np.ndarray, memory: Memory, offset: int) -> None:
        if host.nbytes:
            flat = host.reshape(-1).view(np.uint8)
            with self._trying(f"copy {host.nbytes} bytes from the device"):
                stream.keep(
                    cl.enqueue_copy(stream.native, flat, memory.handle, src_offset=offset, is_blocking=False)
                )

    def copy(
        self, stream: Queue, to: Memory, to_offset: int, source: Memory, offset: int, nbytes: int
    ) -> None:
        if nbytes:
            with self._trying(f"copy {nbytes} bytes on the device"):
                cl.enqueue_copy(
                    stream.native,
                    to.handle,
                    source.handle,
                    byte_count=nbytes,
                    src_offset=offset,
                    dst_offset=to_offset,
                )

    def fill(self, stream: Queue, memory: Memory, offset: int, pattern: bytes, nbytes: int) -> None:
        if nbytes:
            with self._trying(f"fill {nbytes} bytes"):
                unit = np.frombuffer(pattern, np.uint8)
                cl.enqueue_fill_buffer(stream.native, memory.handle, unit, offset, nbytes)

    def _options(self, artifact: Artifact) -> list[str]:
        """Square roots and quotients of f32 are IEEE's where the device can; OpenCL leaves them 3 ulp otherwise."""
        able = self._device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        return [EXACT] if able and not artifact.resources.get("fastmath") else []

    def load(self, artifact: Artifact) -> Code:
        with (
            self._trying(f"load `{artifact.kernel}` (SPIR-V, {len(artifact.binary)} bytes)"),
            _no_build_log(),
        ):
            program = self._builder.build(artifact.kernel, artifact.binary, self._options(artifact))
            return Code(artifact.kernel, make_kernel(program, artifact.entry), program)

    def launch(
        self,
        stream: Queue,
        code: Code,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        shared_bytes: int,
    ) -> None:
        items = tuple(g * n for g, n in zip(grid, group, strict=True))
        self._launched.add(code.name)
        with self._trying(f"launch `{code.name}`, {grid} groups of {group}"), code.lock:
            self._set_arguments(code, arguments)
            cl.enqueue_nd_range_kernel(stream.native, code.kernel, items, group)

    def _set_arguments(self, code: Code, arguments: list[Memory | int]) -> None:
        """By the loader's own function where it is known: pyopencl looks at each argument in Python."""
        if self._put is None:
            code.kernel.set_args(*(a.handle if isinstance(a, Memory) else np.int64(a) for a in arguments))
            return
        cells = (ctypes.c_uint64 * max(1, len(arguments)))(
            *(a.handle.int_ptr if isinstance(a, Memory) else a & _WORD for a in arguments)
        )
        kernel, place = code.kernel.int_ptr, ctypes.addressof(cells)
        for number in range(len(arguments)):
            status = self._put(kernel, number, 8, place + 8 * number)
            if status:
                raise DeviceError(
                    f"OpenCL: argument {number} of `{code.name}`: clSetKernelArg gives {status}"
                )

    def record(self, stream: Queue) -> Any:
        with self._trying("record an event"):
            event = cl.enqueue_marker(stream.native)
            stream.native.flush()  # others may wait for it
        return event

    def done(self, event: Any) -> bool:
        with self._launched.told(), self._trying("ask for an event"):
            return _is_complete(event)

    def wait(self, event: Any) -> None:
        with self._launched.told(), self._trying("wait for an event"):
            wait(lambda: _is_complete(event), event.wait)

    def stream_wait(self, stream: Queue, event: Any) -> None:
        with self._trying("let a queue wait"):
            cl.enqueue_barrier(stream.native, wait_for=[event])

    @property
    def context(self) -> Any:
        """OpenCL's context, to which all memory belongs."""
        return self._context

    def wait_for(self, stream: Queue, queue: Any, events: list[Any]) -> None:
        """Let a stream wait for what others have put into a queue of theirs, and for events."""
        with self._trying("let a queue wait"):
            waited = list(events)
            if queue is not None:
                waited.append(cl.enqueue_marker(queue))
                queue.flush()
            if waited:
                cl.enqueue_barrier(stream.native, wait_for=waited)

    def elapsed_ms(self, start: Any, end: Any) -> float:
        with self._trying("read the times of events"):
            return (end.profile.end - start.profile.end) / 1e6

    def synchronize(self, stream: Queue | None) -> None:
        for queue in [stream] if stream is not None else list(self._queues):
            with self._launched.told(), self._trying("finish a queue"):
                marker = cl.enqueue_marker(queue.native)
                queue.native.flush()
                wait(lambda marker=marker: _is_complete(marker), queue.native.finish)
                queue.copies.clear()


def _is_complete(event: Any) -> bool:
    return event.command_execution_status <= cl.command_execution_status.COMPLETE


def _direct() -> Direct | None:
    """The loader's functions, found through the library that pyopencl is."""
    library = ctypes.CDLL(sys.modules["pyopencl._cl"].__file__)
    try:
        put, launch, flush = (
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
            for name in ("clSetKernelArg", "clEnqueueNDRangeKernel", "clFlush")
        )
    except AttributeError:  # a build of pyopencl that finds the loader in another way
        return None
    return Direct(
        "handles",
        launch,
        put,
        code=_own_kernel,
        stream=lambda queue: queue.native.int_ptr,
        memory=lambda memory: memory.handle.int_ptr,
        flush=flush,
    )


def _own_kernel(code: Code) -> tuple[int, Any]:
    """Another kernel of the same program: arguments are set in it, by those who hold the GIL."""
    with trying("another kernel"):
        kernel = make_kernel(code.program, code.kernel.function_name)
    return kernel.int_ptr, (kernel, code)


@contextmanager
def _no_build_log() -> Iterator[None]:
    """Drivers say "compilation done"; pyopencl makes a warning of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        yield
