"""A loop that runs over what is left of a range below and above the part that another loop takes.

Comes in: the loop, and the two ends. Goes out: an outer loop of two iterations around it, so that its code is there
once. `delinearise` leaves parts of rows so, and `split_edges` the cells at the edges of an array.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes.kernels import index_constant

Range = tuple[ir.Value, ir.Value]
"""Where it begins, and where it ends."""


def run_at_both_ends(loop: ir.Operation, low: Range, high: Range) -> ir.Operation:
    """Move `loop` into a new loop at the insertion point, whose iterations let it run over `low`, then over `high`."""
    zero, one, two = map(index_constant, (0, 1, 2))
    around = scf.ForOp(zero, two, one)
    with ir.InsertionPoint(around.body):
        is_low = arith.CmpIOp(arith.CmpIPredicate.eq, around.induction_variable, zero).result
        begin, end = (arith.SelectOp(is_low, *bounds).result for bounds in zip(low, high, strict=True))
        terminator = scf.YieldOp([]).operation
    loop.move_before(terminator)
    loop.operands[0], loop.operands[1] = begin, end
    return around.operation
