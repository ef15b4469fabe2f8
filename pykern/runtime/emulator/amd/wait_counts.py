"""Which counters AMD's memory instructions count, and what instructions wait for them.

Comes in: an `Instruction`. Goes out: `issue_of`, `waits_of`. Names are those of waits without "cnt": ``vm`` and
``lgkm`` of CDNA, ``vs`` for stores of RDNA 3, and ``load``, ``store``, ``ds``, ``km`` of RDNA 4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pykern.runtime.emulator.amd.assembly import Instruction

UNORDERED = frozenset({"km"})
"""Counters whose instructions are never done in order."""
_COUNT = re.compile(r"(vm|lgkm|vs)cnt\((\d+)\)")
_SINGLE = re.compile(r"s_wait_(load|store|ds|km)cnt")
_ALL = ("vm", "lgkm", "vs", "load", "store", "ds", "km")
_CACHES = re.compile(r"buffer_(gl\d_inv|inv|wb\w+)|global_(inv|wb|wbinv)")


@dataclass(frozen=True)
class Issue:
    """What an instruction of memory starts. `gives` says that its first operand gets what is loaded."""

    counters: frozenset[str]
    gives: bool = False
    writes_shared: bool = False
    is_unordered: bool = False


def issue_of(one: Instruction, chip: str) -> Issue | None:
    """None for instructions that are done when they are issued."""
    newest, split = chip.startswith("gfx12"), not chip.startswith("gfx9")
    name = one.name
    if name.startswith(("s_load_", "s_buffer_load_", "s_memtime", "s_memrealtime")):
        return Issue(frozenset({"km" if newest else "lgkm"}), True, is_unordered=True)
    if name.startswith("ds_"):
        counter = frozenset({"ds" if newest else "lgkm"})
        gives = bool(re.match(r"ds_(read|load|bpermute|permute|swizzle)|ds_\w+_rtn_", name))
        writes = not re.match(r"ds_(read|load|bpermute|permute|swizzle)", name)
        return Issue(counter, gives, writes)
    cache = _CACHES.fullmatch(name)
    if cache is not None:
        counter = "load" if name == "global_inv" else "store"
        return Issue(frozenset({counter})) if newest and name.startswith("global") else None
    if not name.startswith(("global_", "flat_", "scratch_", "buffer_")):
        return None
    gives = "_load_" in name or ("_atomic_" in name and returns(one))
    counter = ("load" if gives else "store") if newest else "vm" if gives or not split else "vs"
    also = {"ds" if newest else "lgkm"} if name.startswith("flat_") else set()
    return Issue(frozenset({counter, *also}), gives)


def returns(one: Instruction) -> bool:
    """Whether an atomic operation gives the old value, in its first operand."""
    plain = any(one.modifier(name) is not None for name in ("sc0", "glc"))
    return plain or one.modifier("th") == "TH_ATOMIC_RETURN"


def waits_of(one: Instruction) -> dict[str, int]:
    """How many of each counter may be under way behind the instruction."""
    name, text = one.name, ", ".join(one.operands)
    if name == "s_waitcnt":
        return {counter: int(count) for counter, count in _COUNT.findall(text)}
    if name == "s_waitcnt_vscnt":
        return {"vs": int(text.rpartition(",")[2], 0)}
    if name == "s_wait_idle":
        return dict.fromkeys(_ALL, 0)
    single = _SINGLE.fullmatch(name)
    if single is not None:
        return {single[1]: int(text, 0)}
    both = re.fullmatch(r"s_wait_(load|store)cnt_dscnt", name)
    if both is not None:
        return {both[1]: int(text, 0) >> 8 & 63, "ds": int(text, 0) & 63}
    return {}
