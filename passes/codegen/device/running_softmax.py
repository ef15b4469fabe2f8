"""One step of a softmax whose scores come block by block.

Comes in: scores, and the largest one so far. Goes out: powers that are at most 1, and by how much sums of earlier
powers are too large.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith
from mlir.dialects import math as math_dialect

from pykern.dialect import attributes as kern
from pykern.passes.ir.constants import constant


def larger(a: ir.Value, b: ir.Value) -> ir.Value:
    """`a` where it is larger, else `b`: a NaN in `a` is passed over, it comes into the sum."""
    is_larger = arith.CmpFOp(arith.CmpFPredicate.OGT, a, b).result
    return arith.SelectOp(is_larger, a, b).result


def subtracted(top: ir.Value) -> ir.Value:
    """What is taken off scores whose largest is `top`: 0 where all of them are -inf, which then stay so."""
    low, nothing = constant(top.type, float("-inf")), constant(top.type, 0)
    is_low = arith.CmpFOp(arith.CmpFPredicate.OEQ, top, low).result
    return arith.SelectOp(is_low, nothing, top).result


def power(score: ir.Value, base: ir.Value | None, rounded: bool = False) -> ir.Value:
    """`exp(score - base)`; None: nothing is taken off. Of an earlier maximum it is what its powers are scaled by.

    `rounded`: it is rounded to 16 bits afterwards, so that the device's quick function will do, and where something is
    taken off, there are powers beside which a subnormal number is nothing.
    """
    if base is not None:
        score = arith.SubFOp(score, base).result
    flags = ir.Attribute.parse("#arith.fastmath<afn>") if rounded else None
    made = math_dialect.ExpOp(score, fastmath=flags)
    if rounded and base is not None:
        made.operation.attributes[kern.FLUSHED] = ir.UnitAttr.get()
    return made.result
