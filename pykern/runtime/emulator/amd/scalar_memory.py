"""Rules of loads to scalar registers: one access for a wave."""

from __future__ import annotations

from pykern.runtime.emulator.amd.accesses import checked, finish, ordered, parts_of, place_lane, reading
from pykern.runtime.emulator.amd.opcodes import SCALAR, rule
from pykern.runtime.emulator.amd.values import Values

_SCALAR_LOADS = {
    **{f"dword{'' if n == 1 else f'x{n}'}": 4 * n for n in (1, 2, 4, 8, 16)},
    **{f"b{32 * n}": 4 * n for n in (1, 2, 3, 4, 8, 16)},
    "u8": 1, "i8": 1, "u16": 2, "i16": 2,
}  # fmt: skip


@rule(" ".join(f"s_load_{name}" for name in _SCALAR_LOADS), SCALAR)
def scalar_load(t: Values, name: str) -> None:
    """``result, base, offset``; the offset is a register, a number, or both."""
    ordered(t)
    suffix = name.removeprefix("s_load_")
    nbytes = _SCALAR_LOADS[suffix]
    place_lane(t, "0")
    address = t.value(f"add i64 {t.load('i64', t.place(1, 'i64'))}, {t.added()}")
    if t.given(2):
        by = t.load("i32", t.place(2))
        address = t.value(f"add i64 {address}, {t.resized(by, 32, 64, signed=t.operand(2).kind == '#')}")
    if nbytes < 4:
        value = t.load(f"i{8 * nbytes}", checked(t, "global", "read", address, nbytes))
        t.store("i32", t.resized(value, 8 * nbytes, 32, suffix[0] == "i"), t.place(0, "result"))
    else:
        address = t.value(f"and i64 {address}, -4")
        for at, size in parts_of(nbytes):
            access = reading(size)
            pointer = checked(t, "global", access, t.value(f"add i64 {address}, {at}"), size)
            for word in range(size // 4):
                t.store(
                    "i32", t.load("i32", t.offset(pointer, 4 * word)), t.place(0, "result", at // 4 + word)
                )
    finish(t)
