"""Arithmetic that the conversion to SPIR-V does not know, or gets wrong, in terms of what it does well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, math

from pykern.lowering.spirv.bit_counts import leading_zeros, ones
from pykern.passes.arithmetic.expand_remainder import real_remainder
from pykern.passes.arithmetic.round_once import to_odd_f32
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import index_constant, is_constant, named, replace


@dataclass(frozen=True)
class ExpandArithmetic(Pass):
    """Write out math.trunc, counts of bits, remainders, bf16 to and from f64, and compares of widened integers.

    In:  scalars. Out: trunc as the floor of the size with the sign put back; the remainder of integers
         through the quotient (upstream's is wrong where the divisor is the smallest integer); bf16 by way of
         f32, from f64 rounded to odd first, so that rounding twice is rounding once; what was widened and
         is compared with a constant compared as it was (Mesa 22.3 takes a widened i32 for positive there);
         with `vulkan`, where a driver may divide and truncate, the remainder of floats bit by bit, and an f64
         rounded by its floor (Mesa's llvmpipe rounds 1.5 to 1 where its vectors hold no more than four of them).
    """

    name: ClassVar[str] = "kern-expand-arithmetic"
    vulkan: bool = False
    """Write out what Vulkan leaves to its drivers."""
    printed: bool = False
    """Leave what every printed language has: the remainder of integers."""

    def run(self, module: ir.Module) -> None:
        rules = _RULES | (_VULKAN_RULES if self.vulkan else {})
        if self.printed:
            rules = {name: rule for name, rule in rules.items() if name != "arith.remsi"}
        for op in named(module.operation, *rules):
            with ir.InsertionPoint(op), op.location:
                value = rules[op.name](op)
                if value is not None:
                    replace(op, [value])


def _trunc(op: ir.Operation) -> ir.Value:
    value = op.operands[0]
    size = math.FloorOp(math.AbsFOp(value).result).result
    return math.CopySignOp(size, value).result


def _remainder(op: ir.Operation) -> ir.Value:
    a, b = op.operands
    return arith.SubIOp(a, arith.MulIOp(arith.DivSIOp(a, b).result, b).result).result


def _widen(op: ir.Operation) -> ir.Value | None:
    if not _is_bf16_and_f64(op.operands[0].type, op.results[0].type):
        return None
    return arith.ExtFOp(op.results[0].type, arith.ExtFOp(ir.F32Type.get(), op.operands[0]).result).result


def _narrow(op: ir.Operation) -> ir.Value | None:
    if not _is_bf16_and_f64(op.results[0].type, op.operands[0].type):
        return None
    return arith.TruncFOp(op.results[0].type, to_odd_f32(op.operands[0])).result


def _is_bf16_and_f64(small: ir.Type, wide: ir.Type) -> bool:
    return isinstance(small, ir.BF16Type) and isinstance(wide, ir.F64Type)


def _truth_as_index(op: ir.Operation) -> ir.Value | None:
    truth = op.operands[0]
    if truth.type != ir.IntegerType.get_signless(1):
        return None
    return arith.SelectOp(truth, index_constant(1), index_constant(0)).result


_SIGNED = ("eq", "ne", "slt", "sle", "sgt", "sge")


def _compare(op: ir.Operation) -> ir.Value | None:
    """``extsi(x) < c`` as ``x < c``, where the constant fits."""
    predicate = arith.CmpIPredicate(ir.IntegerAttr(op.attributes["predicate"]).value)
    limit = is_constant(op.operands[1])
    narrow = _before_sign_extension(op.operands[0])
    if limit is None or narrow is None or predicate.name not in _SIGNED:
        return None
    width = narrow.type.width
    if not -(1 << (width - 1)) <= limit < 1 << (width - 1):
        return None
    constant = arith.ConstantOp(narrow.type, ir.IntegerAttr.get(narrow.type, limit)).result
    return arith.CmpIOp(predicate, narrow, constant).result


def _before_sign_extension(value: ir.Value) -> ir.Value | None:
    extension = made_by(value, "arith.extsi", "arith.index_cast")
    if extension is None:
        return None
    source = extension.operands[0]
    return source if isinstance(source.type, ir.IntegerType) and 1 < source.type.width < 64 else None


_RULES: dict[str, Callable[[ir.Operation], ir.Value | None]] = {
    "math.trunc": _trunc,
    "math.ctpop": ones,
    "math.ctlz": leading_zeros,
    "arith.remsi": _remainder,
    "arith.extf": _widen,
    "arith.truncf": _narrow,
    "arith.cmpi": _compare,
    "arith.index_castui": _truth_as_index,
}


def _round_even(op: ir.Operation) -> ir.Value | None:
    """The nearest integer of an f64, the even one of two: all steps are exact, and infinity keeps itself."""
    value = op.operands[0]
    kind = value.type
    if not isinstance(kind, ir.F64Type):
        return None
    nil, half, one = (constant(kind, number) for number in (0.0, 0.5, 1.0))
    size = math.AbsFOp(value).result
    below = math.FloorOp(size).result
    rest = arith.SubFOp(size, below).result
    halved = arith.MulFOp(below, half).result
    odd = arith.CmpFOp(arith.CmpFPredicate.ONE, halved, math.FloorOp(halved).result).result
    tie = arith.AndIOp(arith.CmpFOp(arith.CmpFPredicate.OEQ, rest, half).result, odd).result
    up = arith.OrIOp(arith.CmpFOp(arith.CmpFPredicate.OGT, rest, half).result, tie).result
    rounded = arith.AddFOp(below, arith.SelectOp(up, one, nil).result).result
    return math.CopySignOp(rounded, value).result


_VULKAN_RULES = {"arith.remf": real_remainder, "math.roundeven": _round_even}
