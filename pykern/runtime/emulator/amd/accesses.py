"""What rules of memory share: what an instruction moves, and one lane's access, which is checked.

Comes in: an address, which is a number. Goes out: LLVM IR that asks `pykern.runtime.emulator.memory_checks`. Addresses
need not be aligned, as ROCm sets up the chips, but for atomic operations.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.runtime.emulator.amd.atomics import updated
from pykern.runtime.emulator.amd.body import RECORD
from pykern.runtime.emulator.amd.state import BASE_ITEM, WORD
from pykern.runtime.emulator.amd.values import Values

_CACHES = ("sc0", "sc1", "nt", "glc", "slc", "dlc", "scope", "th")
"""Modifiers that tell caches what to do."""


@dataclass(frozen=True)
class Access:
    """What an access moves: `nbytes`, which fill registers, or a part of one."""

    nbytes: int
    signed: bool = False
    half: str = ""
    """"l" or "h": a half of the register, the other one stays."""
    upper: bool = False
    """Of a store: the upper half of the register."""


SUFFIXES = {
    "ubyte": Access(1), "sbyte": Access(1, True), "ushort": Access(2), "sshort": Access(2, True),
    "u8": Access(1), "i8": Access(1, True), "u16": Access(2), "i16": Access(2, True), "b8": Access(1), "b16": Access(2),
    "byte": Access(1), "short": Access(2),
    **{name: Access(4 * n) for n, names in ((1, "dword b32"), (2, "dwordx2 b64"), (3, "dwordx3 b96"),
                                           (4, "dwordx4 b128"))
       for name in names.split()},
    "ubyte_d16": Access(1, half="l"), "ubyte_d16_hi": Access(1, half="h"),
    "sbyte_d16": Access(1, True, "l"), "sbyte_d16_hi": Access(1, True, "h"),
    "short_d16": Access(2, half="l"), "short_d16_hi": Access(2, half="h", upper=True),
    "byte_d16_hi": Access(1, upper=True),
    "d16_u8": Access(1, half="l"), "d16_hi_u8": Access(1, half="h"), "d16_i8": Access(1, True, "l"),
    "d16_hi_i8": Access(1, True, "h"), "d16_b16": Access(2, half="l"), "d16_hi_b16": Access(2, half="h", upper=True),
    "d16_hi_b8": Access(1, upper=True),
}  # fmt: skip
SHARED_SUFFIXES = {
    **SUFFIXES,
    "u8_d16": Access(1, half="l"), "u8_d16_hi": Access(1, half="h"), "i8_d16": Access(1, True, "l"),
    "i8_d16_hi": Access(1, True, "h"), "u16_d16": Access(2, half="l"), "u16_d16_hi": Access(2, half="h"),
    "b8_d16_hi": Access(1, upper=True), "b16_d16_hi": Access(2, upper=True),
}  # fmt: skip
LOADED = [name for name in SUFFIXES if name not in ("byte", "short", "b8", "b16", "byte_d16_hi", "d16_hi_b8")]
STORED = [
    name
    for name, access in SUFFIXES.items()
    if not access.signed and name not in ("ubyte", "ushort", "u8", "u16")
]


def access_of(name: str, table: dict[str, Access], begin: str) -> Access:
    return table[name.removeprefix(begin)]


# -- accesses --------------------------------------------------------------------------------------------


def place_lane(t: Values, lane: str) -> None:
    """Tell checks whose access it is."""
    first = t.resized(t.load("i32", t.offset("%wave", WORD * BASE_ITEM)), 32, 64)
    t.set_slot("thread", t.value(f"add i64 {first}, {lane}"))


def parts_of(nbytes: int) -> list[tuple[int, int]]:
    """Parts of an access that are checked each: where it begins, and its bytes."""
    found, at = [], 0
    while at < nbytes:
        size = next(size for size in (32, 16, 8, 4, 2, 1) if size <= nbytes - at)
        found.append((at, size))
        at += size
    return found


def checked(t: Values, space: str, access: str, address: str, nbytes: int) -> str:
    """The host's pointer of an access to an address, which is a number."""
    site = t.resized(t.load("i32", t.offset("%record", 8)), 32, 64)
    return t.call("ptr", f"pk_{space}_{access}_{nbytes}", ("ptr", "%launch"), ("i64", address), ("i64", site))


def reading(nbytes: int) -> str:
    """The kind of a load: LLVM may read more than is there by the wide ones."""
    return "unaligned_vector" if nbytes > 4 else "unaligned_read"


def load_lane(t: Values, access: Access, space: str, address: str, lane: str, kind: str = "") -> None:
    """One lane's access, and its registers; `kind` where it is not `reading`."""
    begins = parts_of(access.nbytes)
    whole = ""
    if len(begins) == 1:
        whole = checked(t, space, kind or reading(access.nbytes), address, access.nbytes)
    for at, size in begins:
        pointer = whole or checked(t, space, "unaligned_read", t.value(f"add i64 {address}, {at}"), size)
        if size < 4:
            _set_short(t, access, t.load(f"i{8 * size}", pointer), lane)
            continue
        for word in range(size // 4):
            value = t.load("i32", t.offset(pointer, 4 * word))
            t.store("i32", value, t.lane_place(0, lane, at // 4 + word, "result"))


def _set_short(t: Values, access: Access, value: str, lane: str) -> None:
    bits = 8 * access.nbytes
    place = t.lane_place(0, lane, kind="result")
    half = {"l": "l", "h": "h"}.get(t.operand(0).half, access.half)
    if half:
        t.store("i16", t.resized(value, bits, 16, access.signed), t.offset(place, 2 if half == "h" else 0))
    else:
        t.store("i32", t.resized(value, bits, 32, access.signed), place)


def store_lane(t: Values, access: Access, space: str, address: str, lane: str, number: int) -> None:
    for at, size in parts_of(access.nbytes):
        pointer = checked(
            t, space, "unaligned_write", t.value(f"add i64 {address}, {at}") if at else address, size
        )
        if size < 4:
            upper = access.upper or t.operand(number).half == "h"
            source = t.offset(t.lane_place(number, lane), 2 if upper else 0)
            t.store(f"i{8 * size}", t.load(f"i{8 * size}", source), pointer)
            continue
        for word in range(size // 4):
            t.store(
                "i32", t.load("i32", t.lane_place(number, lane, at // 4 + word)), t.offset(pointer, 4 * word)
            )


def finish(t: Values) -> None:
    """Stop where something was wrong."""
    wrong = t.value(f"icmp ne i64 {t.slot('fault')}, 0")
    chosen = t.value(f"select i1 {wrong}, ptr null, ptr {t.offset('%record', RECORD)}")
    t.do(f"ret ptr {chosen}")


def lane_word(t: Values, number: int, lane: str, part: int = 0) -> str:
    return t.load("i32", t.lane_place(number, lane, part))


def lane_pair(t: Values, number: int, lane: str) -> str:
    """64 bits of one lane, or of scalar registers."""
    if not t.operand(number).is_vector:
        return t.load("i64", t.place(number, "i64"))
    low, high = (t.resized(lane_word(t, number, lane, part), 32, 64) for part in (0, 1))
    return t.value(f"or i64 {low}, {t.value(f'shl i64 {high}, 32')}")


def ordered(t: Values) -> None:
    for name in _CACHES:
        t.modifier(name)


def update_lane(
    t: Values, how: str, kind: str, space: str, address: str, lane: str, value: int, result: int | None,
    other: int | None = None,
) -> None:  # fmt: skip
    """One lane's atomic operation. A compare and exchange takes the new value, then the old one; `other` is the
    operand of the second, where it is one of its own."""
    width = 64 if kind.endswith("64") else 32
    pointer = checked(t, space, "update", address, width // 8)
    old = t.load(f"i{width}", pointer)
    given = lane_pair(t, value, lane) if width == 64 else lane_word(t, value, lane)
    if how == "cmpswap":
        if other is None:
            words = [lane_word(t, value, lane, part) for part in range(width // 16)]
            low, high = (t.resized(word, 32, 64) for word in words[-2:])
            expected = words[1] if width == 32 else t.value(f"or i64 {low}, {t.value(f'shl i64 {high}, 32')}")
        else:
            expected = lane_pair(t, other, lane) if width == 64 else lane_word(t, other, lane)
        same = t.value(f"icmp eq i{width} {old}, {expected}")
        new = t.value(f"select i1 {same}, i{width} {given}, i{width} {old}")
    else:
        new = updated(t, how, kind, old, given)
    t.store(f"i{width}", new, pointer)
    if result is not None:
        for part in range(width // 32):
            word = old if width == 32 else t.resized(t.value(f"lshr i64 {old}, {32 * part}"), 64, 32)
            t.store("i32", word, t.lane_place(result, lane, part, "result"))
