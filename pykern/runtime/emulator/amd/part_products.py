"""Rules of sums of products of the parts of two registers, added to a third number.

Integers wrap, or with ``clamp`` become the end of the range. Sums of floats are rounded once: the best that chips do.
"""

from __future__ import annotations

import re

from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.short_floats import rounded_to_odd, widened
from pykern.runtime.emulator.amd.values import Values

_INTEGERS = {
    f"v_dot{count}{form}_{to}_{of}"
    for count, to, of in (
        (2, "i32", "i16"), (2, "u32", "u16"), (4, "i32", "i8"), (4, "u32", "u8"), (8, "i32", "i4"), (8, "u32", "u4"),
        (4, "i32", "iu8"), (8, "i32", "iu4"),
    )
    for form in ("", "c")
}  # fmt: skip


@rule(" ".join(_INTEGERS))
def integers(t: Values, name: str) -> None:
    """The form with "c" adds to the result's register; of "iu" a modifier says which operands have signs."""
    found = re.fullmatch(r"v_dot(\d)(c?)_([iu])32_([iu]+)(\d+)", name)
    assert found is not None
    count, added, result, letters, width = found.groups()
    flags = (t.modifier("neg_lo") or "[0,0,0]").strip("[]").split(",")
    signed = [flags[n] == "1" if letters == "iu" else letters == "i" for n in (0, 1)]
    words = [t.source(number, "i32") for number in (1, 2)]
    addend = t.source(0, "i32", 2) if added else t.source(3, "i32")
    total = t.resize(addend, 32, 64, result == "i")
    for part in range(int(count)):
        x, y = (
            t.resize(_part(t, word, part, int(width), flag), 32, 64, flag)
            for word, flag in zip(words, signed, strict=True)
        )
        total = t.op("add", "i64", total, t.op("mul", "i64", x, y))
    if t.modifier("clamp") is not None:
        low, high = (-(1 << 31), (1 << 31) - 1) if result == "i" else (0, (1 << 32) - 1)
        total = t.intrinsic("smin", "i64", t.intrinsic("smax", "i64", total, low), high)
    t.set_register(0, t.resize(total, 64, 32), 32)


def _part(t: Values, word: str, part: int, width: int, signed: bool) -> str:
    moved = t.op("shl", "i32", word, 32 - width * (part + 1)) if 32 - width * (part + 1) else word
    return t.op("ashr" if signed else "lshr", "i32", moved, 32 - width)


@rule("v_dot2_f32_f16 v_dot2c_f32_f16 v_dot2acc_f32_f16 v_dot2_f32_bf16 v_dot2c_f32_bf16 v_dot2acc_f32_bf16")
def floats(t: Values, name: str) -> None:
    total = _sum(t, name, t.source(0, "f32", 2) if _adds(name) else t.source(3, "f32"))
    t.result(t.cast("fptrunc", total, "f64", "f32"), "f32")


@rule("v_dot2_f16_f16 v_dot2_bf16_bf16")
def short_floats(t: Values, name: str) -> None:
    kind = name.rsplit("_", 1)[1]
    t.result(rounded_to_odd(t, _sum(t, name, t.source(3, kind))), kind)


def _adds(name: str) -> bool:
    return name.startswith(("v_dot2c", "v_dot2acc"))


def _sum(t: Values, name: str, addend: str) -> str:
    kind = name.rsplit("_", 1)[1]
    words = [t.register(number, "i32") for number in (1, 2)]
    total = t.cast("fpext", addend, "f32", "f64")
    for shift in (0, 16):
        x, y = (
            t.cast(
                "fpext", widened(t, t.resize(t.op("lshr", "i32", word, shift), 32, 16), kind), "f32", "f64"
            )
            for word in words
        )
        total = t.op("fadd", "f64", total, t.op("fmul", "f64", x, y))
    return total
