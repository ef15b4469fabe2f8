"""f64 to 16 bits in one rounding, for machines that go through f32, or would call a function that nobody defines.

Comes in: `arith.truncf`, which is one rounding by definition, and which has a rule of differentiation; so this is
written out when derivatives have been taken. Goes out: conversions to and from f32, and integer arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, math

from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class RoundOnce(Pass):
    """Write conversions from f64 to f16 and bf16 out by way of f32.

    In:  any module, after its derivatives were taken.
    Out: the same without `arith.truncf` from f64 to 16 bits: f64 is rounded to f32 "to odd", and that to 16 bits.
    """

    name: ClassVar[str] = "kern-round-once"
    looks_for: ClassVar[tuple[str, ...]] = ("arith.truncf",)

    def run(self, module: ir.Module) -> bool:
        found = [op for op in named(module.operation, "arith.truncf") if _is_two_steps(op)]
        for op in found:
            with ir.InsertionPoint(op), op.location:
                replace(op, [arith.TruncFOp(op.results[0].type, to_odd_f32(op.operands[0])).result])
        return bool(found)


def to_odd_f32(value: ir.Value) -> ir.Value:
    """f64 as f32, of its two neighbours the odd one if it is neither: rounded again, it is rounded once.

    (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums".)
    """
    f32, i32 = (_like(value.type, kind) for kind in (ir.F32Type.get(), ir.IntegerType.get_signless(32)))
    narrow = arith.TruncFOp(f32, value).result
    wide = arith.ExtFOp(value.type, narrow).result
    inexact = arith.CmpFOp(arith.CmpFPredicate.ONE, wide, value).result
    beyond = arith.CmpFOp(arith.CmpFPredicate.OGT, math.AbsFOp(wide).result, math.AbsFOp(value).result).result
    bits = arith.BitcastOp(i32, narrow).result
    toward_zero = arith.SubIOp(bits, arith.ExtUIOp(i32, beyond).result).result
    odd = arith.OrIOp(toward_zero, arith.ExtUIOp(i32, inexact).result).result
    return arith.BitcastOp(f32, odd).result


def _is_two_steps(op: ir.Operation) -> bool:
    source, target = (_element(value.type) for value in (op.operands[0], op.results[0]))
    return isinstance(source, ir.F64Type) and isinstance(target, ir.F16Type | ir.BF16Type)


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.ShapedType) else kind


def _like(kind: ir.Type, element: ir.Type) -> ir.Type:
    """`element`, in a vector or tensor where `kind` is one."""
    if isinstance(kind, ir.VectorType):
        return ir.VectorType.get(list(kind.shape), element)
    if isinstance(kind, ir.RankedTensorType):
        return ir.RankedTensorType.get(list(kind.shape), element)
    return element
