"""What may be wrong in a launch, and the error for each: it names the line of Python, the work-item and the memory.

Comes in: the words that the generated code left, and the instruction that they name. Goes out: a `KernelError`.
"""

from __future__ import annotations

from typing import Protocol

from pykern.data.locations import SourceSpan
from pykern.errors import DataRace, DeviceError, KernelError, OutOfBounds
from pykern.runtime.emulator.ptx import Place


class Faulty(Protocol):
    """An instruction, of any GPU."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> Place | None: ...


class UnorderedRegisters(Exception):
    """A kernel that uses what is not there yet: found when it is loaded. `one` is where it is wrong, `text` what."""

    def __init__(self, one: Faulty, text: str) -> None:
        super().__init__(one.name, text)
        self.one, self.text = one, text

    def error(self, kernel: str) -> DeviceError:
        return DeviceError(f"{kernel}: {self.one.name} uses {self.text}", span_of(self.one))


BOUNDS, MISALIGNED, READ_ONLY, UNWRITTEN, RACE, DIVERGED, ABSENT_LANE, TRAPPED, PARTIAL_WARP = range(1, 10)
STUCK, UNFENCED, BAD_BARRIER, BAD_MAP, BAD_MATRIX, UNFINISHED, UNWAITED = range(10, 17)
WITHOUT_ADDRESS = (DIVERGED, ABSENT_LANE, TRAPPED, PARTIAL_WARP, STUCK, BAD_MAP, BAD_MATRIX, UNFINISHED)
_TEXTS = {
    BOUNDS: "an access outside of memory",
    MISALIGNED: "an access at an address that its type must not have",
    READ_ONLY: "a write to memory that is only read",
    UNWRITTEN: "a read of shared memory that no work-item of the group has written",
    RACE: "two work-items access the same shared memory with no barrier between them",
    DIVERGED: "work-items wait for one another at different places",
    ABSENT_LANE: "a value is taken from a work-item that brings none",
    TRAPPED: "the kernel gave up",
    PARTIAL_WARP: "an operation of a whole subgroup, some of whose work-items have ended or never were",
    STUCK: "work-items wait for what never comes",
    UNFENCED: "an asynchronous access to shared memory that a work-item has written without a fence.proxy.async since",
    BAD_BARRIER: "an mbarrier that was not initialised, or gets more arrivals than it counts",
    BAD_MAP: "a copy by something that is no tensor map",
    BAD_MATRIX: "a matrix of shared memory that is not described in the same way by a whole warpgroup",
    UNWAITED: "an access to shared memory that an asynchronous operation, which was not waited for, may still use",
    UNFINISHED: "the group ends before its asynchronous copies have been waited for",
}
_CLASSES: dict[int, type[KernelError]] = {BOUNDS: OutOfBounds, RACE: DataRace}
_HINTS = {
    UNWRITTEN: "write every element that is read, and put a barrier between",
    RACE: "put pk.barrier() between the two accesses, or make both atomic",
    DIVERGED: "let every work-item of a group reach the same barriers and subgroup operations",
    STUCK: "look at the phases and the number of arrivals of the barriers that they wait at",
    UNWAITED: "wait for the group of the copy or product, or for the mbarrier that counts its bytes, before",
    UNFENCED: "put fence.proxy.async behind the writes, before the barrier",
}


def fault(
    kind: int, kernel: str, one: Faulty, group: tuple[int, ...], item: tuple[int, ...], memory: str
) -> KernelError:
    """The error. `memory` tells where the access was, and the other work-item of a race; "" where that says nothing."""
    who = f"work-item {item} of group {group}"
    text = f"{kernel}: {_TEXTS[kind]}: {one.name}, by {who}" + (f", {memory}" if memory else "")
    return _CLASSES.get(kind, DeviceError)(text, span_of(one), hint=_HINTS.get(kind))


def span_of(one: Faulty) -> SourceSpan | None:
    """The place in Python that an instruction was made of."""
    place = one.place
    if place is None or not place.file:
        return None
    column = max(place.column - 1, 0)
    return SourceSpan(place.file, place.line, column, column + 1)
