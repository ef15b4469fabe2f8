"""LLVM IR that finds races in shared memory: accesses of two threads of a block with no barrier between them.

Goes out: `write_races`. For each byte of shared memory there are the last write and the last read, as words: the epoch
(barriers passed) in the upper half, then how many fences for asynchronous operations the thread had made, the thread
plus one, and whether it was atomic. A read is kept with the thread
`MANY` where several have read in an epoch. A write races with a read or a write of another thread in the same epoch, a
read with a write; atomic operations do not race with one another. A relaxed read races with plain writes before it, and
is not kept. Barriers of a warp begin no epoch: what only they
order counts as a race.
"""

from __future__ import annotations

from pykern.runtime.emulator.emit import Emitter
from pykern.runtime.emulator.faults import RACE
from pykern.runtime.emulator.memory_checks import ACCESSES, RELAXED, SIZES

MANY = (1 << 16) - 1
FENCES_AT, ASYNC = 17, (1 << 15) - 1
"""Where a word has the fences that its thread had made, modulo `ASYNC`, which stands for an asynchronous write."""
CELL_BYTES = 16
"""Of both words of a byte of memory."""


def write_races() -> tuple[list[str], dict[str, str]]:
    lines, declared = [], {}
    for nbytes in SIZES:
        e = Emitter()
        e.lines.append(f"define void @pk_race_{nbytes}(ptr %launch, i64 %address, i64 %site, i64 %kind) {{")
        _race(e, nbytes)
        e.do("ret void")
        e.lines.append("}")
        lines += e.lines
        declared |= e.declared
    return lines, declared


def _race(e: Emitter, nbytes: int) -> None:
    epoch = e.value(f"shl i64 {e.slot('epoch')}, 32")
    thread = e.value(f"add i64 {e.slot('thread')}, 1")
    fences = e.resized(e.load("i32", e.cell(e.slot("fences"), e.slot("thread"), 4)), 32, 64)
    now = e.value(f"or i64 {epoch}, {e.value(f'shl i64 {thread}, 1')}")
    now = e.value(f"or i64 {now}, {e.value(f'shl i64 {fences}, {FENCES_AT}')}")
    is_relaxed = e.value(f"icmp eq i64 %kind, {RELAXED}")
    is_plain = e.value(f"icmp eq i64 %kind, {ACCESSES.index('read')}")
    is_read = e.value(f"or i1 {is_plain}, {is_relaxed}")
    is_atomic = e.value(f"icmp eq i64 %kind, {ACCESSES.index('update')}")
    with e.loop(str(nbytes)) as number:
        cell = e.cell(e.slot("shared_cells"), e.value(f"add i64 %address, {number}"), CELL_BYTES)
        read_cell = e.offset(cell, 8)
        write, read = e.load("i64", cell), e.load("i64", read_cell)
        written = _by_another(e, write, epoch, thread)
        either = e.value(f"or i1 {is_atomic}, {is_relaxed}")
        both_atomic = e.value(f"and i1 {either}, {e.value(f'trunc i64 {write} to i1')}")
        races = e.value(f"and i1 {written}, {e.value(f'xor i1 {both_atomic}, true')}")
        was_read = e.value(
            f"and i1 {_by_another(e, read, epoch, thread)}, {e.value(f'xor i1 {is_read}, true')}"
        )
        _report(e, e.value(f"or i1 {races}, {was_read}"), races, write, read)
        mark = e.value(f"or i64 {now}, {e.value(f'zext i1 {is_atomic} to i64')}")
        several = e.value(f"or i64 {epoch}, {MANY << 1}")
        reader = e.value(f"select i1 {_by_another(e, read, epoch, thread)}, i64 {several}, i64 {now}")
        e.store("i64", e.value(f"select i1 {is_read}, i64 {write}, i64 {mark}"), cell)
        e.store("i64", e.value(f"select i1 {is_plain}, i64 {reader}, i64 {read}"), read_cell)


def _by_another(e: Emitter, word: str, epoch: str, thread: str) -> str:
    """Whether a word is of this epoch and of another thread."""
    same = e.value(f"icmp eq i64 {e.value(f'and i64 {word}, {-1 << 32}')}, {epoch}")
    who = e.value(f"and i64 {e.value(f'lshr i64 {word}, 1')}, {MANY}")
    other = e.value(f"and i1 {e.value(f'icmp ne i64 {who}, {thread}')}, {e.value(f'icmp ne i64 {who}, 0')}")
    return e.value(f"and i1 {same}, {other}")


def _report(e: Emitter, condition: str, with_write: str, write: str, read: str) -> None:
    first = e.value(f"icmp eq i64 {e.slot('fault')}, 0")
    with e.when(e.value(f"and i1 {condition}, {first}")):
        word = e.value(f"select i1 {with_write}, i64 {write}, i64 {read}")
        e.set_slot("fault_other", e.value(f"and i64 {e.value(f'lshr i64 {word}, 1')}, {MANY}"))
        e.fault(RACE, "%address", "%site")
