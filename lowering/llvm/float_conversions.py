"""Conversions between floats that processors have no instruction for, and LLVM therefore calls by name. LLVM IR text.

Comes in: nothing. Goes out: `TEXT` with `NAMES`, linked to code that calls one of them (`linker`): x86-64 has no
rounding of f64 to f16 before AVX512-FP16, no f16 at all before F16C, no bf16 before AVX512-BF16. Compilers' own
libraries have them since GCC 12 and 13 only, and few processes have those loaded.

Rounding is to nearest, ties to even, in one step, in integers; NaNs stay NaNs, and become quiet.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class _Format:
    """A binary format of IEEE 754: LLVM's type, its bits, those of the fraction, the bias of the exponent."""

    kind: str
    bits: int
    fraction: int
    bias: int

    @property
    def infinity(self) -> int:
        return (1 << self.bits - 1) - (1 << self.fraction)


_HALF, _BFLOAT = _Format("half", 16, 10, 15), _Format("bfloat", 16, 7, 127)
_FLOAT, _DOUBLE = _Format("float", 32, 23, 127), _Format("double", 64, 52, 1023)


def _rounding(name: str, wide: _Format, narrow: _Format) -> str:
    """A function that rounds. Normal numbers: another bias, and the bits beyond rounded off; a carry goes into the
    exponent, and up to infinity. Smaller ones: the fraction with its leading bit, shifted by what the exponent says."""
    word, dropped = f"i{wide.bits}", wide.fraction - narrow.fraction
    apart = wide.bias - narrow.bias
    smallest = apart + 1 << wide.fraction
    return f"""
define hidden {narrow.kind} @{name}({wide.kind} %x) nounwind {{
  %bits = bitcast {wide.kind} %x to {word}
  %a = and {word} %bits, {(1 << wide.bits - 1) - 1}
  %high = lshr {word} %bits, {wide.bits - 16}
  %high16 = trunc {word} %high to i16
  %sign = and i16 %high16, -32768
  %nan = icmp ugt {word} %a, {wide.infinity}
  %rest = lshr {word} %a, {dropped}
  %rest16 = trunc {word} %rest to i16
  %payload = and i16 %rest16, {(1 << narrow.fraction) - 1}
  %quiet = or i16 %payload, {narrow.infinity | 1 << narrow.fraction - 1}
  %r = sub {word} %a, {apart << wide.fraction}
  %rl = lshr {word} %r, {dropped}
  %odd = and {word} %rl, 1
  %r1 = add {word} %r, {(1 << dropped - 1) - 1}
  %r2 = add {word} %r1, %odd
  %r3 = lshr {word} %r2, {dropped}
  %much = icmp ugt {word} %r3, {narrow.infinity}
  %normal = select i1 %much, {word} {narrow.infinity}, {word} %r3
  %e0 = lshr {word} %a, {wide.fraction}
  %none = icmp eq {word} %e0, 0
  %e = select i1 %none, {word} 1, {word} %e0
  %f = and {word} %a, {(1 << wide.fraction) - 1}
  %f1 = or {word} %f, {1 << wide.fraction}
  %m = select i1 %none, {word} %f, {word} %f1
  %s0 = sub {word} {apart + 1 + dropped}, %e
  %far = icmp ugt {word} %s0, {wide.bits - 1}
  %s = select i1 %far, {word} {wide.bits - 1}, {word} %s0
  %q = lshr {word} %m, %s
  %ql = and {word} %q, 1
  %one = shl {word} 1, %s
  %half = lshr {word} %one, 1
  %below = sub {word} %half, 1
  %m1 = add {word} %m, %below
  %m2 = add {word} %m1, %ql
  %small = lshr {word} %m2, %s
  %is_small = icmp ult {word} %a, {smallest}
  %number = select i1 %is_small, {word} %small, {word} %normal
  %number16 = trunc {word} %number to i16
  %chosen = select i1 %nan, i16 %quiet, i16 %number16
  %made = or i16 %chosen, %sign
  %result = bitcast i16 %made to {narrow.kind}
  ret {narrow.kind} %result
}}
"""


_EXTENSIONS = """
define hidden float @__extendhfsf2(half %x) nounwind {
  %bits = bitcast half %x to i16
  %wide = zext i16 %bits to i32
  %a = and i32 %wide, 32767
  %s = and i32 %wide, 32768
  %sign = shl i32 %s, 16
  %moved = shl i32 %a, 13
  %normal = add i32 %moved, 939524096
  %special = icmp uge i32 %a, 31744
  %nan = icmp ugt i32 %a, 31744
  %infinity = or i32 %moved, 2139095040
  %quiet = or i32 %infinity, 4194304
  %above = select i1 %nan, i32 %quiet, i32 %infinity
  %count = uitofp i32 %a to float
  %scaled = fmul float %count, 0x3E70000000000000
  %below = bitcast float %scaled to i32
  %is_small = icmp ult i32 %a, 1024
  %n = select i1 %is_small, i32 %below, i32 %normal
  %m = select i1 %special, i32 %above, i32 %n
  %made = or i32 %m, %sign
  %result = bitcast i32 %made to float
  ret float %result
}

define hidden double @__extendhfdf2(half %x) nounwind {
  %f = call float @__extendhfsf2(half %x)
  %result = fpext float %f to double
  ret double %result
}
"""

NAMES = frozenset({
    "__extendhfsf2", "__extendhfdf2", "__truncsfhf2", "__truncdfhf2", "__truncsfbf2", "__truncdfbf2",
})  # fmt: skip
TEXT = "".join((
    _EXTENSIONS,
    _rounding("__truncsfhf2", _FLOAT, _HALF),
    _rounding("__truncdfhf2", _DOUBLE, _HALF),
    _rounding("__truncsfbf2", _FLOAT, _BFLOAT),
    _rounding("__truncdfbf2", _DOUBLE, _BFLOAT),
))  # fmt: skip
