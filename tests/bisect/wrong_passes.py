"""Passes that change what a kernel computes."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from pykern.passes.kernels import find


def last_sum_becomes_a_difference(module: ir.Module) -> None:
    """`a + b` is `a - b` from now on, for the last sum of floats there is."""
    op = find(module.operation, lambda one: one.name == "arith.addf")[-1]
    with ir.InsertionPoint(op), op.location:
        op.results[0].replace_all_uses_with(arith.SubFOp(*op.operands).result)
    op.erase()


def stores_are_lost(module: ir.Module) -> None:
    """No element is written."""
    for op in find(module.operation, lambda one: one.name == "memref.store"):
        op.erase()
