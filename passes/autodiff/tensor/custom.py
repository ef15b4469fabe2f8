"""Calls of functions that bring their own derivative, in reverse mode.

What the user wrote is called: forward for what is kept, backward for the cotangents; of a function with rules
(`kern.rules`) the one for reverse mode, which needs only the results. The cotangents of results come
with gates (`gates`), those of the operands have what follows from how backward computes them: element by element, they
have the gates of the elements; otherwise they are open if anything flows to a result.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, func, tensor

from pykern.dialect import attributes as kern
from pykern.passes.autodiff.rules import table
from pykern.passes.autodiff.rules.gates import gate_constant
from pykern.passes.autodiff.tensor import gates
from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output, elementwise
from pykern.passes.autodiff.tensor.cotangents import Cotangents
from pykern.passes.autodiff.tensor.gates import Gate, MaybeGate, as_bit, closed, everywhere
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.values import affine, constant, is_float, is_tensor
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.structured import Structured, is_structured
from pykern.passes.ir.values import defining, free_values


def reverse_custom(
    op: ir.Operation, callee: func.FuncOp, pair: Sequence[func.FuncOp], scope: Scope, cotangents: Cotangents
) -> None:
    """Add what backward says flows from the results of the call `op` to its operands."""
    forward, backward = pair
    given = func.CallOp(forward, [scope.value(v) for v in op.operands])
    kept = list(given.results)[len(op.results) :]
    flows = [cotangents.any([r]) for r in op.results]
    closing = [cotangents.gate(r) for r in op.results]
    seeds = [cotangents.take_or_zero(r, scope) for r in op.results]
    flowing = list(func.CallOp(backward, [*kept, *seeds]).results)
    places = ir.DenseI64ArrayAttr(callee.operation.attributes[kern.GRADIENTS])
    inner = list(backward.arguments)[len(kept) :]
    taken = {one: gate for one, gate, some in zip(inner, closing, flows, strict=True) if some}
    for operand, place in zip(op.operands, places, strict=True):
        if place >= 0 and is_float(operand.type):
            result = flowing[place]
            gate = _gate(backward, place, taken, result)
            cotangents.add(operand, result if gate is None else _cut(gate, result), gate)


def reverse_by_rule(op: ir.Operation, rule: func.FuncOp, scope: Scope, cotangents: Cotangents) -> None:
    """Add what the rule says flows from the results of the call `op` to its operands, all of floats."""
    given = [scope.value(v) for v in (*op.operands, *op.results)]
    flows = [cotangents.any([r]) for r in op.results]
    closing = [cotangents.gate(r) for r in op.results]
    seeds = [cotangents.take_or_zero(r, scope) for r in op.results]
    flowing = func.CallOp(rule, [*given, *seeds]).results
    inner = list(rule.arguments)[len(given) :]
    taken = {one: gate for one, gate, some in zip(inner, closing, flows, strict=True) if some}
    for place, (operand, result) in enumerate(zip(op.operands, flowing, strict=True)):
        gate = _gate(rule, place, taken, result)
        cotangents.add(operand, result if gate is None else _cut(gate, result), gate)


def _cut(gate: Gate, value: ir.Value) -> ir.Value:
    """`value`, zero where the gate is not open."""
    if not is_tensor(value):
        return arith.select(gate(), value, constant(value.type, 0.0))
    return elementwise(
        lambda open, one: arith.select(as_bit(open), one, constant(one.type, 0.0)), [gate(), value], value
    )


def _gate(backward: func.FuncOp, place: int, taken: dict[ir.Value, MaybeGate], result: ir.Value) -> MaybeGate:
    """Where anything flows to the gradient number `place`, from the gates of the seeds to which anything does."""
    if any(gate is None for gate in taken.values()) or not taken:
        return None
    read = _pointwise(terminator_operands(backward.entry_block)[place], list(taken))
    wanted = [gate for seed, gate in taken.items() if gate is not None and (read is None or seed in read)]
    if not wanted:
        return None
    if read is not None:
        total: MaybeGate = wanted[0]
        for gate in wanted[1:]:
            total = gates.either(total, gate)
        return total
    return lambda: everywhere(_some(wanted), result)()


def _pointwise(value: ir.Value, seeds: list[ir.Value]) -> set[ir.Value] | None:
    """The seeds of which an element of `value` reads the same element; None where it reads any other."""
    found: set[ir.Value] = set()
    waiting, seen = [value], {value}
    while waiting:
        one = waiting.pop()
        if one in seeds:
            if one.type != value.type:
                return None
            found.add(one)
            continue
        op = defining(one)
        if op is None:
            continue
        if not _same_elements(op) and _reads(op, seeds):
            return None
        more = [v for v in free_values(op) if v not in seen]
        seen.update(more)
        waiting += more
    return found


def _same_elements(op: ir.Operation) -> bool:
    """Whether an element of the result is made of the same elements of the operands, or of numbers."""
    if not is_structured(op):
        return table.has_rule(op) and not isinstance(op.results[0].type, ir.ShapedType)
    view = Structured(op)
    identity = ir.AffineMap.get_identity(view.loops)
    return not any(is_tensor(value) for value in view.captured) and all(
        map == identity for map, value in zip(view.maps, view.operands, strict=True) if is_tensor(value)
    )


def _reads(op: ir.Operation, seeds: list[ir.Value]) -> bool:
    """Whether what an op reads, itself or inside, is made of a seed."""
    waiting, seen = free_values(op), set()
    while waiting:
        value = waiting.pop()
        if value in seeds:
            return True
        made = defining(value)
        if made is not None and value not in seen:
            seen.add(value)
            waiting += free_values(made)
    return False


def _some(wanted: Sequence[Gate]) -> ir.Value:
    """Whether any of the gates is open anywhere, as a bit."""
    found = gate_constant(False)
    for gate in wanted:
        bits = gate()
        if is_tensor(bits):
            rank = ir.RankedTensorType(bits.type).rank
            builder = GenericBuilder(rank)
            with builder.body:
                part = builder.input(bits, ir.AffineMap.get_identity(rank))
            (total,) = builder.finish([Output(closed([]), affine(rank, []), part, accumulate=True)])
            bits = as_bit(tensor.extract(total, []))
        found = arith.ori(found, bits)
    return found
