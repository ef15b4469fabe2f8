"""The exact remainder of floats, for machines whose own divides, truncates and subtracts."""

from __future__ import annotations

import math as numbers

from mlir import ir
from mlir.dialects import arith, math, scf


def real_remainder(op: ir.Operation) -> ir.Value:
    """``fmod(x, y)`` of an arith.remf, made where the builder stands: long division, one bit a step.

    Every difference and every doubling is exact; at most as many steps as the exponents are apart.
    """
    x, y = op.operands
    kind = x.type
    rest, divisor = math.AbsFOp(x).result, math.AbsFOp(y).result
    infinity, zero, one = _constant(kind, numbers.inf), _constant(kind, 0.0), _constant(kind, 1.0)
    finite = _compare("OLT", rest, infinity)
    usual = arith.AndIOp(
        arith.AndIOp(finite, _compare("OGT", divisor, zero)).result, _compare("OLT", divisor, infinity)
    ).result
    start = arith.SelectOp(usual, rest, zero).result
    step = arith.SelectOp(usual, divisor, one).result
    found = math.CopySignOp(_long_division(start, step), x).result
    itself = arith.AndIOp(finite, _compare("OEQ", divisor, infinity)).result
    invalid = _constant(kind, numbers.nan)
    return arith.SelectOp(usual, found, arith.SelectOp(itself, x, invalid).result).result


def _long_division(rest: ir.Value, divisor: ir.Value) -> ir.Value:
    """`rest` reduced by multiples of `divisor`, the largest first."""
    kind = rest.type
    up = scf.WhileOp([kind], [divisor])
    before, after = up.before.blocks.append(kind), up.after.blocks.append(kind)
    with ir.InsertionPoint(before):
        twice = arith.AddFOp(before.arguments[0], before.arguments[0]).result
        scf.ConditionOp(_compare("OLE", twice, rest), [before.arguments[0]])
    with ir.InsertionPoint(after):
        scf.YieldOp([arith.AddFOp(after.arguments[0], after.arguments[0]).result])
    down = scf.WhileOp([kind, kind], [up.results[0], rest])
    before, after = down.before.blocks.append(kind, kind), down.after.blocks.append(kind, kind)
    with ir.InsertionPoint(before):
        scf.ConditionOp(_compare("OGE", before.arguments[0], divisor), list(before.arguments))
    with ir.InsertionPoint(after):
        multiple, left = after.arguments
        less = arith.SubFOp(left, multiple).result
        left = arith.SelectOp(_compare("OGE", left, multiple), less, left).result
        scf.YieldOp([arith.MulFOp(multiple, _constant(kind, 0.5)).result, left])
    return down.results[1]


def _compare(predicate: str, a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.CmpFOp(arith.CmpFPredicate[predicate], a, b).result


def _constant(kind: ir.Type, value: float) -> ir.Value:
    return arith.ConstantOp(kind, ir.FloatAttr.get(kind, value)).result
