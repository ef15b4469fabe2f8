"""Rules of global, private and flat memory: loads, stores and atomic operations, lane after lane.

Comes in: an instruction. Goes out: LLVM IR of the address in each lane, and of its access (`accesses`).
"""

from __future__ import annotations

import re

from pykern.runtime.emulator.amd.accesses import (
    LOADED,
    STORED,
    SUFFIXES,
    access_of,
    finish,
    lane_pair,
    lane_word,
    load_lane,
    ordered,
    place_lane,
    store_lane,
    update_lane,
)
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.state import PRIVATE_APERTURE, SHARED_APERTURE
from pykern.runtime.emulator.amd.values import Values
from pykern.runtime.emulator.amd.wait_counts import returns


def global_address(t: Values, lane: str, at: int, base: int) -> str:
    """Operand `at` is an address, or a number of 32 bits to be added to the scalar operand `base`."""
    if base < len(t.one.operands) and t.operand(base).kind == "s":
        address = t.load("i64", t.place(base, "i64"))
        address = t.value(f"add i64 {address}, {t.resized(lane_word(t, at, lane), 32, 64)}")
    else:
        address = lane_pair(t, at, lane)
    return t.value(f"add i64 {address}, {t.added()}")


def private_address(t: Values, lane: str, at: int, base: int) -> str:
    """Vector and scalar operand and the offset, within the memory of the work-item."""
    found = t.added()
    for number in (at, base):
        if t.operand(number).kind != "off":
            found = t.value(f"add i64 {found}, {t.resized(lane_word(t, number, lane), 32, 64, signed=True)}")
    return private(t, found)


def private(t: Values, offset: str) -> str:
    thread = t.value(f"mul i64 {t.slot('thread')}, {t.slot('local_bytes')}")
    own = t.value(f"add i64 {t.slot('locals')}, {thread}")
    t.set_slot("local", own)
    return t.value(f"add i64 {own}, {offset}")


def generic_address(t: Values, lane: str, at: int, base: int) -> str:
    """Flat memory: shared and private memory lie in windows, which become the host's addresses."""
    address = global_address(t, lane, at, base)
    upper, lower = t.value(f"lshr i64 {address}, 32"), t.value(f"and i64 {address}, {(1 << 32) - 1}")
    shared = t.value(f"add i64 {lower}, {t.slot('shared')}")
    of_shared = t.value(f"icmp eq i64 {upper}, {SHARED_APERTURE}")
    of_private = t.value(f"icmp eq i64 {upper}, {PRIVATE_APERTURE}")
    address = t.value(f"select i1 {of_shared}, i64 {shared}, i64 {address}")
    return t.value(f"select i1 {of_private}, i64 {private(t, lower)}, i64 {address}")


_SPACES = {
    "global": ("global", global_address),
    "scratch": ("local", private_address),
    "flat": ("generic", generic_address),
}


def _space(name: str):
    return _SPACES[name.split("_")[0]]


@rule(" ".join(f"{space}_load_{name}" for space in _SPACES for name in LOADED))
def load(t: Values, name: str) -> None:
    """``result, address, base``."""
    ordered(t)
    space, address = _space(name)
    access = access_of(name, SUFFIXES, f"{name.split('_')[0]}_load_")
    with t.each_lane() as lane:
        place_lane(t, lane)
        load_lane(t, access, space, address(t, lane, 1, 2), lane)
    finish(t)


@rule(" ".join(f"{space}_store_{name}" for space in _SPACES for name in STORED))
def store(t: Values, name: str) -> None:
    """``address, value, base``."""
    ordered(t)
    space, address = _space(name)
    access = access_of(name, SUFFIXES, f"{name.split('_')[0]}_store_")
    with t.each_lane() as lane:
        place_lane(t, lane)
        store_lane(t, access, space, address(t, lane, 0, 2), lane, 1)
    finish(t)


_ATOMIC_NAMES = {
    "": ("add", "sub", "smin", "smax", "umin", "umax", "and", "or", "xor", "swap", "cmpswap", "inc", "dec"),
    "f": ("add_f32", "add_f64", "min_f64", "max_f64", "pk_add_f16", "pk_add_bf16", "min_f32", "max_f32"),
}
_TYPED = [
    *(f"{name}_u{width}" for name in ("add", "sub", "min", "max", "inc", "dec") for width in (32, 64)),
    *(f"{name}_i{width}" for name in ("min", "max") for width in (32, 64)),
    *(f"{name}_b{width}" for name in ("and", "or", "xor", "swap", "cmpswap") for width in (32, 64)),
    *(f"{name}_f32" for name in ("min_num", "max_num")),
]
_ATOMICS = [
    *_ATOMIC_NAMES[""],
    *(f"{name}_x2" for name in _ATOMIC_NAMES[""]),
    *_ATOMIC_NAMES["f"],
    *_TYPED,
]


def atomic_form(name: str) -> tuple[str, str]:
    """The operation and its type of ``add_x2``, ``smin``, ``cmpswap_b64``, ``add_f32``."""
    wide = name.endswith("_x2")
    name = name.removesuffix("_x2").replace("_num", "")
    typed = re.fullmatch(r"(\w+?)_([ubif])(32|64)", name)
    if name.startswith("pk_add_"):
        return "add", name.removeprefix("pk_add_") + "x2"
    if typed is not None:
        how, letter, width = typed.groups()
    else:
        how, letter, width = name, "u", "64" if wide else "32"
        if how[0] in "su" and how[1:] in ("min", "max"):
            how, letter = how[1:], {"s": "i", "u": "u"}[how[0]]
    return how, f"{letter}{width}"


@rule(" ".join(f"{space}_atomic_{name}" for space in ("global", "flat") for name in _ATOMICS))
def atomic(t: Values, name: str) -> None:
    """``result, address, value, base``: the result where one is asked for."""
    ordered(t)
    space, address = _space(name)
    how, kind = atomic_form(name.split("_atomic_")[1])
    first = int(returns(t.one))
    with t.each_lane() as lane:
        place_lane(t, lane)
        at = address(t, lane, first, first + 2)
        update_lane(t, how, kind, space, at, lane, first + 1, 0 if first else None)
    finish(t)
