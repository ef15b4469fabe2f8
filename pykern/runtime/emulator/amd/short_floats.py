"""f16 and bf16 as values of f32, and back with one rounding, in every lane.

Comes in: bits of 16. Goes out: f32, and the other way. The scalar functions of `pykern.runtime.emulator.float_support`
compute the same; these work on vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykern.runtime.emulator.amd.body import Body

_INFINITE, _QUIET = 0x7C00, 0x7E00


def widened(t: Body, bits: str, kind: str) -> str:
    """i16 -> f32, exact."""
    wide = t.resize(bits, 16, 32)
    if kind == "bf16":
        return t.cast("bitcast", t.op("shl", "i32", wide, 16), "i32", "f32")
    magnitude = t.op("and", "i32", wide, 0x7FFF)
    moved = t.op("shl", "i32", magnitude, 13)
    scaled = t.op("fmul", "f32", t.cast("bitcast", moved, "i32", "f32"), 2.0**112)  # of subnormals, too
    number = t.cast("bitcast", scaled, "f32", "i32")
    special = t.compare("uge", "i32", magnitude, _INFINITE)
    found = t.select(special, "i32", t.op("or", "i32", moved, 0x7F800000), number)
    sign = t.op("shl", "i32", t.op("and", "i32", wide, 0x8000), 16)
    return t.cast("bitcast", t.op("or", "i32", found, sign), "i32", "f32")


def narrowed(t: Body, value: str, kind: str, half: float = 4095) -> str:
    """f32 -> i16, rounded to the nearest, ties to even. NaN stays one."""
    bits = t.cast("bitcast", value, "f32", "i32")
    nan = t.compare("uno", "f32", value, value)
    if kind == "bf16":
        odd = t.op("and", "i32", t.op("lshr", "i32", bits, 16), 1)
        up = t.op("lshr", "i32", t.op("add", "i32", bits, t.op("add", "i32", odd, 0x7FFF)), 16)
        quiet = t.op("or", "i32", t.op("lshr", "i32", bits, 16), 0x40)
        return t.resize(t.select(nan, "i32", quiet, up), 32, 16)
    sign = t.op("and", "i32", t.op("lshr", "i32", bits, 16), 0x8000)
    magnitude = t.op("and", "i32", bits, 0x7FFFFFFF)
    size = t.cast("bitcast", magnitude, "i32", "f32")
    odd = t.op("and", "i32", t.op("lshr", "i32", magnitude, 13), 1)
    rebiased = t.op("sub", "i32", t.op("add", "i32", magnitude, t.op("add", "i32", odd, half)), 112 << 23)
    normal = t.op("lshr", "i32", rebiased, 13)
    last = t.cast(
        "bitcast", t.op("fadd", "f32", size, 0.5), "f32", "i32"
    )  # its last digit is that of subnormals
    subnormal = t.op("sub", "i32", last, 0x3F000000)
    finite = t.select(t.compare("olt", "f32", size, 2.0**-14), "i32", subnormal, normal)
    number = t.select(t.compare("oge", "f32", size, 65520.0), "i32", _INFINITE, finite)
    payload = t.op("or", "i32", t.op("and", "i32", t.op("lshr", "i32", bits, 13), 0x3FF), _QUIET)
    number = t.select(nan, "i32", payload, number)
    return t.resize(t.op("or", "i32", number, sign), 32, 16)


def rounded_to_odd(t: Body, value: str) -> str:
    """f64 -> f32 such that rounding that to a shorter float is as if it were the only rounding."""
    near = t.cast("fptrunc", value, "f64", "f32")
    back = t.cast("fpext", near, "f32", "f64")
    inexact = t.compare("one", "f64", back, value)
    away = t.compare("ogt", "f64", t.intrinsic("fabs", "f64", back), t.intrinsic("fabs", "f64", value))
    bits = t.cast("bitcast", near, "f32", "i32")
    cut = t.op("or", "i32", t.op("sub", "i32", bits, t.cast("zext", away, "i1", "i32")), 1)
    return t.cast("bitcast", t.select(inexact, "i32", cut, bits), "i32", "f32")


def cut_to_f16(t: Body, value: str) -> str:
    """f32 -> i16, rounded towards zero; what is too large becomes the largest."""
    near = narrowed(t, value, "f16")
    back = widened(t, near, "f16")
    away = t.compare("ogt", "f32", t.intrinsic("fabs", "f32", back), t.intrinsic("fabs", "f32", value))
    return t.select(away, "i16", t.op("sub", "i16", near, 1), near)
