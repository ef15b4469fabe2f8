"""Rules of copies of boxes of tensors between global and shared memory, which run beside the threads: TMA.

Comes in: an `Instruction`, `cp.async.bulk.tensor` and its groups. Goes out: LLVM IR that asks `async_unit`.
"""

from __future__ import annotations

import re

from pykern.runtime.emulator.mbarriers import offset_of
from pykern.runtime.emulator.operands import Values, elements
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx
from pykern.runtime.emulator.requests import COMMIT_COPIES, LOAD, STORE, WAIT_COPIES, ask

_LOAD = re.compile(
    r"cp\.async\.bulk\.tensor\.([1-5])d\.shared(?:::cluster)?\.global(?:\.tile)?\.mbarrier::complete_tx::bytes"
)
_STORE = re.compile(r"cp\.async\.bulk\.tensor\.([1-5])d\.global\.shared(?:\.tile)?\.bulk_group")


def copy_bulk(t: Values, one: Instruction) -> None:
    """Raises `UnknownPtx` for forms that are not emulated."""
    site = str(one.number)
    if load := _LOAD.fullmatch(one.name):
        target, source, barrier = one.operands
        place = offset_of(t, one, barrier, "update")
        ask(t, LOAD, site, _bits(t, target), place, *_box(t, one, source, int(load[1])))
    elif store := _STORE.fullmatch(one.name):
        target, source = one.operands
        ask(t, STORE, site, _bits(t, source), *_box(t, one, target, int(store[1])))
    elif one.name == "cp.async.bulk.commit_group":
        ask(t, COMMIT_COPIES, site)
    elif one.name in ("cp.async.bulk.wait_group", "cp.async.bulk.wait_group.read"):
        ask(t, WAIT_COPIES, site, t.bits(one.operands[0], 64))
    else:
        raise UnknownPtx(f"the instruction {one.name}")


def _bits(t: Values, operand: str) -> str:
    """An address in shared memory."""
    base, _, offset = operand.strip("[]").partition("+")
    value = t.bits(base, 64)
    return t.value(f"add i64 {value}, {int(offset)}") if offset else value


def _box(t: Values, one: Instruction, operand: str, rank: int) -> list[str]:
    """``[map, {x, y}]``: the map's address and the box's first element, the fastest dimension first."""
    address, _, rest = operand[1:-1].partition(",")
    places = elements(rest.strip())
    if len(places) != rank:
        raise UnknownPtx(f"the operands of {one.name}")
    signed = [t.resized(t.bits(place, 32), 32, 64, signed=True) for place in places]
    return [t.bits(address.strip(), 64), str(rank), *signed]
