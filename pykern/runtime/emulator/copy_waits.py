"""LLVM IR that finds what is read before the asynchronous copy of it has been waited for.

Goes out: `write_copy_waits`, functions that generated code calls. Whoever waits has two counts: what has ended so far
(groups of copies that a thread has closed, phases of an mbarrier), and how many of these have been waited for. Threads
come first in the table, then a place for each 8 bytes of shared memory, where mbarriers lie. A byte that a copy has
written has the state `IN_FLIGHT` and a cell: who waits for it (plus one), and the number of its group or phase. It is
there when as many have been waited for. Which thread has waited is not asked: others are ordered by barriers, or race.
"""

from __future__ import annotations

from pykern.runtime.emulator.emit import Emitter
from pykern.runtime.emulator.memory_checks import IN_FLIGHT, WRITTEN

COUNT_BYTES = 8
"""Of both counts of one who waits: ended, then waited for."""
CELL_BYTES, CELL_OF = 8, 4
"""Of a cell, and of the memory that it is for."""


def write_copy_waits() -> tuple[list[str], dict[str, str]]:
    lines, declared = [], {}
    for write in (_begin_copy, _in_flight):
        e = Emitter()
        write(e)
        e.lines.append("}")
        lines += e.lines
        declared |= e.declared
    return lines, declared


def close_group(e: Emitter) -> None:
    """The copies that the thread has asked for since the last group are one."""
    counts = _counts(e, e.slot("thread"))
    e.store("i32", e.value(f"add i32 {e.load('i32', counts)}, 1"), counts)


def wait_groups(e: Emitter, left: int) -> None:
    """All groups of the thread but the last few are there."""
    counts = _counts(e, e.slot("thread"))
    waited = e.offset(counts, 4)
    done = e.value(f"sub i32 {e.load('i32', counts)}, {left}")
    more = e.value(f"icmp sgt i32 {done}, {e.load('i32', waited)}")
    e.store("i32", e.value(f"select i1 {more}, i32 {done}, i32 {e.load('i32', waited)}"), waited)


def see_phases(e: Emitter, place: str) -> None:
    """A thread has found that a phase of the mbarrier at a place has ended: so have all before."""
    with e.when(e.value(f"icmp eq i64 {e.slot('fault')}, 0")):  # else the place may be none
        waiter = e.value(f"add i64 {e.slot('threads')}, {e.value(f'lshr i64 {place}, 3')}")
        counts = _counts(e, waiter)
        e.store("i32", e.load("i32", counts), e.offset(counts, 4))


def _counts(e: Emitter, waiter: str) -> str:
    return e.cell(e.slot("wait_counts"), waiter, COUNT_BYTES)


def _cell(e: Emitter, place: str) -> str:
    return e.cell(e.slot("copy_cells"), e.value(f"udiv i64 {place}, {CELL_OF}"), CELL_BYTES)


def _begin_copy(e: Emitter) -> None:
    """A copy to a host's address in shared memory, by the thread, of its group that is not closed."""
    e.lines.append("define void @pk_begin_copy(ptr %launch, ptr %target, i64 %nbytes) {")
    place = e.value(f"sub i64 {e.value('ptrtoint ptr %target to i64')}, {e.slot('shared')}")
    thread = e.slot("thread")
    group = e.resized(e.load("i32", _counts(e, thread)), 32, 64)
    waiter = e.value(f"shl i64 {e.value(f'add i64 {thread}, 1')}, 32")
    with e.when(e.value(f"icmp eq i64 {e.slot('fault')}, 0")), e.loop("%nbytes") as number:
        byte = e.value(f"add i64 {place}, {number}")
        e.store("i64", e.value(f"or i64 {waiter}, {group}"), _cell(e, byte))
        e.store("i8", str(WRITTEN | IN_FLIGHT), e.offset(e.pointer(e.slot("shared_state")), byte))
    e.do("ret void")


def _in_flight(e: Emitter) -> None:
    """Whether a copy to any of these bytes has not been waited for. The others are as if written by threads."""
    e.lines.append("define i1 @pk_in_flight(ptr %launch, i64 %address, i64 %nbytes) {")
    found = e.local("i1")
    e.store("i1", "false", found)
    with e.loop("%nbytes") as number:
        byte = e.value(f"add i64 %address, {number}")
        place = e.offset(e.pointer(e.slot("shared_state")), byte)
        state = e.load("i8", place)
        with e.when(e.value(f"icmp ne i8 {e.value(f'and i8 {state}, {IN_FLIGHT}')}, 0")):
            cell = e.load("i64", _cell(e, byte))
            waiter = e.value(f"sub i64 {e.value(f'lshr i64 {cell}, 32')}, 1")
            waited = e.load("i32", e.offset(_counts(e, waiter), 4))
            missing = e.value(f"icmp ule i32 {waited}, {e.resized(cell, 64, 32)}")
            e.store("i1", e.value(f"or i1 {e.load('i1', found)}, {missing}"), found)
            there = e.value(f"and i8 {state}, {255 ^ IN_FLIGHT}")
            e.store("i8", e.value(f"select i1 {missing}, i8 {state}, i8 {there}"), place)
    e.do(f"ret i1 {e.load('i1', found)}")
