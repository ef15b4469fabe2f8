"""The tape of a derivative on a device without a heap: memory that the launch brings.

Comes in: a launch, as a function of its tape's arguments. Goes out: the launch, made once with a tape that is
large enough. How much that is the code says (`TapeUse.words`), or launches count it: a launch whose tape was too
small did nothing outside of it and tells the words it needs, what it wrote is put back, and it is made again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.arrays.array import Array
from pykern.arrays.view import covered
from pykern.data.artifact import DeviceCode, TapeUse
from pykern.errors import OutOfMemory
from pykern.runtime.driver import Memory
from pykern.runtime.pool import Allocation
from pykern.runtime.registry import Opened
from pykern.runtime.stream import Stream

WORD = 8
SEEN = "max_storage_range"
"""A device's fact: bytes of one piece of memory that a kernel sees."""
MOST_KEPT = 256
"""Sizes of launches whose need is remembered, for each kernel; beyond that the oldest is forgotten."""
Triple = tuple[int, int, int]
Slots = list["Memory | int"]
TapeArguments = Callable[[Triple], Slots]
Attempt = Callable[[TapeArguments, Triple], Callable[[], None]]
"""Puts a launch into its stream, cut into parts of at most so many groups; the arguments of a part's tape follow
from its first group. Gives what is to be done once the launch is known to count."""


@dataclass(frozen=True)
class TapedLaunch:
    """One launch that brings a tape. `grid` and `group` count along x, y, z; `key` decides what is pushed where
    lengths and scalars do."""

    opened: Opened
    stream: Stream
    device: DeviceCode
    grid: Triple
    group: Triple
    written: list[Array]
    needs: dict[Any, int]
    key: Any

    def run(self, attempt: Attempt) -> None:
        """Launch, again where the tape was too small."""
        assert self.device.tape is not None
        if self.device.tape.words:
            self._attempt(attempt, self.device.tape.words, None)()
            return
        known = self.needs.get(self.key)
        if known is not None and self.device.tape.told:
            self._attempt(attempt, known, self._counter())()
            return
        capacity = known or 0
        saved = [_Saved(self, array) for array in self.written]
        while True:
            counter = self._counter()
            succeed = self._attempt(attempt, capacity, counter)
            need = self._read(counter)
            if need <= capacity:
                break
            for copy in saved:
                copy.restore()
            capacity = need
        while len(self.needs) >= MOST_KEPT:
            self.needs.pop(next(iter(self.needs)), None)
        self.needs[self.key] = capacity
        succeed()

    def _attempt(self, attempt: Attempt, words: int, counter: Allocation | None) -> Callable[[], None]:
        most = self._part(words)
        per_group = math.prod(self.group)
        cut = most[self._slowest()] < self.grid[self._slowest()] and self._in_order(most)
        groups = math.prod(map(min, self.grid, most) if cut else self.grid)
        items = groups * per_group
        most_seen = int(str(self.opened.info.facts.get(SEEN, 0)))
        if most_seen and words * items * WORD > most_seen:
            raise OutOfMemory(
                f"a tape of {words * items * WORD} bytes, and kernels on {self.opened.name} see {most_seen} at once",
                hint="launch over fewer work-items",
            )
        tape = self.opened.pool.allocate(max(1, words * items) * WORD)
        native = self.stream.native

        def arguments(first: Triple) -> Slots:
            """In a part of a launch that is cut for its tape, the first work-item has the first place."""
            begin = self._groups_before(first) * per_group if cut else 0
            found: Slots = [*self._memory(tape.used_on(native)), words, items, begin]
            return found if counter is None else [*found, *self._memory(counter.used_on(native)), 1]

        return attempt(arguments, most)

    def _memory(self, memory: Memory) -> Slots:
        return [memory, 0] if self.device.offsets else [memory]

    def _groups_before(self, first: Triple) -> int:
        return (first[2] * self.grid[1] + first[1]) * self.grid[0] + first[0]

    def _slowest(self) -> int:
        return max((n for n in range(3) if self.grid[n] > 1), default=0)

    def _in_order(self, most: Triple) -> bool:
        """Whether parts of so many groups hold groups that follow each other: only the slowest axis is cut."""
        return all(n <= m for n, m in zip(self.grid[: self._slowest()], most, strict=False))

    def _part(self, words: int) -> Triple:
        """The most groups along each axis of one part: where the tape has no room, less along the slowest."""
        most = list(self.opened.info.max_grid)
        axis = self._slowest()
        if self._in_order(self.opened.info.max_grid):
            row = math.prod(self.grid[:axis]) * math.prod(self.group) * words * WORD
            most[axis] = max(1, min(most[axis], tape_room(self.opened) // max(1, row)))
        x, y, z = most
        return x, y, z

    def _counter(self) -> Allocation:
        made = self.opened.pool.allocate(WORD)
        self.opened.driver.fill(self.stream.native, made.used_on(self.stream.native), 0, bytes(4), 8)
        return made

    def _read(self, counter: Allocation) -> int:
        cell = np.zeros(1, np.int32)
        driver, native = self.opened.driver, self.stream.native
        driver.copy_out(native, cell, counter.used_on(native), 0)
        driver.wait(driver.record(native))
        return int(cell[0])


class _Saved:
    """A copy of what an array holds before the launch."""

    def __init__(self, launch: TapedLaunch, array: Array) -> None:
        self.launch, self.array = launch, array
        self.first, last = covered(array)
        self.nbytes = last - self.first
        if self.nbytes:
            native = launch.stream.native
            self.copy = launch.opened.pool.allocate(self.nbytes)
            source = array._allocation.used_on(native)
            to = self.copy.used_on(native)
            launch.opened.driver.copy(native, to, 0, source, self.first, self.nbytes)

    def restore(self) -> None:
        if self.nbytes:
            native = self.launch.stream.native
            to = self.array._allocation.used_on(native)
            source = self.copy.used_on(native)
            self.launch.opened.driver.copy(native, to, self.first, source, 0, self.nbytes)


def tape_room(opened: Opened) -> int:
    """Bytes that a tape may take: a launch that needs more is cut into several, one after the other."""
    info = opened.info
    seen = int(str(info.facts.get(SEEN, 0)))
    limits = [n for n in (info.max_allocation, info.memory_bytes // 4, seen) if n]
    return min(limits, default=1 << 30) // 8 * 7  # memory comes in sizes up to an eighth larger


def told_by_slots(tape: TapeUse, device: DeviceCode, arguments: Slots, slots: list[int]) -> Any:
    """What decides the number of pushes, as something to look up: all that is no memory, or the launch's size."""
    if not tape.told:
        return tuple(slots)
    return tuple(a for a, kind in zip(arguments, device.arguments, strict=False) if kind == "slot"), *slots
