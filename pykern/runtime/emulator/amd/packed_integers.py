"""Rules of pairs of integers in a register."""

from __future__ import annotations

from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.amd.integers import is_signed, shift
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values

_PAIRED = (
    "mul_lo_u16 add_u16 add_i16 sub_u16 sub_i16 min_i16 min_u16 max_i16 max_u16 lshlrev_b16 lshrrev_b16 ashrrev_i16 "
    "mad_u16 mad_i16"
)


@rule(" ".join(f"v_pk_{name}" for name in _PAIRED.split()))
def paired(t: Values, name: str) -> None:
    """Each half of a register on its own."""
    how, letter = name.split("_")[2], "s" if is_signed(name) else "u"
    halves = [_halves(t, number) for number in range(1, 4 if how == "mad" else 3)]
    clamps = t.modifier("clamp") is not None
    results = []
    for values in zip(*halves, strict=True):
        x, y = values[:2]
        if how in ("min", "max"):
            found = t.intrinsic(f"{letter}{how}", "i16", x, y)
        elif how in ("add", "sub"):
            found = t.intrinsic(f"{letter}{how}.sat", "i16", x, y) if clamps else t.op(how, "i16", x, y)
        elif how.endswith("rev"):
            found = shift({"lshlrev": "shl", "lshrrev": "lshr", "ashrrev": "ashr"}[how], True)(t, "i16", x, y)
        else:
            found = t.op("mul", "i16", x, y)
            if how == "mad":
                found = t.op("add", "i16", found, values[2])
        results.append(t.resize(found, 16, 32))
    if clamps and how not in ("add", "sub"):
        raise UnknownAssembly(f"clamp of {name}")
    t.set_register(0, t.op("or", "i32", results[0], t.op("shl", "i32", results[1], 16)), 32)


def _halves(t: Values, number: int) -> list[str]:
    word = t.register(number, "i32")
    upper = []
    for name, default in (("op_sel", "0"), ("op_sel_hi", "1")):
        value = t.modifier(name)
        upper.append((value.strip("[]").split(",")[number - 1] if value else default) == "1")
    return [t.resize(t.op("lshr", "i32", word, 16) if flag else word, 32, 16) for flag in upper]
