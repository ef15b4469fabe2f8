"""Rules of pairs of floats in a register, and of sums whose operands have different types."""

from __future__ import annotations

from pykern.runtime.emulator.amd.extremes import extreme
from pykern.runtime.emulator.amd.floats import fused, kind_of
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.short_floats import narrowed, widened
from pykern.runtime.emulator.amd.values import SHORT, Values, clamped

_PAIRED = "add mul fma min max"


def _halves(t: Values, number: int, kind: str) -> tuple[str, str]:
    """Both halves of a pair as the modifiers choose and negate them."""
    at = number - 1
    chosen = [_flag(t, name, at, default) for name, default in (("op_sel", 0), ("op_sel_hi", 1))]
    negated = [_flag(t, name, at, 0) for name in ("neg_lo", "neg_hi")]
    if kind == "f32":
        words = [t.load(t.type("i32"), _word_place(t, number, upper)) if t.operand(number).is_vector
                 else t.splatted(t.load("i32", _word_place(t, number, upper)), "i32") for upper in chosen]  # fmt: skip
        values = [t.cast("bitcast", word, "i32", "f32") for word in words]
    else:
        word = t.register(number, "i32")
        bits = [t.resize(t.op("lshr", "i32", word, 16) if upper else word, 32, 16) for upper in chosen]
        values = [widened(t, half, kind) if kind in SHORT else half for half in bits]
    low, high = (
        t.value(f"fneg {t.type('f32')} {value}") if minus else value
        for value, minus in zip(values, negated, strict=True)
    )
    return low, high


def _word_place(t: Values, number: int, upper: int) -> str:
    """A pair of f32 that is a number is twice the same."""
    return t.place(
        number,
        "f32" if t.operand(number).kind in "#@" else "i32",
        upper if t.operand(number).count > 1 else 0,
    )


def _flag(t: Values, name: str, at: int, default: int) -> int:
    value = t.modifier(name)
    return int(value.strip("[]").split(",")[at]) if value else default


def _paired(t: Values, name: str) -> None:
    kind, how = kind_of(name), name.split("_")[2]
    sources = [_halves(t, number, kind) for number in range(1, 4 if how == "fma" else 3)]
    results = []
    for operands in zip(*sources, strict=True):
        if how == "fma":
            value = fused(t, kind, *operands)
        elif how in ("min", "max"):
            value = extreme(t, kind, how, *operands)
        else:
            value = t.op(f"f{how}", "f32", *operands)
        results.append(value)
    if t.modifier("clamp") is not None:
        results = [clamped(t, value, "f32") for value in results]
    if kind == "f32":
        words = [t.resize(t.cast("bitcast", value, "f32", "i32"), 32, 64) for value in results]
        t.set_register(0, t.op("or", "i64", words[0], t.op("shl", "i64", words[1], 32)), 64)
        return
    bits = [t.resize(narrowed(t, value, kind), 16, 32) for value in results]
    t.set_register(0, t.op("or", "i32", bits[0], t.op("shl", "i32", bits[1], 16)), 32)


rule(" ".join(f"v_pk_{name}_{kind}" for name in _PAIRED.split() for kind in ("f16", "bf16", "f32")))(_paired)


@rule("v_pk_mov_b32")
def paired_move(t: Values, name: str) -> None:
    """The lower word comes from the first operand, the upper one from the second."""
    t.modifier("op_sel_hi")
    words = []
    for number in (1, 2):
        upper = _flag(t, "op_sel", number - 1, 0)
        place = _word_place(t, number, upper)
        words.append(
            t.load(t.type("i32"), place)
            if t.operand(number).is_vector
            else t.splatted(t.load("i32", place), "i32")
        )
    low, high = (t.resize(word, 32, 64) for word in words)
    t.set_register(0, t.op("or", "i64", low, t.op("shl", "i64", high, 32)), 64)


@rule(
    "v_fma_mix_f32 v_fma_mixlo_f16 v_fma_mixhi_f16 v_fma_mixlo_bf16 v_fma_mixhi_bf16 "
    "v_mad_mix_f32 v_mad_mixlo_f16 v_mad_mixhi_f16"
)
def mixed(t: Values, name: str) -> None:
    """op_sel_hi: an operand is f16; op_sel: it is the upper half."""
    values = []
    for number in (1, 2, 3):
        if _flag(t, "op_sel_hi", number - 1, 0):
            word = t.register(number, "i32")
            if _flag(t, "op_sel", number - 1, 0):
                word = t.op("lshr", "i32", word, 16)
            this = t.operand(number)
            value = widened(t, t.resize(word, 32, 16), "f16")
            if this.absolute:
                value = t.intrinsic("fabs", "f32", value)
            values.append(t.value(f"fneg {t.type('f32')} {value}") if this.negated else value)
        else:
            values.append(t.source(number, "f32"))
    found = t.intrinsic("fma", "f32", *values)
    if t.modifier("clamp") is not None:
        found = clamped(t, found, "f32")
    if "mixlo" not in name and "mixhi" not in name:
        t.set_register(0, t.cast("bitcast", found, "f32", "i32"), 32)
        return
    half = t.resize(narrowed(t, found, kind_of(name)), 16, 32)
    old = t.load(t.type("i32"), t.place(0, "result"))
    if "mixhi" in name:
        word = t.op("or", "i32", t.op("shl", "i32", half, 16), t.op("and", "i32", old, 65535))
    else:
        word = t.op("or", "i32", half, t.op("and", "i32", old, -65536))
    t.set_register(0, word, 32)
