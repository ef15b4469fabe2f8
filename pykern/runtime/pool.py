"""Memory of one device that is kept and given out again: asking the driver each time is slow.

Comes in: sizes. Goes out: `Allocation`s. Work on a device is still under way when Python lets go of an array,
so memory remembers the streams it was used on, and its next owner's streams wait for those.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import threading
import weakref
from collections import deque
from dataclasses import astuple
from typing import Any

from pykern.data.records import record
from pykern.errors import OutOfMemory, UsedAfterFree
from pykern.runtime.driver import Driver, Memory

GRAIN = 512
"""Sizes are rounded up to this many bytes, from 1 MiB on to an eighth of their power of two."""

_places = itertools.count(1 << 10)
_numbers = itertools.count(1)
_BITS = 62
"""Streams of a device that compiled entries tell apart; launches in more of them go through Python."""

MANY_STREAMS = 8
"""Streams that a piece of memory remembers before it asks which of them are closed and have finished."""


@record
class MemoryStats:
    """Bytes of a device: given out now, the most so far, taken from the driver; and how often.

    `allocated` and `peak` count what was asked for, rounded up; `reserved` also what is kept for reuse.
    """

    allocated: int
    peak: int
    reserved: int
    allocations: int
    reused: int
    live: int

    def __add__(self, other: MemoryStats) -> MemoryStats:
        """Of two stores side by side; the peak is at most this."""
        return MemoryStats(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


class Allocation:
    """Memory with one owner. Views share it; it goes back when the last of them is gone, or with `free`."""

    __slots__ = ("__weakref__", "_block", "_finalizer", "_users", "nbytes", "pool", "readonly")

    def __init__(self, pool: Pool, block: _Block, nbytes: int, readonly: bool = False) -> None:
        self.pool = pool
        self.nbytes = nbytes
        self.readonly = readonly
        self._block = block
        self._users: ctypes.c_int64 | None = None
        self._finalizer = weakref.finalize(self, pool._give_back, block)
        self._finalizer.atexit = False  # the process's end gives everything back

    @property
    def memory(self) -> Memory:
        """The driver's memory. Raises `UsedAfterFree`."""
        if not self._finalizer.alive:
            raise UsedAfterFree(
                f"an array of {self.nbytes} bytes on {self.pool.device} was freed and is used again",
                hint="all views of an array are gone once one of them is freed",
            )
        return self._block.memory

    @property
    def borrowed(self) -> bool:
        """Whether the memory is somebody else's, who may hand it out again."""
        return self._block.foreign is not None

    @property
    def place(self) -> int:
        """Where it begins: an address, or, where the device has none, a number far from all others."""
        return self.memory.address or self._block.place

    def used_on(self, stream: Any) -> Memory:
        """The memory, for work that is about to be put into `stream`: it waits for owners before."""
        memory = self.memory
        self._block.used_on(self.pool, stream)
        if self._users is not None:
            self._users.value |= self.pool.bit(stream)
        return memory

    def users_cell(self) -> int:
        """The address of a number: the bits of the streams that may use the memory at once, 0 once it is freed."""
        if self._users is None:
            self.memory  # noqa: B018 - a freed array is refused
            self._users = ctypes.c_int64(sum(map(self.pool.bit, self._block.users)))
        return ctypes.addressof(self._users)

    def wait_for_users(self, stream: Any) -> Memory:
        """The memory; `stream` waits for everything put so far into any stream that uses it."""
        self.memory  # noqa: B018 - a freed array is refused
        block = self._block
        for other in block.users:
            if other is not stream:
                self.pool.driver.stream_wait(stream, self.pool.driver.record(other))
        return self.used_on(stream)

    def users(self) -> tuple[Any, ...]:
        """The driver's streams that use it."""
        return tuple(self._block.users)

    def free(self) -> None:
        """Give the memory back now."""
        if self._users is not None:
            self._users.value = 0
        self._finalizer()


class _Block:
    """A piece of the driver's memory. `users` are this owner's streams, `before` those of owners before."""

    __slots__ = ("before", "foreign", "memory", "place", "size", "users")

    def __init__(self, memory: Memory, size: int, foreign: Any = None) -> None:
        self.memory = memory
        self.size = size
        self.foreign = foreign
        self.users: list[Any] = []
        self.before: list[Any] = []
        self.place = next(_places) << 36

    def used_on(self, pool: Pool, stream: Any) -> None:
        if any(user is stream for user in self.users):
            return
        if len(self.users) >= MANY_STREAMS:
            pool.forget_finished(self.users)
        for other in self.before:
            if other is not stream:
                pool.driver.stream_wait(stream, pool.driver.record(other))
        self.users.append(stream)

    def change_owner(self, pool: Pool) -> None:
        self.before = [*self.users, *(b for b in self.before if all(b is not u for u in self.users))]
        self.users = []
        if len(self.before) >= MANY_STREAMS:
            pool.forget_finished(self.before)


class Pool:
    """The memory of one device, kept by size."""

    def __init__(self, device: str, driver: Driver, stream: Any) -> None:
        self.device = device
        self.driver = driver
        self.stream = stream
        self.number = next(_numbers)
        self._exact = bool(driver.info.facts.get("exact_sizes"))
        self._bits: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._streams = 0
        self._closed: weakref.WeakSet[Any] = weakref.WeakSet()
        self._free: dict[int, list[_Block]] = {}
        self._returned: deque[_Block] = deque()  # finalizers run anywhere, also inside of these methods
        self._lock = threading.Lock()
        self._allocated = self._peak = self._reserved = self._allocations = self._reused = self._live = 0

    def allocate(self, nbytes: int) -> Allocation:
        """Memory of `nbytes`, whose contents are not set. Raises `OutOfMemory`."""
        size = nbytes if self._exact else rounded(nbytes)
        with self._lock:
            self._collect()
            kept = self._free.get(size)
            if kept:
                block = kept.pop()
                self._reused += 1
            else:
                block = _Block(self._ask(size, nbytes), size)
                self._reserved += size
            self._allocations += 1
            self._live += 1
            self._allocated += size
            self._peak = max(self._peak, self._allocated)
        return Allocation(self, block, nbytes)

    def bit(self, stream: Any) -> int:
        """A stream's own bit, for good: another one's is never given again. 0 where there are none left."""
        bit = self._bits.get(stream)
        if bit is None:
            with self._lock:
                bit = self._bits.get(stream)  # another thread may have asked meanwhile
                if bit is None:
                    bit = 1 << self._streams if self._streams < _BITS else 0
                    self._streams += 1
                    self._bits[stream] = bit
        return bit

    def close(self, stream: Any) -> None:
        """Nobody puts work into `stream` any more; what is in it may still be under way."""
        self._closed.add(stream)

    def forget_finished(self, streams: list[Any]) -> None:
        """Take the closed streams whose work is done out of the list: memory would keep them alive for ever."""
        for stream in tuple(streams):
            if stream in self._closed and self.driver.done(self.driver.record(stream)):
                with contextlib.suppress(ValueError):  # another thread has taken it out
                    streams.remove(stream)

    def adopt(self, memory: Memory, owner: Any, readonly: bool = False) -> Allocation:
        """Memory of somebody else, who is kept alive with it; it is never given out to others."""
        return Allocation(self, _Block(memory, 0, (owner,)), memory.nbytes, readonly)

    def stats(self) -> MemoryStats:
        """What is given out, and what is kept."""
        with self._lock:
            self._collect()
            return MemoryStats(
                self._allocated, self._peak, self._reserved, self._allocations, self._reused, self._live
            )

    def empty(self) -> None:
        """Give what is kept back to the driver."""
        with self._lock:
            self._collect()
            self._empty()

    def _ask(self, size: int, nbytes: int) -> Memory:
        limit = self.driver.info.max_allocation
        if limit and nbytes > limit:
            raise OutOfMemory(
                f"{nbytes} bytes are more than {self.device} gives to one array ({limit} bytes)",
                hint="work in parts",
            )
        try:
            return self.driver.allocate(size)
        except OutOfMemory:
            pass
        self._empty()  # what is kept in other sizes may be just what is missing
        try:
            return self.driver.allocate(size)
        except OutOfMemory as error:
            raise OutOfMemory(
                f"{self.device} has no room for {nbytes} bytes: {error.reason}; "
                f"{self._allocated} bytes in {self._live} arrays are in use",
                hint="let go of arrays (del x, or x.free()), or work in parts; see pk.memory_stats",
            ) from None

    def _empty(self) -> None:
        if not any(self._free.values()):
            return
        self.driver.synchronize(None)
        for blocks in self._free.values():
            for block in blocks:
                self._reserved -= block.size
                self.driver.free(block.memory)
        self._free.clear()

    def _give_back(self, block: _Block) -> None:
        if block.foreign is None:
            self._returned.append(block)
        block.foreign = None

    def _collect(self) -> None:
        while self._returned:
            block = self._returned.popleft()
            block.change_owner(self)
            self._allocated -= block.size
            self._live -= 1
            self._free.setdefault(block.size, []).append(block)


class KeptPool(Pool):
    """Memory that a graph works in: taken from the device's pool at the first replay, given back with the graph."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool.device, pool.driver, pool.stream)
        self._pool = pool
        self._held: list[Allocation] = []
        self._user = pool.stream

    def begin(self, stream: Any) -> None:
        """`stream` is about to use it."""
        self._user = stream
        for held in self._held:
            held.used_on(stream)

    def _ask(self, size: int, nbytes: int) -> Memory:
        held = self._pool.allocate(size)
        held.used_on(self._user)
        self._held.append(held)
        return held.memory


def rounded(nbytes: int) -> int:
    """The size a request is served with."""
    if nbytes >= 1 << 20:
        grain = max(GRAIN, 1 << (nbytes.bit_length() - 4))
    else:
        grain = GRAIN
    return max(grain, -(-nbytes // grain) * grain)
