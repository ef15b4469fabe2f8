"""Barriers of a block by their numbers, and what needs no waiting: arrivals, the choice of one lane, registers.

Comes in: an `Instruction`. Goes out: LLVM IR. The threads of a warp come together, so a warp counts as 32.
"""

from __future__ import annotations

from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import Values
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx
from pykern.runtime.emulator.wait_kinds import BARRIERS

_FORMS = ("bar.sync", "barrier.sync", "barrier.sync.aligned", "barrier.cta.sync.aligned", "bar.cta.sync")
_ARRIVALS = ("bar.arrive", "barrier.arrive", "barrier.arrive.aligned", "barrier.cta.arrive.aligned")
REGISTERS = range(24, 257, 8)
"""What `setmaxnreg` takes."""


def stand_at(t: Values, one: Instruction) -> None:
    """The barrier's number, and how many threads it counts (0: all), for the warp."""
    if one.name not in _FORMS or not 1 <= len(one.operands) <= 2:
        raise UnknownPtx(f"the instruction {one.name} {', '.join(one.operands)}")
    warp = t.value(f"lshr i64 {t.slot('thread')}, 5")
    t.store("i64", _number(t, one), t.cell(t.slot("barrier_numbers"), warp))
    count = t.bits(one.operands[1], 64) if len(one.operands) == 2 else "0"
    t.store("i64", count, t.cell(t.slot("barrier_counts"), warp))


def _number(t: Values, one: Instruction) -> str:
    return t.value(f"urem i64 {t.bits(one.operands[0], 64)}, {BARRIERS}")


@opcode("bar barrier", "arrive aligned cta")
def arrive(t: Values, one: Instruction) -> None:
    """Count the thread, which goes on."""
    if one.name not in _ARRIVALS or len(one.operands) != 2:
        raise UnknownPtx(f"the instruction {one.name} {', '.join(one.operands)}")
    come = t.cell(t.slot("arrived"), _number(t, one))
    t.store("i64", t.value(f"add i64 {t.load('i64', come)}, 1"), come)
    t.set_slot("progress", 1)


@opcode("elect", "sync")
def elect(t: Values, one: Instruction) -> None:
    """The first lane of the mask."""
    mask = t.bits(one.operands[1], 32)
    first = t.call("i32", "llvm.cttz.i32", ("i32", mask), ("i1", "false"))
    register, _, predicate = one.operands[0].partition("|")
    t.write(register, first, "b32")
    lane = t.resized(t.slot("lane"), 64, 32)
    t.write(predicate, t.value(f"icmp eq i32 {first}, {lane}"), "pred")


@opcode("setmaxnreg", "inc dec sync aligned")
def set_registers(t: Values, one: Instruction) -> None:
    """Registers are as many as are needed here."""
    if {"sync", "aligned"} - set(one.modifiers) or int(one.operands[0]) not in REGISTERS:
        raise UnknownPtx(f"the instruction {one.name} {', '.join(one.operands)}")
