"""What a reversed loop carries: adjoints, and gates where a choice in it, or behind it, closes some.

A loop that finds the greatest of several roots sends what flows to one iteration alone; the gate of what flows on to
the others goes around the loop as a bit. Gates that nobody reads in the end are taken out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.autodiff.rules.gates import Flow, chooses, gate_constant
from pykern.passes.kernels import find

_OF_GATES = ("arith.andi", "arith.ori", "arith.xori")


@dataclass(frozen=True)
class Carried:
    """`start`: what a reversed loop begins with: adjoints of some `types`, and as many gates if it is `gated`."""

    start: list[ir.Value]
    types: Sequence[ir.Type]
    gated: bool

    @classmethod
    def of(cls, flows: Sequence[Flow | None], types: Sequence[ir.Type], loop: ir.Operation) -> Carried:
        """For what flows to the results and to what the loop reads; None is nothing."""
        gated = any(f is not None and f.gate is not None for f in flows) or bool(find(loop, _chooses))
        empty = cls([], types, gated)
        return cls(empty.yielded(flows), types, gated)

    def flows(self, values: Sequence[ir.Value]) -> list[Flow]:
        """The arguments or results of the loop, as flows."""
        count = len(self.types)
        gates = values[count:] if self.gated else [None] * count
        return [Flow(value, gate) for value, gate in zip(values[:count], gates, strict=True)]

    def yielded(self, flows: Sequence[Flow | None]) -> list[ir.Value]:
        """Flows as values."""
        values = [_zero(t) if f is None else f.settled() for f, t in zip(flows, self.types, strict=True)]
        if not self.gated:
            return values
        return [
            *values,
            *(gate_constant(f is not None) if f is None or f.gate is None else f.gate for f in flows),
        ]


def drop_unread_gates(loop: ir.Operation) -> ir.Operation:
    """Take the gates out of a reversed loop that only make themselves."""
    block = loop.regions[0].blocks[0]
    end = block.operations[len(block.operations) - 1].operation
    bit = ir.IntegerType.get_signless(1)
    count = len(loop.results)
    slots = [k for k in range(count) if loop.results[k].type == bit]
    dead = {k for k in slots if next(iter(loop.results[k].uses), None) is None}
    while True:
        read = {k for k in dead if _is_read(block.arguments[k + 1], end, dead)}
        if not read:
            break
        dead -= read
    if not dead:
        return loop
    kept = [k for k in range(count) if k not in dead]
    with loop.location, ir.InsertionPoint(loop):
        operands = [*list(loop.operands)[:3], *(loop.operands[3 + k] for k in kept)]
        types = [loop.results[k].type for k in kept]
        made = ir.Operation.create("scf.for", results=types, operands=operands, regions=1)
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("scf.yield", operands=[end.operands[k] for k in kept])
    end.erase()
    with loop.location, ir.InsertionPoint.at_block_begin(block):
        never = gate_constant(False)
    for k in sorted(dead, reverse=True):
        block.arguments[k + 1].replace_all_uses_with(never)
        block.erase_argument(k + 1)
    block.append_to(made.regions[0])
    for k, result in zip(kept, made.results, strict=True):
        loop.results[k].replace_all_uses_with(result)
    loop.erase()
    return made


def _is_read(gate: ir.Value, end: ir.Operation, dead: set[int]) -> bool:
    """Whether something other than the loop's own dead gates depends on a gate."""
    waiting, seen = [gate], set()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            owner = use.owner.operation
            if owner == end:
                if use.operand_number not in dead:
                    return True
            elif owner.name in _OF_GATES:
                waiting.append(owner.results[0])
            else:
                return True
    return False


def _chooses(op: ir.Operation) -> bool:
    if op.name == "scf.if":
        return True
    return any(chooses(op, k) and isinstance(v.type, ir.FloatType) for k, v in enumerate(op.operands))


def _zero(kind: ir.Type) -> ir.Value:
    return arith.ConstantOp(kind, ir.FloatAttr.get(kind, 0.0)).result
