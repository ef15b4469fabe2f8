"""f16 as its bits, for languages that have floats of 32 bits alone.

Comes in: conversions between f16 and wider floats, when all arithmetic on f16 is done in f32. Goes out: integer
arithmetic. Nothing depends on what a compiler does with subnormal numbers. Read next: `KeepBf16AsBits`, for values that
only travel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes.arithmetic.round_once import to_odd_f32
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class ExpandF16(Pass):
    """Write conversions of f16 out.

    In:  scalars. `arith.extf` from f16, `arith.truncf` to it.
    Out: f16 in bitcasts alone: the conversions are integer arithmetic, rounded to nearest, ties to even.
    """

    name: ClassVar[str] = "kern-expand-f16"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "arith.extf", "arith.truncf"):
            given, wanted = op.operands[0].type, op.results[0].type
            with ir.InsertionPoint(op), op.location:
                if isinstance(given, ir.F16Type):
                    number = _decoded(op.operands[0])
                    replace(op, [_as(number, wanted)])
                elif isinstance(wanted, ir.F16Type):
                    replace(op, [_encoded(_single(op.operands[0]))])


def _as(number: ir.Value, wanted: ir.Type) -> ir.Value:
    return number if number.type == wanted else arith.ExtFOp(wanted, number).result


def _single(value: ir.Value) -> ir.Value:
    return to_odd_f32(value) if isinstance(value.type, ir.F64Type) else value


def _i32(number: int) -> ir.Value:
    return arith.ConstantOp(ir.IntegerType.get_signless(32), number).result


def _decoded(half: ir.Value) -> ir.Value:
    """The f32. A subnormal number is its digits, times 2**-24."""
    i16, i32, f32 = ir.IntegerType.get_signless(16), ir.IntegerType.get_signless(32), ir.F32Type.get()
    bits = arith.ExtUIOp(i32, arith.BitcastOp(i16, half).result).result
    size = arith.AndIOp(bits, _i32(0x7FFF)).result
    moved = arith.ShLIOp(size, _i32(13)).result
    is_special = arith.CmpIOp(arith.CmpIPredicate.uge, size, _i32(0x7C00)).result
    bias = arith.SelectOp(is_special, _i32(224 << 23), _i32(112 << 23)).result
    normal = arith.AddIOp(moved, bias).result
    digits = arith.MulFOp(arith.SIToFPOp(f32, size).result, arith.ConstantOp(f32, 2.0**-24).result).result
    is_small = arith.CmpIOp(arith.CmpIPredicate.ult, size, _i32(0x400)).result
    chosen = arith.SelectOp(is_small, arith.BitcastOp(i32, digits).result, normal).result
    sign = arith.ShLIOp(arith.SubIOp(bits, size).result, _i32(16)).result
    return arith.BitcastOp(f32, arith.OrIOp(chosen, sign).result).result


def _encoded(number: ir.Value) -> ir.Value:
    """The f16 nearest to an f32.

    Half of the last kept bit is added, less one where that bit is even. A subnormal number is rounded where its last
    bit is that of an f32: beside 1/2.
    """
    i16, i32, f32 = ir.IntegerType.get_signless(16), ir.IntegerType.get_signless(32), ir.F32Type.get()
    bits = arith.BitcastOp(i32, number).result
    size = arith.AndIOp(bits, _i32(0x7FFFFFFF)).result
    odd = arith.AndIOp(arith.ShRUIOp(size, _i32(13)).result, _i32(1)).result
    moved = arith.AddIOp(arith.SubIOp(size, _i32((112 << 23) - 0xFFF)).result, odd).result
    normal = arith.ShRUIOp(moved, _i32(13)).result
    half = arith.ConstantOp(f32, 0.5).result
    beside = arith.AddFOp(arith.BitcastOp(f32, size).result, half).result
    subnormal = arith.SubIOp(arith.BitcastOp(i32, beside).result, arith.BitcastOp(i32, half).result).result
    is_small = arith.CmpIOp(arith.CmpIPredicate.ult, size, _i32(113 << 23)).result
    finite = arith.SelectOp(is_small, subnormal, normal).result
    infinite = arith.CmpIOp(arith.CmpIPredicate.uge, size, _i32((143 << 23) - 0x1000)).result
    is_nan = arith.CmpIOp(arith.CmpIPredicate.ugt, size, _i32(0x7F800000)).result
    code = arith.SelectOp(infinite, _i32(0x7C00), finite).result
    code = arith.SelectOp(is_nan, _i32(0x7E00), code).result
    sign = arith.AndIOp(arith.ShRUIOp(bits, _i32(16)).result, _i32(0x8000)).result
    whole = arith.TruncIOp(i16, arith.OrIOp(code, sign).result).result
    return arith.BitcastOp(ir.F16Type.get(), whole).result
