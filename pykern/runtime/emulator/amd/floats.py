"""Rules of arithmetic on floats. Results are rounded to the nearest, subnormals are kept.

f16 and bf16 are computed in f32 and rounded once: twice the digits and two more are enough for sums, products and
roots; `fma` goes through f64.
"""

from __future__ import annotations

from collections.abc import Callable

from pykern.runtime.emulator.amd.opcodes import SCALAR, VECTOR, rule
from pykern.runtime.emulator.amd.short_floats import rounded_to_odd
from pykern.runtime.emulator.amd.values import SHORT, Values

KINDS = ("f16", "bf16", "f32", "f64")
_MODES = (("v", VECTOR), ("s", SCALAR))


def held(kind: str) -> str:
    """What a type is computed in."""
    return "f32" if kind in SHORT else kind


def kind_of(name: str) -> str:
    return name.rsplit("_", 1)[1]


def each(names: str, kinds: tuple[str, ...] = KINDS) -> Callable:
    """Register a rule for vector and scalar instructions of several types."""

    def register(function: Callable) -> Callable:
        for prefix, mode in _MODES:
            rule(" ".join(f"{prefix}_{name}_{kind}" for name in names.split() for kind in kinds), mode)(
                function
            )
        return function

    return register


def fused(t: Values, kind: str, x: str, y: str, z: str) -> str:
    if kind not in SHORT:
        return t.intrinsic("fma", kind, x, y, z)
    wide = [t.cast("fpext", value, "f32", "f64") for value in (x, y, z)]
    return rounded_to_odd(t, t.intrinsic("fma", "f64", *wide))


@each("add sub subrev mul")
def binary(t: Values, name: str) -> None:
    kind, how = kind_of(name), name.split("_")[1]
    x, y = t.source(1, kind), t.source(2, kind)
    if how == "subrev":
        x, y = y, x
    t.result(t.op(f"f{how.removesuffix('rev')}", held(kind), x, y), kind)


@rule("v_mul_legacy_f32 v_mul_dx9_zero_f32")
def product_without_nan(t: Values, name: str) -> None:
    """0 times anything is 0."""
    x, y = t.source(1, "f32"), t.source(2, "f32")
    zero = t.op("or", "i1", t.compare("oeq", "f32", x, 0.0), t.compare("oeq", "f32", y, 0.0))
    t.result(t.select(zero, "f32", 0.0, t.op("fmul", "f32", x, y)), "f32")


@each("fma")
def fma(t: Values, name: str) -> None:
    kind = kind_of(name)
    t.result(fused(t, kind, *(t.source(n, kind) for n in (1, 2, 3))), kind)


@each("fmac")
def fmac(t: Values, name: str) -> None:
    """The result's register is added to."""
    kind = kind_of(name)
    t.result(fused(t, kind, t.source(1, kind), t.source(2, kind), t.source(0, kind, 2)), kind)


@each("fmaak fmamk", ("f16", "f32", "f64"))
def fma_of_constant(t: Values, name: str) -> None:
    """The operands stand in the order in which they are written: ``x * k + y``, ``x * y + k``."""
    fma(t, name)


@rule("v_mad_f32 v_mac_f32 v_madmk_f32 v_madak_f32")
def product_and_sum(t: Values, name: str) -> None:
    """Rounded twice; subnormals count as 0."""
    addend = t.source(0, "f32", 2) if "mac" in name else t.source(3, "f32")
    x, y, z = (flushed(t, value) for value in (t.source(1, "f32"), t.source(2, "f32"), addend))
    product = flushed(t, t.op("fmul", "f32", x, y))
    t.result(flushed(t, t.op("fadd", "f32", product, z)), "f32")


def flushed(t: Values, value: str) -> str:
    """Subnormals of f32 become 0."""
    bits = t.cast("bitcast", value, "f32", "i32")
    small = t.compare("eq", "i32", t.op("and", "i32", bits, 0x7F800000), 0)
    kept = t.select(small, "i32", t.op("and", "i32", bits, 1 << 31), bits)
    return t.cast("bitcast", kept, "i32", "f32")
