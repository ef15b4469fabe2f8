"""Rules of buffers: how chips without instructions for it reach private memory."""

from __future__ import annotations

from pykern.runtime.emulator.amd.accesses import (
    LOADED,
    STORED,
    SUFFIXES,
    access_of,
    finish,
    lane_word,
    load_lane,
    ordered,
    place_lane,
    store_lane,
)
from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.amd.memory import private
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.state import PRIVATE_BUFFER
from pykern.runtime.emulator.amd.values import Values


@rule(" ".join(f"buffer_load_{name}" for name in LOADED))
def buffer_load(t: Values, name: str) -> None:
    """``result, offset, description, base``."""
    access = access_of(name, SUFFIXES, "buffer_load_")
    with t.each_lane() as lane:
        place_lane(t, lane)
        load_lane(t, access, "local", _buffer_address(t, lane), lane)
    finish(t)


@rule(" ".join(f"buffer_store_{name}" for name in STORED))
def buffer_store(t: Values, name: str) -> None:
    """``value, offset, description, base``."""
    access = access_of(name, SUFFIXES, "buffer_store_")
    with t.each_lane() as lane:
        place_lane(t, lane)
        store_lane(t, access, "local", _buffer_address(t, lane), lane, 0)
    finish(t)


def _buffer_address(t: Values, lane: str) -> str:
    """Private memory is described by what a kernel's registers begin with; another description leads outside of it."""
    ordered(t)
    if t.modifier("idxen") is not None:
        raise UnknownAssembly(f"the modifier idxen of {t.one.name}")
    found = t.added()
    if t.modifier("offen") is not None:
        found = t.value(f"add i64 {found}, {t.resized(lane_word(t, 1, lane), 32, 64)}")
    base = t.resized(lane_word(t, 3, lane), 32, 64)
    wrong = t.value(f"sub i64 {t.load('i64', t.place(2, 'i64'))}, {PRIVATE_BUFFER}")
    return private(t, t.value(f"add i64 {t.value(f'add i64 {found}, {base}')}, {wrong}"))
