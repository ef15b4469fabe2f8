"""Gates through memory: a cell of a shadow to which nothing flows holds minus zero (see `rules.gates`).

What is added to such a cell is never minus zero, unless nothing flows: minus zero and minus zero is minus zero, and
anything else with plus zero is no minus zero. So a shadow needs no second array for its gates, and additions stay
single atomics. Callers' shadows hold zeros of either sign: minus zero says that nothing flows there, too.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, math

from pykern.passes.autodiff.rules.gates import Flow, gate_constant
from pykern.passes.ir.constants import constant


def nothing(kind: ir.Type) -> ir.Value:
    """The value of a shadow cell without a cotangent: minus zero."""
    return constant(kind, -0.0)


def to_cell(flow: Flow) -> ir.Value:
    """The number to add to a shadow cell: minus zero where the gate is closed, and only there."""
    zero = constant(flow.value.type, 0.0)
    value = arith.AddFOp(flow.value, zero).result
    if flow.gate is None:
        return value
    return arith.SelectOp(flow.gate, value, nothing(flow.value.type)).result


def from_cell(value: ir.Value) -> Flow:
    """The flow that a shadow cell holds, with its gate."""
    return Flow(value, is_open(value))


def is_open(value: ir.Value) -> ir.Value:
    """Whether anything flows, by the value of a cell. In ops that have rules of differentiation."""
    zero, one = (constant(value.type, n) for n in (0.0, 1.0))
    sign = math.CopySignOp(one, value).result
    is_zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, value, zero).result
    is_minus = arith.CmpFOp(arith.CmpFPredicate.OLT, sign, zero).result
    return arith.XOrIOp(arith.AndIOp(is_zero, is_minus).result, gate_constant(True)).result
