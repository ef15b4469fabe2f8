"""Rules of the steps by which floats are divided: scaled, multiplied and added, mended.

The definitions are those of AMD, "RDNA3 Instruction Set Architecture".
"""

from __future__ import annotations

import math

from pykern.runtime.emulator.amd.floats import fused, held, kind_of
from pykern.runtime.emulator.amd.opcodes import rule
from pykern.runtime.emulator.amd.values import Values


def _exponent(t: Values, kind: str, x: str) -> str:
    width, digits = (32, 23) if kind == "f32" else (64, 52)
    bits = t.cast("bitcast", x, kind, f"i{width}")
    shifted = t.op("and", f"i{width}", t.op("lshr", f"i{width}", bits, digits), (1 << width - 1 - digits) - 1)
    return t.resize(shifted, width, 32)


def _subnormal(t: Values, kind: str, x: str) -> str:
    least = 2.0**-126 if kind == "f32" else 2.0**-1022
    small = t.compare("olt", kind, t.intrinsic("fabs", kind, x), least)
    return t.op("and", "i1", small, t.compare("one", kind, x, 0.0))


@rule("v_div_scale_f32 v_div_scale_f64")
def div_scale(t: Values, name: str) -> None:
    """V_DIV_SCALE: operands are what is scaled, the denominator, the numerator.

    A denominator whose inverse and whose quotient are subnormal is scaled down, where the manual's text says up: that
    would be infinite.
    """
    kind = kind_of(name)
    apart, power, tiny = (96, 64, 23) if kind == "f32" else (768, 128, 53)
    x, denominator, numerator = (t.source(n, kind) for n in (2, 3, 4))
    up, down = (t.op("fmul", kind, x, 2.0**by) for by in (power, -power))
    of_denominator = t.compare("oeq", kind, x, denominator)
    of_numerator = t.compare("oeq", kind, x, numerator)
    inverse = _subnormal(t, kind, t.op("fdiv", kind, 1.0, denominator))
    quotient = _subnormal(t, kind, t.op("fdiv", kind, numerator, denominator))
    far = t.compare(
        "sge",
        "i32",
        t.op("sub", "i32", _exponent(t, kind, numerator), _exponent(t, kind, denominator)),
        apart,
    )
    zero = t.op("or", "i1", t.compare("oeq", kind, numerator, 0.0), t.compare("oeq", kind, denominator, 0.0))
    small = t.compare("sle", "i32", _exponent(t, kind, numerator), tiny)
    found = t.select(small, kind, up, x)
    found = t.select(quotient, kind, t.select(of_numerator, kind, up, x), found)
    found = t.select(inverse, kind, down, found)
    both = t.op("and", "i1", inverse, quotient)
    found = t.select(both, kind, t.select(of_denominator, kind, down, x), found)
    found = t.select(_subnormal(t, kind, denominator), kind, up, found)
    found = t.select(far, kind, t.select(of_denominator, kind, up, x), found)
    found = t.select(zero, kind, math.nan, found)
    told = t.select(_subnormal(t, kind, denominator), "i1", 0, quotient)
    told = t.select(zero, "i1", 0, t.op("or", "i1", far, told))
    t.set_lanes(1, told)
    t.result(found, kind)


@rule("v_div_fmas_f32 v_div_fmas_f64")
def div_fmas(t: Values, name: str) -> None:
    kind = kind_of(name)
    power, bias = (64, 127) if kind == "f32" else (128, 1023)
    x, y, z = (t.source(n, kind) for n in (1, 2, 3))
    found = fused(t, kind, x, y, z)
    large = t.compare("sgt", "i32", _exponent(t, kind, z), bias)
    scaled_up, scaled_down = (t.op("fmul", kind, found, 2.0**by) for by in (power, -power))
    if kind == "f32":  # what becomes subnormal is rounded once
        wide = t.intrinsic("fma", "f64", *(t.cast("fpext", value, "f32", "f64") for value in (x, y, z)))
        scaled_down = t.cast("fptrunc", t.op("fmul", "f64", wide, 2.0**-power), "f64", "f32")
    scales = t.lanes_of_bits(t.scalar("vcc", t.mask_kind))
    t.result(t.select(scales, kind, t.select(large, kind, scaled_up, scaled_down), found), kind)


@rule("v_div_fixup_f32 v_div_fixup_f64 v_div_fixup_f16")
def div_fixup(t: Values, name: str) -> None:
    """V_DIV_FIXUP: operands are the quotient, the denominator, the numerator.

    What became NaN on the way was too large.
    """
    kind = kind_of(name)
    k = held(kind)
    quotient, denominator, numerator = (t.source(n, kind) for n in (1, 2, 3))
    size = t.intrinsic("fabs", k, quotient)
    size = t.select(t.compare("uno", k, quotient, quotient), k, math.inf, size)
    if kind != "f16":
        difference = t.op("sub", "i32", _exponent(t, k, numerator), _exponent(t, k, denominator))
        under = t.compare("slt", "i32", difference, -150 if k == "f32" else -1075)
        size = t.select(under, k, 0.0, size)
    to_zero = t.op("or", "i1", _infinite(t, k, denominator), t.compare("oeq", k, numerator, 0.0))
    size = t.select(to_zero, k, 0.0, size)
    to_infinity = t.op("or", "i1", t.compare("oeq", k, denominator, 0.0), _infinite(t, k, numerator))
    size = t.select(to_infinity, k, math.inf, size)
    undefined = t.op(
        "or", "i1",
        t.op("and", "i1", t.compare("oeq", k, denominator, 0.0), t.compare("oeq", k, numerator, 0.0)),
        t.op("and", "i1", _infinite(t, k, denominator), _infinite(t, k, numerator)),
    )  # fmt: skip
    sign = t.op(
        "fmul", k, t.intrinsic("copysign", k, 1.0, denominator), t.intrinsic("copysign", k, 1.0, numerator)
    )
    found = t.select(undefined, k, -math.nan, t.intrinsic("copysign", k, size, sign))
    found = t.select(
        t.compare("uno", k, denominator, denominator), k, t.op("fmul", k, denominator, 1.0), found
    )
    found = t.select(t.compare("uno", k, numerator, numerator), k, t.op("fmul", k, numerator, 1.0), found)
    t.result(found, kind)


def _infinite(t: Values, kind: str, x: str) -> str:
    return t.compare("oeq", kind, t.intrinsic("fabs", kind, x), math.inf)
