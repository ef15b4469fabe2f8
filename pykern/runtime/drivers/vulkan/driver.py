"""`VulkanDriver`: an open device behind `pykern.runtime.driver.Driver`.

Comes in: what launches and arrays ask for. Goes out: work submitted to the device. This file checks what
is asked and holds the lock; the work is done in transfers.py and pipelines.py, the order kept in stream.py.
"""

from __future__ import annotations

import atexit
import weakref
from typing import Any

import numpy as np

from pykern.data.artifact import Artifact
from pykern.errors import DeviceError
from pykern.runtime.driver import Direct, Memory
from pykern.runtime.drivers.forked import ProcessLock
from pykern.runtime.drivers.launched import Launched
from pykern.runtime.drivers.vulkan.device import chosen, open_device
from pykern.runtime.drivers.vulkan.memory import Part
from pykern.runtime.drivers.vulkan.pipelines import Code, Pipelines
from pykern.runtime.drivers.vulkan.slot_ring import RING_BYTES, SlotRing
from pykern.runtime.drivers.vulkan.store import Store
from pykern.runtime.drivers.vulkan.stream import TICKS_BYTES, Event, Stream
from pykern.runtime.drivers.vulkan.transfers import Transfers, bytes_of

MOST_FITTING = 64
"""Sizes of launches that a kernel remembers to be right."""
LAST_WAIT_MS = 10_000
"""How long the end of the process waits for work under way."""


class VulkanDriver:
    """One device. All methods may be called from several threads."""

    direct: Direct | None = None

    def __init__(self, ordinal: int) -> None:
        self._physical = chosen(ordinal)
        self._device = open_device(self._physical)
        self.info = self._physical.info
        self._lock = ProcessLock(self._name)
        self._store = Store(self._device)
        self._transfers = Transfers(self._store)
        self._pipelines = Pipelines(self._device)
        self._launched = Launched()
        atexit.register(_let_finish, weakref.ref(self))

    # -- memory ------------------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> Memory:
        """Memory. Nothing at all can be allocated and passed around too."""
        if nbytes < 0:
            raise DeviceError(f"cannot allocate {nbytes} bytes")
        with self._lock:
            return Memory(self._store.take(self._store.arrays, nbytes), nbytes)

    def free(self, memory: Memory) -> None:
        """Work under way may still use it: it goes back when that is done."""
        with self._lock:
            self._store.give(self._part(memory, "free"))
            self._store.collect()

    def pinned(self, nbytes: int) -> np.ndarray:
        if nbytes < 0:
            raise DeviceError(f"cannot allocate {nbytes} bytes")
        if nbytes == 0:
            return np.empty(0, np.uint8)
        with self._lock:
            return self._store.pinned(nbytes)

    def statistics(self) -> dict[str, dict[str, int]]:
        """Blocks, and bytes held and used, of each pool of memory."""
        with self._lock:
            return self._store.statistics()

    # -- copies ------------------------------------------------------------------------------------

    def copy_in(self, stream: Any, memory: Memory, offset: int, host: np.ndarray) -> None:
        data = bytes_of(host, "copy to the device", written=False)
        with self._lock:
            part = self._range(memory, offset, data.size, "copy to the device")
            if data.size:
                self._transfers.copy_in(self._mine(stream), part, offset, data)

    def copy_out(self, stream: Any, host: np.ndarray, memory: Memory, offset: int) -> None:
        data = bytes_of(host, "copy to the host", written=True)
        with self._lock:
            part = self._range(memory, offset, data.size, "copy to the host")
            if data.size:
                self._transfers.copy_out(self._mine(stream), data, part, offset)

    def copy(self, stream: Any, to: Memory, to_offset: int, source: Memory, offset: int, nbytes: int) -> None:
        with self._lock:
            into = self._range(to, to_offset, nbytes, "copy")
            part = self._range(source, offset, nbytes, "copy")
            if nbytes and (into is not part or to_offset != offset):
                self._transfers.copy(self._mine(stream), into, to_offset, part, offset, nbytes)

    def fill(self, stream: Any, memory: Memory, offset: int, pattern: bytes, nbytes: int) -> None:
        if len(pattern) not in (1, 2, 4, 8) or nbytes % len(pattern):
            raise DeviceError(f"cannot fill {nbytes} bytes with a pattern of {len(pattern)} bytes")
        with self._lock:
            part = self._range(memory, offset, nbytes, "fill")
            if nbytes:
                self._transfers.fill(self._mine(stream), part, offset, pattern, nbytes)

    # -- kernels -----------------------------------------------------------------------------------

    def load(self, artifact: Artifact) -> Code:
        self._lock.check()  # not held: other threads go on while the driver compiles
        code = self._pipelines.load(artifact)
        self._store.when_gone(code, code.handles.destroy)
        return code

    def launch(
        self,
        stream: Any,
        code: Any,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        shared_bytes: int,
    ) -> None:
        with self._lock:
            self._check_launch(code, arguments, grid, group, shared_bytes)
            if 0 in grid:
                return
            stream = self._mine(stream)
            self._launched.add(code.name)
            try:
                batch = stream.begin()
                try:
                    self._pipelines.record(stream, batch, code, arguments, grid)
                except DeviceError:
                    stream.give_up(batch)
                    raise
                stream.submit(batch)
            except DeviceError as error:
                error.reason = f"launch `{code.name}`: {error.reason}"
                raise

    def _check_launch(
        self,
        code: Any,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        shared_bytes: int,
    ) -> None:
        if not isinstance(code, Code) or code.handles.device != self._device.handle:
            raise DeviceError(f"{code!r} was not loaded on {self._name}")
        if len(arguments) != len(code.arguments):
            raise DeviceError(f"{code.name} takes {len(code.arguments)} arguments, not {len(arguments)}")
        for number, (kind, given) in enumerate(zip(code.arguments, arguments, strict=True)):
            if kind != "memory":
                if isinstance(given, Memory):
                    raise DeviceError(f"{code.name}: argument {number} is a slot, not memory")
                continue
            if not isinstance(given, Memory):
                raise DeviceError(f"{code.name}: argument {number} is memory, not {given!r}")
            self._part(given, f"launch {code.name}")
            if given.nbytes > self._physical.max_range:
                raise DeviceError(
                    f"{code.name}: argument {number} lies in a piece of {given.nbytes} bytes; "
                    f"{self._name} lets a kernel see at most {self._physical.max_range} of one piece",
                    hint="split the array into several",
                )
        if (grid, group, shared_bytes) in code.fitting:
            return
        if any(count < 0 for count in grid) or any(
            a > b for a, b in zip(grid, self.info.max_grid, strict=True)
        ):
            raise DeviceError(f"{code.name}: the grid {grid} is outside of {self.info.max_grid}")
        if code.local_size and tuple(group) != tuple(code.local_size):
            raise DeviceError(f"{code.name} was made for groups of {code.local_size}, not {group}")
        if shared_bytes > self.info.shared_bytes:  # compiled code has the most there is
            raise DeviceError(
                f"{code.name}: a group may share {self.info.shared_bytes} bytes, and {shared_bytes} are asked for"
            )
        if len(code.fitting) < MOST_FITTING:
            code.fitting.add((grid, group, shared_bytes))

    # -- streams and events ------------------------------------------------------------------------

    def stream(self, priority: str) -> Stream:
        if priority not in self._device.queues:
            raise DeviceError(f"a stream's priority is high, normal or low, not {priority!r}")
        with self._lock:
            ring = self._store.take(self._store.upload, RING_BYTES)
            ticks = self._store.take(self._store.download, TICKS_BYTES)
            slots = SlotRing(ring, self._physical.alignment)
            stream = Stream(self._device, priority, slots, ticks, self._store.active)
            self._store.when_gone(stream, stream.handles.destroy)
            self._store.when_gone(stream, self._store.give, ring)
            self._store.when_gone(stream, self._store.give, ticks)
            return stream

    def record(self, stream: Any) -> Event:
        with self._lock:
            return self._mine(stream).event()

    def done(self, event: Event) -> bool:
        with self._lock, self._launched.told():
            event.stream.reap()
            return event.stream.completed >= event.number

    def wait(self, event: Event) -> None:
        self._wait(event.stream, event.number)

    def stream_wait(self, stream: Any, event: Event) -> None:
        with self._lock:
            self._mine(stream).wait_for(event.stream, event.number)

    def elapsed_ms(self, start: Event, end: Event) -> float:
        """From the first work after `start` to the last before `end`; 0 where there is none between."""
        if not self._physical.stamps:
            raise DeviceError(f"{self._name} keeps no time")
        self.wait(start)
        self.wait(end)
        if end.before is None or (start.stream is end.stream and end.number <= start.number):
            return 0.0
        mask, last = (1 << self._physical.stamps) - 1, end.before
        if start.after is not None and start.after.done:
            begin = start.after.begin
        elif start.before is not None:
            begin = start.before.end
        else:
            return 0.0
        ticks = (last.end - begin) & mask
        if ticks > mask >> 1:  # it ended before it began
            ticks -= mask + 1
        return ticks * self._physical.period_ns / 1e6

    def synchronize(self, stream: Any | None) -> None:
        if stream is not None:
            self._wait(self._mine(stream), stream.submitted)
            return
        with self._lock:
            streams = list(self._store.active.values())
        for one in streams:
            self._wait(one, one.submitted)

    def _wait(self, stream: Stream, number: int) -> None:
        """Others may use the device meanwhile: the lock is not held while the host sleeps."""
        with self._launched.told():
            while True:
                with self._lock:
                    stream.reap()
                    if stream.completed >= number:
                        return
                stream.sleep(number)

    # -- checks ------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return f"vulkan:{self.info.ordinal} ({self.info.name})"

    def _mine(self, stream: Any) -> Stream:
        if not isinstance(stream, Stream) or stream.handles.device != self._device.handle:
            raise DeviceError(f"{stream!r} is no stream of {self._name}")
        return stream

    def _part(self, memory: Memory, what: str) -> Part:
        part = memory.handle
        if not isinstance(part, Part) or part.block.pool is not self._store.arrays:
            raise DeviceError(f"{what}: this is no memory of {self._name}")
        if part.freed:
            raise DeviceError(f"{what}: this memory of {memory.nbytes} bytes was freed already")
        return part

    def _range(self, memory: Memory, offset: int, nbytes: int, what: str) -> Part:
        part = self._part(memory, what)
        if offset < 0 or nbytes < 0 or offset + nbytes > memory.nbytes:
            raise DeviceError(
                f"{what}: bytes {offset} to {offset + nbytes} are not within the {memory.nbytes} of this memory"
            )
        return part


def _let_finish(reference: weakref.ref[VulkanDriver]) -> None:
    """At the end of the process: kernels under way do not run in memory that is taken apart."""
    driver = reference()
    if driver is None or driver._lock.inherited:
        return
    for stream in list(driver._store.active.values()):
        try:
            stream.sleep(stream.submitted, LAST_WAIT_MS * 1_000_000)
        except DeviceError:  # lost: there is nothing to wait for
            return
