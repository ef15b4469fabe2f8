"""Work of a device of WebGPU, recorded and submitted by the functions of wgpu-native itself.

Comes in: launches and copies; submissions of them, with rising numbers. Goes out: the number that is done, asked in
this thread. The package wgpu looks for an error after each function, though WebGPU tells all errors of recorded work
when it is finished; and it waits by way of a buffer that is mapped and of a thread of its own that asks. For short
work both take longer than the work. Read next: `queue`.
"""

from __future__ import annotations

import importlib
from typing import Any

_NATIVE: Any = importlib.import_module("wgpu.backends.wgpu_native")
ffi, lib = _NATIVE.ffi, _NATIVE.lib
libf: Any = importlib.import_module("wgpu.backends.wgpu_native._api").libf
"""The library's functions; `libf` has those that raise what they are told to be wrong."""
_ENCODER, _PASS, _BUFFER = (
    ffi.new(f"WGPU{kind}Descriptor *") for kind in ("CommandEncoder", "ComputePass", "CommandBuffer")
)


class Commands:
    """Launches and copies in the order in which they are recorded. Arguments are objects of the package wgpu."""

    def __init__(self, device: Any) -> None:
        self._encoder = lib.wgpuDeviceCreateCommandEncoder(device._internal, _ENCODER)
        self._pass: Any = None
        self._place = ffi.new("uint32_t[1]")

    def launch(self, pipeline: Any, bound: Any, place: int, grid: tuple[int, int, int]) -> None:
        """Launch groups, whose numbers begin at a byte of their buffer."""
        if self._pass is None:
            self._pass = lib.wgpuCommandEncoderBeginComputePass(self._encoder, _PASS)
        self._place[0] = place
        lib.wgpuComputePassEncoderSetPipeline(self._pass, pipeline._internal)
        lib.wgpuComputePassEncoderSetBindGroup(self._pass, 0, bound._internal, 1, self._place)
        lib.wgpuComputePassEncoderDispatchWorkgroups(self._pass, *grid)

    def copy(self, source: Any, begin: int, to: Any, to_begin: int, nbytes: int) -> None:
        """Copy bytes between two buffers."""
        lib.wgpuCommandEncoderCopyBufferToBuffer(
            self._between(), source._internal, begin, to._internal, to_begin, nbytes
        )

    def clear(self, buffer: Any, begin: int, nbytes: int) -> None:
        """Fill with zeros."""
        lib.wgpuCommandEncoderClearBuffer(self._between(), buffer._internal, begin, nbytes)

    def stamp(self, stamps: Any, slot: int) -> None:
        """Keep the time in a query set."""
        lib.wgpuCommandEncoderWriteTimestamp(self._between(), stamps._internal, slot)

    def resolve(self, stamps: Any, slot: int, to: Any) -> None:
        """Put one time of a query set into a buffer."""
        lib.wgpuCommandEncoderResolveQuerySet(self._between(), stamps._internal, slot, 1, to._internal, 0)

    def finish(self) -> Any:
        """The command buffer. Raises what is wrong with anything that was recorded."""
        encoder = self._between()
        try:
            return libf.wgpuCommandEncoderFinish(encoder, _BUFFER)
        finally:
            lib.wgpuCommandEncoderRelease(encoder)

    def _between(self) -> Any:
        """The encoder, between launches."""
        if self._pass is not None:
            lib.wgpuComputePassEncoderEnd(self._pass)
            lib.wgpuComputePassEncoderRelease(self._pass)
            self._pass = None
        return self._encoder


class Submissions:
    """`completed` is the number of the last submission that is known to be done; those before it are, too."""

    def __init__(self, device: Any) -> None:
        self._device, self._queue = device, device.queue
        self._commands = ffi.new("WGPUCommandBuffer[1]")
        self._indices: dict[int, int] = {}
        """What wgpu-native calls the submissions that are not known to be done."""
        self._index = ffi.new("WGPUSubmissionIndex *")
        self.completed = 0
        self._failure = ""

        @ffi.callback("void(WGPUQueueWorkDoneStatus, WGPUStringView, void *, void *)")
        def done(status: int, message: Any, number: Any, _: Any) -> None:
            if status != lib.WGPUQueueWorkDoneStatus_Success:
                text = b"" if message.data == ffi.NULL else ffi.buffer(message.data, message.length)[:]
                self._failure = text.decode(errors="replace") or f"status {status}"
            self.completed = max(self.completed, int(ffi.cast("uintptr_t", number)))

        self._done = done  # it lives as long as it may be called
        self._info = ffi.new("WGPUQueueWorkDoneCallbackInfo *")
        self._info.mode, self._info.callback = lib.WGPUCallbackMode_AllowProcessEvents, done

    def submit(self, commands: Commands, number: int) -> None:
        """Submit what is recorded."""
        self._commands[0] = commands.finish()
        try:
            self._indices[number] = libf.wgpuQueueSubmitForIndex(self._queue._internal, 1, self._commands)
        finally:
            lib.wgpuCommandBufferRelease(self._commands[0])
        self._info.userdata1 = ffi.cast("void *", number)
        lib.wgpuQueueOnSubmittedWorkDone(self._queue._internal, self._info[0])

    def is_done(self, number: int) -> bool:
        """Whether this submission is done. Raises RuntimeError where the device is lost."""
        if number > self.completed:
            lib.wgpuDevicePoll(self._device._internal, False, ffi.NULL)
        return self._is_over(number)

    def wait(self, number: int) -> None:
        """Wait for this submission, without looking at signals. Raises RuntimeError where the device is lost."""
        if number > self.completed:
            self._index[0] = self._indices[number]
            lib.wgpuDevicePoll(self._device._internal, True, self._index)
            self.completed = max(self.completed, number)
        self._is_over(number)

    def _is_over(self, number: int) -> bool:
        if self._failure:
            raise RuntimeError(f"the device did not end its work: {self._failure}")
        if number > self.completed:
            return False
        for known in [each for each in self._indices if each <= self.completed]:
            del self._indices[known]
        return True
