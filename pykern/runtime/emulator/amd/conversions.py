"""Rules of conversions between integers and floats. Floats beyond an integer's range become its ends, NaN 0."""

from __future__ import annotations

from pykern.runtime.emulator.amd.floats import held
from pykern.runtime.emulator.amd.opcodes import SCALAR, VECTOR, rule
from pykern.runtime.emulator.amd.short_floats import cut_to_f16, narrowed, widened
from pykern.runtime.emulator.amd.values import Values

_PLAIN = (
    "f32_f16 f16_f32 f32_f64 f64_f32 f32_i32 f32_u32 f64_i32 f64_u32 i32_f32 u32_f32 i32_f64 u32_f64 f16_i16 f16_u16 "
    "i16_f16 u16_f16 f32_bf16 bf16_f32"
)


def _names(prefix: str) -> str:
    return " ".join(f"{prefix}_cvt_{pair}" for pair in _PLAIN.split())


def _convert(t: Values, name: str) -> None:
    to, of = name.split("_")[2:]
    if of[0] in "iu":
        value = t.cast(
            "sitofp" if of[0] == "i" else "uitofp", t.source(1, f"i{of[1:]}"), f"i{of[1:]}", held(to)
        )
        t.result(value, to)
        return
    value = t.source(1, of)
    if to[0] in "iu":
        t.result(to_integer(t, value, of, to), f"i{to[1:]}")
    elif held(to) == held(of):
        t.result(value, to)
    elif of == "f32":
        t.result(t.cast("fpext", value, "f32", "f64"), to)
    else:
        t.result(t.cast("fptrunc", value, "f64", "f32"), to)


rule(_names("v"), VECTOR)(_convert)
rule(_names("s"), SCALAR)(_convert)


def to_integer(t: Values, value: str, of: str, to: str) -> str:
    """Towards zero."""
    wide, kind = held(of), f"i{to[1:]}"
    suffix = f"{kind}.{wide}" if t.lanes == 1 else f"v{t.lanes}{kind}.v{t.lanes}{wide}"
    name = f"llvm.fpto{'s' if to[0] == 'i' else 'u'}i.sat.{suffix}"
    return t.call(t.type(kind), name, (t.type(wide), value))


@rule("s_cvt_hi_f32_f16", SCALAR)
def upper_half(t: Values, name: str) -> None:
    word = t.op("lshr", "i32", t.register(1, "i32"), 16)
    t.result(widened(t, t.resize(word, 32, 16), "f16"), "f32")


@rule("v_cvt_f32_ubyte0 v_cvt_f32_ubyte1 v_cvt_f32_ubyte2 v_cvt_f32_ubyte3")
def of_byte(t: Values, name: str) -> None:
    word = t.op("lshr", "i32", t.source(1, "i32"), 8 * int(name[-1]))
    t.result(t.cast("uitofp", t.op("and", "i32", word, 255), "i32", "f32"), "f32")


@rule("v_cvt_flr_i32_f32 v_cvt_rpi_i32_f32")
def floor_to_integer(t: Values, name: str) -> None:
    x = t.source(1, "f32")
    if "rpi" in name:
        x = t.op("fadd", "f32", x, 0.5)
    t.result(to_integer(t, t.intrinsic("floor", "f32", x), "f32", "i32"), "i32")


def pair(t: Values, low: str, high: str) -> str:
    """Two i16 in a register."""
    return t.op("or", "i32", t.resize(low, 16, 32), t.op("shl", "i32", t.resize(high, 16, 32), 16))


@rule("v_cvt_pkrtz_f16_f32 v_cvt_pk_f16_f32 v_cvt_pk_bf16_f32")
def to_pair(t: Values, name: str) -> None:
    values = [t.source(number, "f32") for number in (1, 2)]
    if "rtz" in name:
        halves = [cut_to_f16(t, value) for value in values]
    else:
        halves = [narrowed(t, value, name.split("_")[3]) for value in values]
    t.result(pair(t, *halves), "i32")


@rule("v_cvt_pk_u16_u32 v_cvt_pk_i16_i32")
def to_integer_pair(t: Values, name: str) -> None:
    """What is too large becomes the end of the range."""
    signed = "_i16" in name
    low, high = (-(1 << 15), (1 << 15) - 1) if signed else (0, (1 << 16) - 1)
    letter = "s" if signed else "u"
    values = [t.source(number, "i32") for number in (1, 2)]
    cut = [
        t.intrinsic(f"{letter}min", "i32", t.intrinsic(f"{letter}max", "i32", v, low), high) for v in values
    ]
    t.result(pair(t, *(t.resize(value, 32, 16) for value in cut)), "i32")


@rule("v_cvt_pk_u8_f32")
def into_byte(t: Values, name: str) -> None:
    """A byte of the third operand is replaced."""
    x = t.intrinsic("roundeven", "f32", t.source(1, "f32"))
    value = t.intrinsic("umin", "i32", to_integer(t, x, "f32", "u32"), 255)
    at = t.op("shl", "i32", t.op("and", "i32", t.source(2, "i32"), 3), 3)
    mask = t.op("xor", "i32", t.op("shl", "i32", 255, at), -1)
    t.result(
        t.op("or", "i32", t.op("and", "i32", t.source(3, "i32"), mask), t.op("shl", "i32", value, at)), "i32"
    )


@rule("v_pack_b32_f16")
def packed(t: Values, name: str) -> None:
    t.result(pair(t, t.source(1, "i16"), t.source(2, "i16")), "i32")
