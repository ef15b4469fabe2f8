"""The adjoint of scf.if: a reverse if on the same condition, whose branches recompute what they read."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import scf

from pykern.passes.autodiff.raised.block import ReverseBlock
from pykern.passes.autodiff.raised.clone import free_values, terminator_operands
from pykern.passes.autodiff.raised.cotangents import Cotangents
from pykern.passes.autodiff.raised.gates import everywhere
from pykern.passes.autodiff.raised.scope import Scope


def reverse_if(op: ir.Operation, scope: Scope, cotangents: Cotangents, block: ReverseBlock) -> None:
    """It returns the new cotangents of every outer value the branches read."""
    gates = [cotangents.gate(result) for result in op.results]
    flowing = [cotangents.take(result) for result in op.results]
    outer = [value for value in free_values(op, nested_only=True) if value in cotangents.varied]
    condition = scope.value(op.operands[0])
    alone = [not cotangents.any([value]) for value in outer]
    held = [cotangents.take_or_zero(value, scope) for value in outer]
    reached: list[list[bool]] = []
    made = scf.IfOp(condition, [value.type for value in outer], has_else=True)
    scope.anchor = made.operation
    for region, written in zip(op.regions, (made.then_block, made.else_block), strict=True):
        primal = region.blocks[0]
        inner, inside = Scope(primal, written, scope), Cotangents(cotangents.varied)
        with inner.here:
            for value, cotangent in zip(outer, held, strict=True):
                inside.add(value, cotangent)
            for value, cotangent, gate in zip(terminator_operands(primal), flowing, gates, strict=True):
                inside.add(value, cotangent, gate)
            block(inner, inside)
            given = [inside.take_or_zero(value, inner) for value in outer]
            reached.append([new != old for new, old in zip(given, held, strict=True)])
            scf.YieldOp(given)
        inside.check_all_taken()
    scope.anchor = None
    for k, (value, result) in enumerate(zip(outer, made.results, strict=True)):
        taken, other = (side[k] for side in reached)
        one_side = alone[k] and taken != other  # what flows to it flows under this condition alone
        cotangents.add(value, result, everywhere(condition, value, taken) if one_side else None)
