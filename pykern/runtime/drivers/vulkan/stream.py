"""A stream: work in order, each piece a command buffer of its own, counted by a timeline semaphore.

Comes in: commands. Goes out: batches, submitted at once, and events. Batch number n of a stream waits for
number n - 1 and makes the stream's semaphore n. What has to happen on the host when a batch is done
(staging memory goes back, results are copied to the user's array) happens when somebody looks: `reap`.
All of it is called under the driver's lock.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from pykern.runtime.drivers.vulkan.api import NULL, check, created, ffi, lib, struct, vk

if TYPE_CHECKING:
    from pykern.runtime.drivers.vulkan.device import Device
    from pykern.runtime.drivers.vulkan.memory import Part
    from pykern.runtime.drivers.vulkan.slot_ring import SlotRing

UNDER_WAY = 256
"""Batches of a stream that may be under way; the host waits before it submits more."""
TICKS_BYTES = 16 * UNDER_WAY
"""Memory for their times."""
LOOKS = 8
"""Batches after which the host looks how far the device is: asking takes as long as recording."""
MOST_WAITS = 32

_numbers = itertools.count(1)
_ALL = vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
_READ_WRITE = vk.VK_ACCESS_MEMORY_READ_BIT | vk.VK_ACCESS_MEMORY_WRITE_BIT
_BETWEEN = struct("VkMemoryBarrier", srcAccessMask=vk.VK_ACCESS_MEMORY_WRITE_BIT, dstAccessMask=_READ_WRITE)
_TO_HOST = struct(
    "VkMemoryBarrier", srcAccessMask=vk.VK_ACCESS_MEMORY_WRITE_BIT, dstAccessMask=vk.VK_ACCESS_HOST_READ_BIT
)


@dataclass(eq=False)
class Batch:
    """One submission. `begin` and `end` are device ticks, known when it is done."""

    stream_number: int
    number: int
    commands: Any
    keep: list[object] = field(default_factory=list)
    finish: list[Callable[[], None]] = field(default_factory=list)
    waits: list[tuple[Stream, int]] = field(default_factory=list)
    done: bool = False
    begin: int = 0
    end: int = 0


@dataclass(eq=False)
class Event:
    """Everything before `number` of a stream; `before` and `after` are the batches on either side of it."""

    stream: Stream
    number: int
    before: Batch | None
    after: Batch | None = None


class Handles:
    """What a stream holds of the device; it outlives the stream until its memory can go."""

    def __init__(self, device: Device) -> None:
        pool = struct(
            "VkCommandPoolCreateInfo",
            flags=vk.VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT
            | vk.VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
            queueFamilyIndex=device.physical.family,
        )
        stamps = struct(
            "VkQueryPoolCreateInfo", queryType=vk.VK_QUERY_TYPE_TIMESTAMP, queryCount=2 * UNDER_WAY
        )
        what = "making a stream"
        self.device = device.handle
        self._semaphores = device.semaphores
        self.semaphore = self._semaphores.pop() if self._semaphores else _new_semaphore(self.device)
        self.pool = created(lib.vkCreateCommandPool, what, self.device, pool, kind="VkCommandPool")
        self.stamps = NULL
        if device.physical.stamps:
            self.stamps = created(lib.vkCreateQueryPool, what, self.device, stamps, kind="VkQueryPool")

    def reached(self) -> int:
        """The number that the semaphore stands at."""
        count = ffi.new("uint64_t*")
        check(lib.vkGetSemaphoreCounterValue(self.device, self.semaphore, count), "making a stream")
        return int(count[0])

    def destroy(self) -> None:
        self._semaphores.append(self.semaphore)
        lib.vkDestroyCommandPool(self.device, self.pool, NULL)
        if self.stamps != NULL:
            lib.vkDestroyQueryPool(self.device, self.stamps, NULL)


def _new_semaphore(device: Any) -> Any:
    timeline = struct(
        "VkSemaphoreTypeCreateInfo", semaphoreType=vk.VK_SEMAPHORE_TYPE_TIMELINE, initialValue=0
    )
    info = struct("VkSemaphoreCreateInfo", pNext=timeline)
    return created(lib.vkCreateSemaphore, "making a stream", device, info, kind="VkSemaphore")


class Stream:
    """Work in order. Its numbers go on from where the last stream with this semaphore stopped."""

    def __init__(
        self, device: Device, priority: str, slots: SlotRing, ticks: Part, active: dict[int, Stream]
    ) -> None:
        self.number = next(_numbers)
        self.handles = Handles(device)
        self.slots = slots
        self.ticks = ticks
        self._ticks = ticks.seen(0, TICKS_BYTES).view(np.uint64)
        self._active = active  # keeps streams while work of theirs is under way
        self.submitted = self.completed = self.handles.reached()
        self._queue = device.queues[priority]
        self._pending: deque[Batch] = deque()
        self._last: Batch | None = None
        self._free: list[Any] = []
        self._waits: dict[Stream, int] = {}
        self._events: WeakSet[Event] = WeakSet()  # those that no batch has followed yet
        self._marked = False
        self._prepare_structures()

    def _prepare_structures(self) -> None:
        """What every submission needs is made once."""
        self._begin_info = struct(
            "VkCommandBufferBeginInfo", flags=vk.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT
        )
        self._wait_semaphores = ffi.new("VkSemaphore[]", MOST_WAITS)
        self._wait_values = ffi.new("uint64_t[]", MOST_WAITS)
        self._signal_value = ffi.new("uint64_t*")
        self._commands = ffi.new("VkCommandBuffer*")
        self._count = ffi.new("uint64_t*")
        self.offset = ffi.new("uint32_t*")
        self._wait_semaphores[0] = self.handles.semaphore
        self._waiting = 0
        self._timeline = struct(
            "VkTimelineSemaphoreSubmitInfo",
            pWaitSemaphoreValues=self._wait_values,
            signalSemaphoreValueCount=1,
            pSignalSemaphoreValues=self._signal_value,
        )
        self._submit_info = struct(
            "VkSubmitInfo",
            pNext=self._timeline,
            pWaitSemaphores=self._wait_semaphores,
            pWaitDstStageMask=ffi.new("VkPipelineStageFlags[]", [_ALL] * MOST_WAITS),
            commandBufferCount=1,
            pCommandBuffers=self._commands,
            signalSemaphoreCount=1,
            pSignalSemaphores=ffi.new("VkSemaphore*", self.handles.semaphore),
        )

    # -- submitting --------------------------------------------------------------------------------

    def begin(self) -> Batch:
        """A batch to put commands into; it counts once it is submitted."""
        if len(self._pending) >= UNDER_WAY:
            self.block(self._pending[len(self._pending) // 2].number)
        elif len(self._pending) >= LOOKS and self.submitted % LOOKS == 0:
            self.reap()
        commands = self._free.pop() if self._free else self._new_commands()
        number = self.submitted + 1
        check(lib.vkBeginCommandBuffer(commands, self._begin_info), "recording commands")
        if self.handles.stamps != NULL:
            slot = 2 * (number % UNDER_WAY)
            lib.vkCmdResetQueryPool(commands, self.handles.stamps, slot, 2)
            lib.vkCmdWriteTimestamp(commands, vk.VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, self.handles.stamps, slot)
        return Batch(self.number, number, commands)

    def barrier(self, batch: Batch) -> None:
        """Commands after it see what those before it wrote."""
        lib.vkCmdPipelineBarrier(batch.commands, _ALL, _ALL, 0, 1, _BETWEEN, 0, NULL, 0, NULL)

    def submit(self, batch: Batch) -> None:
        commands = batch.commands
        if self.handles.stamps != NULL:
            self._stamp_end(commands, 2 * (batch.number % UNDER_WAY))
        lib.vkCmdPipelineBarrier(
            commands, _ALL, vk.VK_PIPELINE_STAGE_HOST_BIT, 0, 1, _TO_HOST, 0, NULL, 0, NULL
        )
        check(lib.vkEndCommandBuffer(commands), "recording commands")
        self._wait_values[0] = self.submitted
        if len(self._waits) + 1 != self._waiting or self._waits:
            self._wait_for_others(batch)
        self._signal_value[0] = batch.number
        self._commands[0] = commands
        result = lib.vkQueueSubmit(self._queue, 1, self._submit_info, NULL)
        batch.done = result < 0  # nothing uses what it would have used
        check(result, "submitting work")
        if self._waits:
            self._waits.clear()
        self.submitted = batch.number
        self._pending.append(batch)
        self._active[self.number] = self
        self._last = batch
        if self._marked:
            self._marked = False
            for event in list(self._events):
                event.after = batch
            self._events.clear()

    def _wait_for_others(self, batch: Batch) -> None:
        """Write down what else is waited for; the stream's own last batch always is, in the first place."""
        batch.waits = list(self._waits.items())
        for place, (stream, number) in enumerate(batch.waits, 1):
            self._wait_semaphores[place] = stream.handles.semaphore
            self._wait_values[place] = number
        self._waiting = len(batch.waits) + 1
        self._submit_info.waitSemaphoreCount = self._waiting
        self._timeline.waitSemaphoreValueCount = self._waiting

    def _stamp_end(self, commands: Any, slot: int) -> None:
        """The end of a batch; both stamps go to memory, as asking for them may wait for the whole device."""
        stamps, ticks = self.handles.stamps, self.ticks
        lib.vkCmdWriteTimestamp(commands, vk.VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, slot + 1)
        size, flags = 8, vk.VK_QUERY_RESULT_64_BIT | vk.VK_QUERY_RESULT_WAIT_BIT
        lib.vkCmdCopyQueryPoolResults(
            commands, stamps, slot, 2, ticks.block.buffer, ticks.offset + slot * size, size, flags
        )

    def give_up(self, batch: Batch) -> None:
        """A batch that is not submitted after all."""
        lib.vkEndCommandBuffer(batch.commands)
        batch.done = True
        self._free.append(batch.commands)

    def wait_for(self, other: Stream, number: int) -> None:
        """What is submitted from now on waits for `number` of `other`."""
        if other is self or number <= other.completed:
            return
        if len(self._waits) >= MOST_WAITS - 1 and other not in self._waits:
            self.submit(self.begin())  # an empty batch takes the waits so far
        self._waits[other] = max(self._waits.get(other, 0), number)

    def event(self) -> Event:
        event = Event(self, self.submitted, self._last)
        self._events.add(event)
        self._marked = True
        return event

    # -- completion --------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Nothing is under way and nothing is waited for."""
        self.reap()
        for stream in self._waits:
            stream.reap()
        return self.completed == self.submitted and all(n <= s.completed for s, n in self._waits.items())

    def reap(self, most: int | None = None) -> None:
        """See how far the device is and finish, in order, what is done; no batch behind number `most`."""
        if not self._pending:
            return
        check(
            lib.vkGetSemaphoreCounterValue(self.handles.device, self.handles.semaphore, self._count),
            "asking how far the device is",
        )
        reached = self._count[0] if most is None else min(self._count[0], most)
        while self._pending and self._pending[0].number <= reached:
            self._finish(self._pending.popleft())
        if not self._pending:
            self._active.pop(self.number, None)

    def _finish(self, batch: Batch) -> None:
        for stream, number in batch.waits:
            if stream.completed < number:  # its results reach the host before ours
                stream.reap(number)
        if self.handles.stamps != NULL:
            slot = 2 * (batch.number % UNDER_WAY)
            batch.begin, batch.end = int(self._ticks[slot]), int(self._ticks[slot + 1])
        self.completed = batch.number
        batch.done = True
        self._free.append(batch.commands)
        batch.commands = None
        for action in batch.finish:
            action()
        batch.finish.clear()
        batch.keep.clear()
        batch.waits.clear()

    def block(self, number: int) -> None:
        """Wait, holding the lock, until `number` is done; for memory that has run out, not for users."""
        while self.completed < number:
            self.sleep(number)
            self.reap()

    def sleep(self, number: int, nanoseconds: int = 100_000_000) -> bool:
        """Wait at most so long for `number`, without finishing anything: needs no lock."""
        value = ffi.new("uint64_t*", number)
        semaphore = ffi.new("VkSemaphore*", self.handles.semaphore)
        info = struct("VkSemaphoreWaitInfo", semaphoreCount=1, pSemaphores=semaphore, pValues=value)
        result = lib.vkWaitSemaphores(self.handles.device, info, nanoseconds)
        check(result, "waiting for the device")
        return result == 0

    def _new_commands(self) -> Any:
        info = struct(
            "VkCommandBufferAllocateInfo",
            commandPool=self.handles.pool,
            level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            commandBufferCount=1,
        )
        commands = ffi.new("VkCommandBuffer*")
        check(lib.vkAllocateCommandBuffers(self.handles.device, info, commands), "making a command buffer")
        return commands[0]
