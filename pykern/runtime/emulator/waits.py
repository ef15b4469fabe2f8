"""Rules of what threads do together: what each brings to a wait, and what it takes from it.

Comes in: a waiting `Instruction`. Goes out: LLVM IR before the wait (`bring`), and behind it (`take`), when all lanes
of the warp have brought their values. Between the two the thread has returned to the scheduler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pykern.runtime.emulator import barriers, matrix_moves, mbarriers, warpgroup_products
from pykern.runtime.emulator.faults import PARTIAL_WARP
from pykern.runtime.emulator.operands import Values, integer
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx
from pykern.runtime.emulator.tensor_cores import LANES, bring_matrices, product_of, take_product
from pykern.runtime.emulator.wait_kinds import OF_BLOCK, OF_WARPGROUP, POLL

WARP_BARRIER = "bar.warp.sync"
_Rule = Callable[[Values, Instruction], None]


@dataclass(frozen=True)
class _Exchange:
    """An operation that needs a whole warp; `words` of 8 bytes are what each lane brings."""

    words: Callable[[Instruction], int]
    bring: _Rule
    take: _Rule


_OF_WHOLE_WARPS = {
    "mma": _Exchange(lambda one: product_of(one).words, bring_matrices, take_product),
    "ldmatrix": _Exchange(
        lambda one: matrix_moves.LOADED_WORDS, matrix_moves.bring_rows, matrix_moves.take_fragments
    ),
    "stmatrix": _Exchange(
        lambda one: matrix_moves.STORED_WORDS, matrix_moves.bring_fragments, matrix_moves.take_rows
    ),
}
_SHUFFLES = ("up", "down", "bfly", "idx")
_VOTES = ("all", "any", "uni", "ballot")
_REDUCTIONS = ("add", "and", "or", "xor", "min", "max")


def kind_of_wait(one: Instruction) -> int:
    """See `wait_kinds`: for an exchange of a warp, how many words of 8 bytes each lane brings."""
    if one.stem in _OF_WHOLE_WARPS:
        return _OF_WHOLE_WARPS[one.stem].words(one)
    if one.stem in ("bar", "barrier") and one.name != WARP_BARRIER:
        return OF_BLOCK
    return {"mbarrier": POLL, "wgmma": OF_WARPGROUP}.get(one.stem, 1)


def bring(t: Values, one: Instruction) -> None:
    """Store the lane's value where its warp finds it."""
    if one.stem in ("bar", "barrier"):
        if one.name != WARP_BARRIER:
            barriers.stand_at(t, one)
        return
    if one.stem == "mbarrier":
        return
    if one.stem == "wgmma":
        warpgroup_products.bring(t, one)
        return
    if one.stem in _OF_WHOLE_WARPS:
        _OF_WHOLE_WARPS[one.stem].bring(t, one)
        return
    if "sync" not in one.modifiers:
        raise UnknownPtx(f"the instruction {one.name}")
    if one.stem == "vote":
        operand = one.operands[1]
        value = (
            t.value(f"xor i1 {t.bits(operand[1:], 1)}, true")
            if operand.startswith("!")
            else t.bits(operand, 1)
        )
        value = t.resized(value, 1, 64)
    else:
        value = t.bits(one.operands[1], 64)
    t.store("i64", value, t.cell(t.slot("given"), t.slot("lane")))


def take(t: Values, one: Instruction) -> None:
    """Make the result of what all have brought."""
    if one.stem == "shfl":
        _shuffle(t, one)
    elif one.stem == "vote":
        _vote(t, one)
    elif one.stem == "redux":
        _reduce(t, one)
    elif one.stem == "mbarrier":
        mbarriers.test(t, one)
    elif one.stem == "wgmma":
        warpgroup_products.take(t, one)
    elif one.stem in _OF_WHOLE_WARPS:
        with t.when(t.value(f"icmp ne i64 {t.slot('present')}, {2**LANES - 1}")):
            t.fault(PARTIAL_WARP, "0", str(one.number))
        _OF_WHOLE_WARPS[one.stem].take(t, one)


def _shuffle(t: Values, one: Instruction) -> None:
    """PTX ISA, shfl.sync: a source outside of the segment is the lane itself."""
    way = next((m for m in one.modifiers if m in _SHUFFLES), None)
    if way is None or one.types != ("b32",):
        raise UnknownPtx(f"the instruction {one.name}")
    lane = t.resized(t.slot("lane"), 64, 32)
    by, clamp = t.read(one.operands[2], "b32"), t.read(one.operands[3], "b32")
    arguments = [("ptr", "%launch"), ("i32", lane), ("i32", by), ("i32", clamp), ("i64", str(one.number))]
    source = t.call("i32", f"pk_lane_{way}", *arguments)
    value = t.load("i64", t.cell(t.slot("taken"), t.resized(t.value(f"and i32 {source}, 31"), 32, 64)))
    register, _, predicate = one.operands[0].partition("|")
    t.write(register, t.resized(value, 64, 32), "b32")
    if predicate:
        t.write(predicate, t.value(f"icmp ult i32 {source}, 32"), "pred")


def _bit(t: Values, number: int) -> str:
    """Whether a lane takes part."""
    present = t.slot("present")
    return t.value(f"trunc i64 {t.value(f'lshr i64 {present}, {number}')} to i1")


def _vote(t: Values, one: Instruction) -> None:
    way = next((m for m in one.modifiers if m in _VOTES), None)
    if way is None:
        raise UnknownPtx(f"the instruction {one.name}")
    ballot = "0"
    for number in range(LANES):
        value = t.resized(t.load("i64", t.cell(t.slot("taken"), number)), 64, 1)
        bit = t.resized(t.value(f"and i1 {value}, {_bit(t, number)}"), 1, 32)
        ballot = t.value(f"or i32 {ballot}, {t.value(f'shl i32 {bit}, {number}')}")
    present = t.resized(t.slot("present"), 64, 32)
    every, none = t.value(f"icmp eq i32 {ballot}, {present}"), t.value(f"icmp eq i32 {ballot}, 0")
    if way == "ballot":
        t.write(one.operands[0], ballot, "b32")
    elif way == "any":
        t.write(one.operands[0], t.value(f"xor i1 {none}, true"), "pred")
    else:
        t.write(one.operands[0], every if way == "all" else t.value(f"or i1 {every}, {none}"), "pred")


def _reduce(t: Values, one: Instruction) -> None:
    name = next((m for m in one.modifiers if m in _REDUCTIONS), None)
    if name is None or not one.types or integer(one.types[-1]) != "i32":
        raise UnknownPtx(f"the instruction {one.name}")
    kind = one.types[-1]
    signed = kind == "s32"
    neutral = {"and": -1, "min": 2**31 - 1 if signed else -1, "max": -(2**31) if signed else 0}.get(name, 0)
    found = str(neutral)
    for number in range(LANES):
        value = t.resized(t.load("i64", t.cell(t.slot("taken"), number)), 64, 32)
        value = t.value(f"select i1 {_bit(t, number)}, i32 {value}, i32 {neutral}")
        if name in ("min", "max"):
            found = t.intrinsic(f"{'s' if signed else 'u'}{name}", kind, found, value)
        else:
            found = t.value(f"{name} i32 {found}, {value}")
    t.write(one.operands[0], found, "b32")
