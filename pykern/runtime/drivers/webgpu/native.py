"""Submissions of a device of WebGPU, in the functions of wgpu-native itself: when each is done, asked in this thread.

Comes in: recorded work, with rising numbers. Goes out: the number that is done. The package wgpu waits by way of a
buffer that is mapped and of a thread of its own that asks; for short work that takes longer than the work. Read next:
`queue`.
"""

from __future__ import annotations

import importlib
from typing import Any

_NATIVE: Any = importlib.import_module("wgpu.backends.wgpu_native")
ffi, lib = _NATIVE.ffi, _NATIVE.lib
libf: Any = importlib.import_module("wgpu.backends.wgpu_native._api").libf
"""The library's functions; `libf` has those that raise what they are told to be wrong."""


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

    def submit(self, commands: Any, number: int) -> None:
        """Submit a command buffer."""
        self._commands[0] = commands._internal
        self._indices[number] = libf.wgpuQueueSubmitForIndex(self._queue._internal, 1, self._commands)
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
