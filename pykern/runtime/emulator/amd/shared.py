"""Rules of shared memory (LDS): addresses are bytes from its begin, in each lane."""

from __future__ import annotations

import re

from pykern.runtime.emulator.amd.accesses import (
    SHARED_SUFFIXES,
    Access,
    checked,
    finish,
    load_lane,
    place_lane,
    store_lane,
    update_lane,
)
from pykern.runtime.emulator.amd.exchange_loops import RELAXED
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values

_SINGLE = [name for name in SHARED_SUFFIXES if not re.match(r"dword|[us]byte|[us]short|byte|short|d16", name)]


def _address(t: Values, lane: str, number: int, offset: str | None = None) -> str:
    """A sum of 32 bits: it may wrap."""
    base = t.load("i32", t.lane_place(number, lane))
    return t.resized(t.value(f"add i32 {base}, {t.resized(offset or t.added(), 64, 32)}"), 32, 64)


@rule(" ".join(f"ds_{verb}_{name}" for verb in ("read", "load") for name in _SINGLE))
def load(t: Values, name: str) -> None:
    """``result, address``."""
    access = SHARED_SUFFIXES[name.split("_", 2)[2]]
    kind = "" if t.modifier(RELAXED) is None else "unaligned_relaxed"
    with t.each_lane() as lane:
        place_lane(t, lane)
        load_lane(t, access, "shared", _address(t, lane, 1), lane, kind=kind)
    finish(t)


@rule(" ".join(f"ds_{verb}_{name}" for verb in ("write", "store") for name in _SINGLE))
def store(t: Values, name: str) -> None:
    """``address, value``."""
    access = SHARED_SUFFIXES[name.split("_", 2)[2]]
    with t.each_lane() as lane:
        place_lane(t, lane)
        store_lane(t, access, "shared", _address(t, lane, 0), lane, 1)
    finish(t)


def _two(verb: str, newer: str) -> str:
    return " ".join(
        form
        for width in ("b32", "b64")
        for form in (f"ds_{verb}2_{width}", f"ds_{verb}2st64_{width}", f"ds_{newer}_2addr_{width}",
                     f"ds_{newer}_2addr_stride64_{width}")
    )  # fmt: skip


def _steps(t: Values, name: str) -> list[str]:
    """Both offsets, which count elements, or 64 of them."""
    scale = int(name[-2:]) // 8 * (64 if "64_" in name else 1)
    return [t.value(f"mul i64 {t.added(f'offset{number}')}, {scale}") for number in (0, 1)]


@rule(_two("read", "load"))
def load_two(t: Values, name: str) -> None:
    nbytes = int(name[-2:]) // 8
    steps = _steps(t, name)
    with t.each_lane() as lane:
        place_lane(t, lane)
        addresses = [_address(t, lane, 1, step) for step in steps]
        words = []
        for number, address in enumerate(addresses):
            kind = "unaligned_relaxed" if t.modifier(RELAXED) == str(number) else "unaligned_read"
            pointer = checked(t, "shared", kind, address, nbytes)
            words += [t.load("i32", t.offset(pointer, 4 * word)) for word in range(nbytes // 4)]
        for part, word in enumerate(words):
            t.store("i32", word, t.lane_place(0, lane, part, "result"))
    finish(t)


@rule(_two("write", "store"))
def store_two(t: Values, name: str) -> None:
    """``address, first, second``."""
    nbytes = int(name[-2:]) // 8
    steps = _steps(t, name)
    with t.each_lane() as lane:
        place_lane(t, lane)
        for number, step in enumerate(steps, 1):
            store_lane(t, Access(nbytes), "shared", _address(t, lane, 0, step), lane, number)
    finish(t)


_OPERATIONS = {
    "add": "u", "sub": "u", "min": "iu", "max": "iu", "and": "b", "or": "b", "xor": "b", "inc": "u", "dec": "u",
    "wrxchg": "b", "storexchg": "b", "cmpst": "b", "cmpstore": "b",
}  # fmt: skip
_FORMS = [
    (how, f"{letter}{width}")
    for how, letters in _OPERATIONS.items()
    for letter in letters
    for width in (32, 64)
] + [(how, kind) for how in ("add", "min", "max", "min_num", "max_num") for kind in ("f32", "f64")]
_RETURNING = [f"ds_{how}_rtn_{kind}" for how, kind in _FORMS]
_SILENT = [f"ds_{how}_{kind}" for how, kind in _FORMS if how not in ("wrxchg", "storexchg")]


@rule(" ".join((*_RETURNING, *_SILENT)))
def atomic(t: Values, name: str) -> None:
    """``result, address, value``; of a compare and exchange two values: older chips take what is compared first."""
    returns = "_rtn_" in name
    how, kind = name.removeprefix("ds_").replace("_rtn", "").replace("_num", "").rsplit("_", 1)
    first = int(returns)
    value, other = first + 1, None
    if how in ("cmpst", "cmpstore"):
        value, other = (first + 2, first + 1) if how == "cmpst" else (first + 1, first + 2)
    operation = {"wrxchg": "swap", "storexchg": "swap", "cmpst": "cmpswap", "cmpstore": "cmpswap"}.get(
        how, how
    )
    with t.each_lane() as lane:
        place_lane(t, lane)
        address = _address(t, lane, first)
        update_lane(t, operation, kind, "shared", address, lane, value, 0 if returns else None, other)
    finish(t)
