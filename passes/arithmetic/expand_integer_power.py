"""Powers with an integer exponent become loops in place, for machines that call no functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class ExpandIntegerPower(Pass):
    """Write math.ipowi and math.fpowi out: square, and multiply where the exponent has a bit.

    In:  ipowi and fpowi of scalars. Out: scf.while. An integer to a negative power is 0, but for 1 and -1.
    """

    name: ClassVar[str] = "kern-expand-integer-power"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "math.ipowi", "math.fpowi"):
            with ir.InsertionPoint(op), op.location:
                replace(op, [_integer(op) if op.name == "math.ipowi" else _real(op)])


def _constant(kind: ir.Type, value: int) -> ir.Value:
    attribute = (
        ir.FloatAttr.get(kind, value) if isinstance(kind, ir.FloatType) else ir.IntegerAttr.get(kind, value)
    )
    return arith.ConstantOp(kind, attribute).result


def _integer(op: ir.Operation) -> ir.Value:
    base, exponent = op.operands
    kind = exponent.type
    zero, one = _constant(kind, 0), _constant(kind, 1)
    power = _loop(base, exponent)
    minus = _constant(base.type, -1)
    odd = arith.CmpIOp(arith.CmpIPredicate.ne, arith.AndIOp(exponent, one).result, zero).result
    unit = _constant(base.type, 1)
    of_minus_one = arith.SelectOp(odd, minus, unit).result
    is_minus = arith.CmpIOp(arith.CmpIPredicate.eq, base, minus).result
    is_one = arith.CmpIOp(arith.CmpIPredicate.eq, base, unit).result
    inverse = arith.SelectOp(is_minus, of_minus_one, _constant(base.type, 0)).result
    inverse = arith.SelectOp(is_one, unit, inverse).result
    negative = arith.CmpIOp(arith.CmpIPredicate.slt, exponent, zero).result
    return arith.SelectOp(negative, inverse, power).result


def _real(op: ir.Operation) -> ir.Value:
    base, exponent = op.operands
    zero = _constant(exponent.type, 0)
    negative = arith.CmpIOp(arith.CmpIPredicate.slt, exponent, zero).result
    size = arith.SelectOp(negative, arith.SubIOp(zero, exponent).result, exponent).result
    power = _loop(base, size)
    inverse = arith.DivFOp(_constant(base.type, 1), power).result
    return arith.SelectOp(negative, inverse, power).result


def _loop(base: ir.Value, exponent: ir.Value) -> ir.Value:
    """``base ** exponent`` with the exponent's bits taken as unsigned."""
    kinds = [base.type, base.type, exponent.type]
    multiply = arith.MulFOp if isinstance(base.type, ir.FloatType) else arith.MulIOp
    loop = scf.WhileOp(kinds, [_constant(base.type, 1), base, exponent])
    before = loop.before.blocks.append(*kinds)
    after = loop.after.blocks.append(*kinds)
    with ir.InsertionPoint(before):
        left = before.arguments[2]
        more = arith.CmpIOp(arith.CmpIPredicate.ne, left, _constant(left.type, 0)).result
        scf.ConditionOp(more, list(before.arguments))
    with ir.InsertionPoint(after):
        result, square, left = after.arguments
        one = _constant(left.type, 1)
        bit = arith.CmpIOp(
            arith.CmpIPredicate.ne, arith.AndIOp(left, one).result, _constant(left.type, 0)
        ).result
        result = arith.SelectOp(bit, multiply(result, square).result, result).result
        scf.YieldOp([result, multiply(square, square).result, arith.ShRUIOp(left, one).result])
    return loop.results[0]
