"""The adjoint of scf.if: a reverse if on the same condition, whose branches recompute what they read."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import scf

from pykern.passes.autodiff.tensor.block import ReverseBlock
from pykern.passes.autodiff.tensor.cotangents import Cotangents, gate_of
from pykern.passes.autodiff.tensor.gates import MaybeGate, everywhere
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.values import free_values


def reverse_if(op: ir.Operation, scope: Scope, cotangents: Cotangents, block: ReverseBlock) -> None:
    """It returns the new cotangents of the outer values to which a branch sends something, and their gates."""
    gates = [cotangents.gate(result) for result in op.results]
    flowing = [cotangents.take(result) for result in op.results]
    outer = [value for value in free_values(op, nested_only=True) if value in cotangents.varied]
    condition = scope.value(op.operands[0])
    held = [(value, cotangents.gate(value), cotangents.take(value)) for value in outer]
    holder = ir.Operation.create("scf.if", operands=[condition], regions=2)
    scope.anchor = holder
    sides: list[tuple[Scope, Cotangents]] = []
    for region, written in zip(op.regions, holder.regions, strict=True):
        primal = region.blocks[0]
        inner = Scope(primal, written.blocks.append(), scope)
        inside = cotangents.inside()
        with inner.here:
            for value, gate, cotangent in held:
                inside.add(value, cotangent, gate)
            for value, cotangent, gate in zip(terminator_operands(primal), flowing, gates, strict=True):
                inside.add(value, cotangent, gate)
            block(inner, inside)
        sides.append((inner, inside))
    reached = [value for value in outer if any(inside.any([value]) for _, inside in sides)]
    closing = [value for value in reached if any(inside.gate(value) is not None for _, inside in sides)]
    alone = {value: side for value in reached if (side := _only_side(value, sides)) is not None}
    for inner, inside in sides:
        with inner.here:
            bits = [gate_of(value, inside, inner) for value in closing]
            scf.YieldOp([*(inside.take_or_zero(value, inner) for value in reached), *bits])
        inside.check_all_taken()
    ends = [list(end.operands) for inner, _ in sides for end in [inner.block.operations[-1].operation]]
    made = ir.Operation.create("scf.if", results=[v.type for v in ends[0]], operands=[condition], regions=2)
    for (inner, _), region in zip(sides, made.regions, strict=True):
        inner.block.append_to(region)
    scope.anchor = None
    holder.erase()
    results = list(made.results)
    carried = {v: lambda bits=bits: bits for v, bits in zip(closing, results[len(reached) :], strict=True)}
    for value, result in zip(reached, results, strict=False):
        gate: MaybeGate = carried.get(value)
        if gate is None and value in alone:  # what flows to it flows under this condition alone
            gate = everywhere(condition, value, alone[value] == 0)
        cotangents.add(value, result, gate)


def _only_side(value: ir.Value, sides: list[tuple[Scope, Cotangents]]) -> int | None:
    """The number of the branch that sends something to `value`, where the other does not."""
    found = [number for number, (_, inside) in enumerate(sides) if inside.any([value])]
    return found[0] if len(found) == 1 else None
