"""The adjoint of scf.if: a reverse if on the same condition, whose branches recompute what they read."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import scf

from pykern.passes.autodiff.raised.block import ReverseBlock
from pykern.passes.autodiff.raised.clone import free_values, terminator_operands
from pykern.passes.autodiff.raised.cotangents import Cotangents
from pykern.passes.autodiff.raised.scope import Scope


def reverse_if(op: ir.Operation, scope: Scope, cotangents: Cotangents, block: ReverseBlock) -> None:
    """It returns the new cotangents of every outer value the branches read."""
    flowing = [cotangents.take(result) for result in op.results]
    outer = [value for value in free_values(op, nested_only=True) if value in cotangents.varied]
    condition = scope.value(op.operands[0])
    held = [cotangents.take_or_zero(value, scope) for value in outer]
    made = scf.IfOp(condition, [value.type for value in outer], has_else=True)
    scope.anchor = made.operation
    for region, written in zip(op.regions, (made.then_block, made.else_block), strict=True):
        primal = region.blocks[0]
        inner, inside = Scope(primal, written, scope), Cotangents(cotangents.varied)
        with inner.here:
            for value, cotangent in zip(outer, held, strict=True):
                inside.add(value, cotangent)
            for value, cotangent in zip(terminator_operands(primal), flowing, strict=True):
                inside.add(value, cotangent)
            block(inner, inside)
            scf.YieldOp([inside.take_or_zero(value, inner) for value in outer])
        inside.check_all_taken()
    scope.anchor = None
    for value, result in zip(outer, made.results, strict=True):
        cotangents.add(value, result)
