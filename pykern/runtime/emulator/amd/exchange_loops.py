"""Loads of shared memory that only begin a loop of compare and exchange: the compiler writes atomic operations so that
the chip has not got. Another work-item may change the value meanwhile, and the exchange finds out.

Comes in: the instructions of a kernel. Goes out: the same; such loads have the modifier `RELAXED`, whose value is the
number of the element among those that the load takes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pykern.runtime.emulator.amd.assembly import Instruction

RELAXED = "relaxed"
_EXCHANGE = re.compile(r"ds_cmpst(?:ore)?_(rtn_)?b(32|64)")
_SINGLE = re.compile(r"ds_(?:read|load)_b(32|64)")
_TWO = re.compile(r"ds_(?:read2|load_2addr)(st64|_stride64)?_b(32|64)")


def with_relaxed_loads(instructions: Sequence[Instruction]) -> list[Instruction]:
    found = list(instructions)
    for at, one in enumerate(found):
        exchange = _EXCHANGE.fullmatch(one.name)
        if exchange is None:
            continue
        address = one.operands[1 if exchange[1] else 0]
        for before in range(at - 1, -1, -1):
            element = _element(found[before], address, one.offset(), exchange[2])
            if element is not None:
                load = found[before]
                modifiers = tuple(m for m in load.modifiers if m[0] != RELAXED)
                found[before] = replace(load, modifiers=(*modifiers, (RELAXED, str(element))))
                break
    return found


def _element(one: Instruction, address: str, offset: int, bits: str) -> int | None:
    """Which of the elements that it loads is the one at this address; None where none is."""
    if len(one.operands) != 2 or one.operands[1] != address:
        return None
    single, two = _SINGLE.fullmatch(one.name), _TWO.fullmatch(one.name)
    if single is not None:
        return 0 if single[1] == bits and one.offset() == offset else None
    if two is None or two[2] != bits:
        return None
    scale = int(bits) // 8 * (64 if two[1] else 1)
    offsets = [scale * one.offset(f"offset{number}") for number in (0, 1)]
    return offsets.index(offset) if offset in offsets else None
