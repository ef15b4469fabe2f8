"""Rules of buffers: how chips without instructions for it reach private memory."""

from __future__ import annotations

from pykern.runtime.emulator.amd.accesses import (
    LOADED,
    STORED,
    SUFFIXES,
    finish,
    lane_word,
    load_lane,
    ordered,
    piece_of,
    place_lane,
    store_lane,
)
from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.amd.memory import private
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values


@rule(" ".join(f"buffer_load_{name}" for name in LOADED))
def buffer_load(t: Values, name: str) -> None:
    """``result, offset, description, base``."""
    piece = piece_of(name, SUFFIXES, "buffer_load_")
    with t.each_lane() as lane:
        place_lane(t, lane)
        load_lane(t, piece, "local", _buffer_address(t, lane), lane)
    finish(t)


@rule(" ".join(f"buffer_store_{name}" for name in STORED))
def buffer_store(t: Values, name: str) -> None:
    """``value, offset, description, base``."""
    piece = piece_of(name, SUFFIXES, "buffer_store_")
    with t.each_lane() as lane:
        place_lane(t, lane)
        store_lane(t, piece, "local", _buffer_address(t, lane), lane, 0)
    finish(t)


def _buffer_address(t: Values, lane: str) -> str:
    """Only private memory is described by the registers that a kernel begins with."""
    ordered(t)
    if t.one.operands[2] != "s[0:3]" or t.modifier("idxen") is not None:
        raise UnknownAssembly(f"{t.one.name} {', '.join(t.one.operands)}")
    found = t.added()
    if t.modifier("offen") is not None:
        found = t.value(f"add i64 {found}, {t.resized(lane_word(t, 1, lane), 32, 64)}")
    base = t.resized(lane_word(t, 3, lane), 32, 64)
    return private(t, t.value(f"add i64 {found}, {base}"))
