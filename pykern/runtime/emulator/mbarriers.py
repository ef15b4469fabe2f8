"""Rules of barriers in shared memory, which count arrivals and bytes of copies: `mbarrier`.

Comes in: an `Instruction`. Goes out: LLVM IR that asks `async_unit` for all but the test of a phase. Whoever tests a
phase gives way before, so that the others go on: threads poll. A word of 64 bits holds the phase, see `barrier_words`.
"""

from __future__ import annotations

from pykern.runtime.emulator.accesses import host_address
from pykern.runtime.emulator.barrier_words import PHASE_BIT
from pykern.runtime.emulator.copy_waits import see_phases
from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import Values
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx
from pykern.runtime.emulator.requests import ARRIVE, EXPECT, INIT, INVALIDATE, SETTLE, answer, ask

_ORDERS = {"acquire", "release", "relaxed", "cta"}
_WORD = 8


def offset_of(t: Values, one: Instruction, operand: str, access: str, nbytes: int = _WORD) -> str:
    """The checked place of something in shared memory, from its begin."""
    host = host_address(t, one, operand, nbytes, access, "shared")
    return t.value(f"sub i64 {t.value(f'ptrtoint ptr {host} to i64')}, {t.slot('shared')}")


@opcode("mbarrier", f"init inval arrive expect_tx shared {' '.join(sorted(_ORDERS))}")
def change(t: Values, one: Instruction) -> None:
    """All forms that wait for nothing."""
    form = [part for part in one.modifiers if part not in _ORDERS]
    site = str(one.number)
    if form == ["init", "shared"]:
        place = offset_of(t, one, one.operands[0], "write")
        ask(t, INIT, site, place, t.bits(one.operands[1], 64))
    elif form == ["inval", "shared"]:
        ask(t, INVALIDATE, site, offset_of(t, one, one.operands[0], "update"))
    elif form == ["expect_tx", "shared"]:
        place = offset_of(t, one, one.operands[0], "update")
        ask(t, EXPECT, site, place, t.bits(one.operands[1], 64))
    elif form in (["arrive", "shared"], ["arrive", "expect_tx", "shared"]):
        place = offset_of(t, one, one.operands[1], "update")
        given = t.bits(one.operands[2], 64) if len(one.operands) == 3 else ""
        with_bytes = "expect_tx" in form
        count, coming = ("1", given) if with_bytes else (given or "1", "0")
        ask(t, ARRIVE, site, place, count, coming)
        t.write(one.operands[0], answer(t), "b64")
    else:
        raise UnknownPtx(f"the instruction {one.name}")


def test(t: Values, one: Instruction) -> None:
    """Whether a phase has ended, told by its parity or by the state that an arrival has given."""
    form = [part for part in one.modifiers if part not in _ORDERS]
    if form[0] not in ("try_wait", "test_wait") or form[1:] not in (["parity", "shared"], ["shared"]):
        raise UnknownPtx(f"the instruction {one.name}")
    host = host_address(t, one, one.operands[1], _WORD, "update", "shared")
    given = t.bits(one.operands[2], 64)
    wanted = given if "parity" in form else t.value(f"lshr i64 {given}, {PHASE_BIT}")
    wanted = t.value(f"and i64 {wanted}, 1")

    def done() -> str:
        phase = t.value(f"lshr i64 {t.load('i64', host)}, {PHASE_BIT}")
        return t.value(f"icmp ne i64 {t.value(f'and i64 {phase}, 1')}, {wanted}")

    waits = t.value(f"xor i1 {done()}, true")
    under_way = t.value(f"icmp ne i64 {t.slot('pending')}, 0")
    place = t.value(f"sub i64 {t.value(f'ptrtoint ptr {host} to i64')}, {t.slot('shared')}")
    with t.when(t.value(f"and i1 {waits}, {under_way}")):
        ask(t, SETTLE, str(one.number), place)
    found = done()
    with t.when(found):
        t.set_slot("progress", 1)
        see_phases(t, place)
    t.write(one.operands[0], found, "pred")
