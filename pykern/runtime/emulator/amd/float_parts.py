"""Rules of rounding floats to whole numbers, and of their exponents."""

from __future__ import annotations

import math

from pykern.runtime.emulator.amd.floats import each, held, kind_of
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values

_ROUNDINGS = {"trunc": "trunc", "ceil": "ceil", "floor": "floor", "rndne": "roundeven"}


@each("trunc ceil floor rndne")
def whole(t: Values, name: str) -> None:
    kind = kind_of(name)
    t.result(t.intrinsic(_ROUNDINGS[name.split("_")[1]], held(kind), t.source(1, kind)), kind)


@each("fract")
def fraction(t: Values, name: str) -> None:
    """Less than 1, although rounding the difference may give 1."""
    kind = kind_of(name)
    x, k = t.source(1, kind), held(kind)
    found = t.op("fsub", k, x, t.intrinsic("floor", k, x))
    largest = {"f16": 1 - 2.0**-11, "bf16": 1 - 2.0**-8, "f32": 1 - 2.0**-24, "f64": 1 - 2.0**-53}[kind]
    bounded = t.select(t.compare("ogt", k, found, largest), k, largest, found)
    infinite = t.compare("oeq", k, t.intrinsic("fabs", k, x), math.inf)
    t.result(t.select(infinite, k, math.nan, bounded), kind)


@rule("v_ldexp_f64 v_ldexp_f32 v_ldexp_f16")
def scaled(t: Values, name: str) -> None:
    kind = kind_of(name)
    x, by = t.source(1, kind), t.source(2, "i16" if kind == "f16" else "i32")
    if kind == "f16":
        by = t.resize(by, 16, 32, signed=True)
    t.result(by_power(t, held(kind), x, by), kind)


def by_power(t: Values, kind: str, x: str, by: str) -> str:
    """x * 2 ** by: two exact products and a rounded one."""
    first, bits, bias = (127, 32, 23) if kind == "f32" else (1023, 64, 52)
    at = t.intrinsic("smax", "i32", t.intrinsic("smin", "i32", by, 3 * first), -3 * first)
    for _ in range(3):
        step = t.intrinsic("smax", "i32", t.intrinsic("smin", "i32", at, first), 1 - first)
        at = t.op("sub", "i32", at, step)
        exponent = t.resize(t.op("add", "i32", step, first), 32, bits)
        factor = t.cast("bitcast", t.op("shl", f"i{bits}", exponent, bias), f"i{bits}", kind)
        x = t.op("fmul", kind, x, factor)
    return x


@rule(
    "v_frexp_mant_f32 v_frexp_mant_f64 v_frexp_mant_f16 v_frexp_exp_i32_f32 v_frexp_exp_i32_f64 v_frexp_exp_i16_f16"
)
def parts(t: Values, name: str) -> None:
    """A number in 0.5 … 1 and a power of 2."""
    kind = kind_of(name)
    k = held(kind)
    width, digits, bias = (32, 23, 126) if k == "f32" else (64, 52, 1022)
    x = t.source(1, kind)
    bits_kind = f"i{width}"
    grown = t.op("fmul", k, x, 2.0 ** (digits + 1))
    small = t.compare("olt", k, t.intrinsic("fabs", k, x), 2.0 ** (1 - bias))
    bits = t.cast("bitcast", t.select(small, k, grown, x), k, bits_kind)
    exponent = t.op("and", bits_kind, t.op("lshr", bits_kind, bits, digits), (1 << width - 1 - digits) - 1)
    special = t.op(
        "or", "i1", t.compare("uno", k, x, x),
        t.op("or", "i1", t.compare("oeq", k, x, 0.0), t.compare("oeq", k, t.intrinsic("fabs", k, x), math.inf)),
    )  # fmt: skip
    if "mant" in name:
        mask = ~(((1 << width - 1 - digits) - 1) << digits)
        cut = t.op("or", bits_kind, t.op("and", bits_kind, bits, mask), bias << digits)
        t.result(t.select(special, k, x, t.cast("bitcast", cut, bits_kind, k)), kind)
        return
    wanted = 16 if kind == "f16" else 32
    moved = t.select(small, bits_kind, bias + digits + 1, bias)
    number = t.resize(t.op("sub", bits_kind, exponent, moved), width, wanted)
    t.result(t.select(special, f"i{wanted}", 0, number), f"i{wanted}")
