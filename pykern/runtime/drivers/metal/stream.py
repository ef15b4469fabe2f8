"""Streams of a device of Metal: a command queue each, and what is encoded and not yet committed.

Comes in: launches and copies, in order. Goes out: command buffers. Work is encoded until somebody wants to know of
it, or until there are `MOST` launches. Each command buffer ends with a signal of the stream's event, by which other
streams wait for it. Read next: `driver`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pykern.errors import DeviceError

MOST = 64
"""Launches that are encoded before they are committed: the device shall not wait for the host for long."""


@dataclass(eq=False)
class Mark:
    """The end of a command buffer, `number` of its stream. `commands` is the buffer until it is known to be done; then
    `seconds` is when that was, by the device's clock."""

    stream: Stream
    number: int
    commands: Any
    seconds: float = 0.0


@dataclass(eq=False)
class Stream:
    """All methods are called by those who hold the driver's lock, in a pool of the framework's."""

    metal: Any
    device: Any
    queue: Any = field(init=False)
    event: Any = field(init=False)
    last: Mark | None = None
    """The end of the last command buffer that was committed."""
    _commands: Any = None
    _encoder: Any = None
    _computes: bool = False
    _launches: int = 0

    def __post_init__(self) -> None:
        self.queue, self.event = self.device.newCommandQueue(), self.device.newEvent()
        if self.queue is None or self.event is None:
            raise DeviceError("Metal: the device gives no more command queues")

    # -- encoding --------------------------------------------------------------------------------

    def compute(self) -> Any:
        """What launches are encoded by. They run one after the other."""
        if self._encoder is None or not self._computes:
            self._end_encoder()
            self._encoder, self._computes = self._buffer().computeCommandEncoder(), True
        return self._encoder

    def blit(self) -> Any:
        """What copies are encoded by."""
        if self._encoder is None or self._computes:
            self._end_encoder()
            self._encoder, self._computes = self._buffer().blitCommandEncoder(), False
        return self._encoder

    def launched(self) -> None:
        """A launch was encoded."""
        self._launches += 1
        if self._launches >= MOST:
            self.commit()

    def wait_for(self, mark: Mark) -> None:
        """What is encoded from now on runs behind that end."""
        self._end_encoder()
        self._buffer().encodeWaitForEvent_value_(mark.stream.event, mark.number)

    def _buffer(self) -> Any:
        if self._commands is None:
            self._commands = self.queue.commandBuffer()
        return self._commands

    def _end_encoder(self) -> None:
        if self._encoder is not None:
            self._encoder.endEncoding()
            self._encoder = None

    # -- committing and waiting ------------------------------------------------------------------

    def commit(self) -> Mark | None:
        """Commit what is encoded; gives the end of all that was committed so far, None where that is nothing."""
        if self._commands is None:
            return self.last
        self._end_encoder()
        commands, self._commands, self._launches = self._commands, None, 0
        self.last = Mark(self, 1 if self.last is None else self.last.number + 1, commands)
        commands.encodeSignalEvent_value_(self.event, self.last.number)
        commands.commit()
        return self.last

    def is_idle(self) -> bool:
        """Whether all that was put into the stream is done."""
        return self._commands is None and (self.last is None or self.is_done(self.last))

    def is_done(self, mark: Mark) -> bool:
        """Whether the work before an end is done. Raises `DeviceError` where it failed."""
        if mark.commands is not None and mark.commands.status() >= self.metal.MTLCommandBufferStatusCompleted:
            self._settle(mark)
        return mark.commands is None

    def wait(self, mark: Mark | None) -> None:
        """Wait for an end. Raises `DeviceError` where the work before it failed."""
        if mark is not None and mark.commands is not None:
            mark.commands.waitUntilCompleted()
            self._settle(mark)

    def _settle(self, mark: Mark) -> None:
        commands, mark.commands = mark.commands, None
        mark.seconds = float(commands.GPUEndTime())
        error = commands.error()
        if error is not None:
            raise DeviceError(f"Metal: {error.localizedDescription()}")
