"""Rules of products of a warpgroup, `wgmma`: what each thread brings, and takes when all four warps have come.

Comes in: an `Instruction`. Goes out: LLVM IR. A product is computed when it is asked for; what it reads counts as being
read until the group that it is in has been waited for (`async_unit`). That its registers are left alone until then is
checked beforehand, by `warpgroup_registers`.
"""

from __future__ import annotations

from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import Values, elements
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx
from pykern.runtime.emulator.requests import COMMIT_PRODUCTS, WAIT_PRODUCTS, ask
from pykern.runtime.emulator.warpgroup_matrices import product_form


def bring(t: Values, one: Instruction) -> None:
    form = product_form(one)
    sums, a, b, counts = one.operands[:4]
    words = [t.bits(register, 32) for register in elements(sums)]
    if form.a_registers:
        words += [t.bits(register, 32) for register in elements(a)]
    for descriptor in ([] if form.a_registers else [a]) + [b]:
        value = t.bits(descriptor, 64)
        words += [t.resized(value, 64, 32), t.resized(t.value(f"lshr i64 {value}, 32"), 64, 32)]
    words.append(t.resized(t.bits(counts, 1), 1, 32))
    area = _area(t)
    for number, word in enumerate(words):
        t.store("i32", word, t.offset(area, 4 * number))


def take(t: Values, one: Instruction) -> None:
    kind, area = product_form(one).result, _area(t)
    for number, register in enumerate(elements(one.operands[0])):
        t.write(register, t.load("i32", t.offset(area, 4 * number)), "s32" if kind == "s32" else "b32")


def _area(t: Values) -> str:
    return t.cell(t.slot("products"), t.value(f"mul i64 {t.slot('thread')}, {t.slot('product_bytes')}"), 1)


@opcode("wgmma", "fence commit_group wait_group sync aligned")
def order(t: Values, one: Instruction) -> None:
    """What has no result; the first lane speaks for its warp."""
    form = [part for part in one.modifiers if part not in ("sync", "aligned")]
    if form == ["fence"]:
        return
    if form not in (["commit_group"], ["wait_group"]):
        raise UnknownPtx(f"the instruction {one.name}")
    with t.when(t.value(f"icmp eq i64 {t.slot('lane')}, 0")):
        if form == ["commit_group"]:
            ask(t, COMMIT_PRODUCTS, str(one.number))
        else:
            ask(t, WAIT_PRODUCTS, str(one.number), t.bits(one.operands[0], 64))
