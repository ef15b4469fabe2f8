"""WGSL as most of wgpu's native devices take it: with integers of 64 bits, and floats of 64 where the device has them.

Read next: `wgsl`.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from mlir import ir

from pykern.lowering.source.expressions import ATOM, UNARY, Expression, call
from pykern.lowering.source.options import SourceOptions
from pykern.lowering.source.wgsl import Wgsl
from pykern.passes.analysis.integer_ranges import width

_FROM_BITS = """\
fn from_bits_f64(bits: u64) -> f64 { return bitcast<f64>(bits | u64(words.zero)); }"""
_IS_NAN = """\
fn is_nan_f64(x: f64) -> bool { return (bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu; }"""
_COPYSIGN = """\
fn copysign_f64(x: f64, y: f64) -> f64 {
    return bitcast<f64>((bitcast<u64>(x) & 0x7ffffffffffffffflu) | (bitcast<u64>(y) & 0x8000000000000000lu));
}"""
_EXACT = "fn exact_f64(x: f64) -> f64 { return bitcast<f64>(bitcast<u64>(x) ^ u64(words.zero)); }"
_HELPERS = {"from_bits": _FROM_BITS, "is_nan": _IS_NAN, "copysign": _COPYSIGN, "exact": _EXACT}


@dataclass
class NativeWgsl(Wgsl):
    """WGSL with types of 64 bits."""

    mixes: bool = False
    pairs: bool = False
    atomic_bits: int = 64

    @classmethod
    def of(cls, options: SourceOptions) -> Wgsl:
        language = super().of(options)
        language.types["i64"] = "i64"
        del language.types["index"]
        language.reserved |= {"i64", "u64", "f64"}
        if options.f64:
            language.types["f64"] = "f64"
        else:
            language.types.pop("f64", None)
        return language

    def resized(self, kind: ir.Type, operand: Expression, given: ir.Type) -> Expression:
        if 64 in (width(kind), width(given)):
            return self.cast(kind, operand)
        return super().resized(kind, operand, given)

    def unsigned(self, kind: ir.Type) -> str:
        return "u64" if ir.IntegerType(kind).width == 64 else "u32"

    def to_unsigned(self, kind: ir.Type, operand: Expression) -> Expression:
        if ir.IntegerType(kind).width == 64:
            return call("bitcast<u64>", operand)
        return super().to_unsigned(kind, operand)

    def shift(self, by: Expression) -> Expression:
        digits = by.text.removesuffix("li")
        return Expression(f"{digits}u") if digits.isdigit() else super().shift(by)

    def unsigned_shift(self, kind: ir.Type, by: Expression) -> Expression:
        return self.shift(by)

    def signed(self, kind: ir.Type, operand: Expression) -> Expression:
        if ir.IntegerType(kind).width == 64:
            return call("bitcast<i64>", operand)
        return super().signed(kind, operand)

    def unsigned_of_float(self, kind: ir.Type, operand: Expression) -> Expression:
        return call(self.unsigned(kind), operand)

    def from_unsigned(self, kind: ir.Type, operand: Expression) -> Expression:
        if str(kind) == "i64":  # naga would spread the highest bit
            return call("bitcast<i64>", call("u64", operand))
        return super().from_unsigned(kind, operand)

    def subscript(self, place: Expression, bits: int) -> str:
        """In 32 bits, which hold the place of every element: with 64 Mesa's compiler for processors may die."""
        digits = place.text.removesuffix("li")
        return digits if digits.isdigit() else f"u32({place.text})"

    def helper(self, name: str, kind: ir.Type) -> str:
        if str(kind) != "f64":
            return super().helper(name, kind)
        self.helpers[f"{name}_f64"] = _HELPERS[name]
        return f"{name}_f64"

    def suffix(self, kind: ir.Type) -> str:
        return "lf" if str(kind) == "f64" else super().suffix(kind)

    def special(self, number: float, kind: ir.Type) -> Expression:
        if str(kind) != "f64":
            return super().special(number, kind)
        bits = 0x7FF8 << 48 if math.isnan(number) else struct.unpack("Q", struct.pack("d", number))[0]
        return Expression(f"{self.helper('from_bits', kind)}({bits:#x}lu)")

    def _integer(self, number: int, kind: ir.Type) -> Expression:
        if ir.IntegerType(kind).width < 64:
            return super()._integer(number, kind)
        if number == -(1 << 63):
            return Expression(f"(-{(1 << 63) - 1}li - 1li)")
        return Expression(f"{number}li", ATOM if number >= 0 else UNARY)
