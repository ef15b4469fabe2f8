"""The reverse of branches: what flows out of them to values from outside, and when.

A value that one side alone reads gets something where the condition took that side, and nothing elsewhere: that
condition is the gate of what flows on (`rules.gates`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith

from pykern.passes.autodiff.rules.expression import flow_type
from pykern.passes.autodiff.rules.gates import Flow, gate_constant

if TYPE_CHECKING:
    from pykern.passes.autodiff.kernel.sweep import Sweep


def both_branches(
    sweep: Sweep,
    condition: ir.Value,
    outside: Sequence[ir.Value],
    side: Callable[[int, ir.Block], None],
    location: ir.Location,
) -> None:
    """An scf.if on `condition`, behind which `sweep.adjoints` has what flows to `outside`.

    ``side(number, block)`` fills its block, with adjoints of its own.
    """
    outer = sweep.adjoints
    holder = ir.Operation.create("scf.if", operands=[condition], regions=2, loc=location)
    ends: list[dict[ir.Value, Flow]] = []
    blocks: list[ir.Block] = []
    for number, region in enumerate(holder.regions):
        block = region.blocks.append()
        with ir.InsertionPoint(block), location:
            sweep.adjoints = {}
            side(number, block)
        ends.append(sweep.adjoints)
        blocks.append(block)
    flowing = [v for v in outside if any(v in end for end in ends)]
    inner = [v for v in flowing if any(v in end and end[v].gate is not None for end in ends)]
    for block, end in zip(blocks, ends, strict=True):
        with ir.InsertionPoint(block), location:
            sweep.adjoints = end
            values = [sweep.taken(v) for v in flowing]
            ir.Operation.create("scf.yield", operands=[*values, *(_opening(end.get(v)) for v in inner)])
    bit = ir.IntegerType.get_signless(1)
    types = [flow_type(v.type) for v in flowing] + [bit] * len(inner)
    made = ir.Operation.create("scf.if", results=types, operands=[condition], regions=2, loc=location)
    for block, region in zip(blocks, made.regions, strict=True):
        block.append_to(region)
    holder.erase()
    sweep.adjoints = outer
    gates = dict(zip(inner, list(made.results)[len(flowing) :], strict=True))
    for v, result in zip(flowing, made.results, strict=False):
        gate = gates.get(v)
        if gate is None and not all(v in end for end in ends):
            gate = condition if v in ends[0] else arith.XOrIOp(condition, gate_constant(True)).result
        sweep.add(v, Flow(result, gate))


def _opening(flow: Flow | None) -> ir.Value:
    """Whether anything flows, as a value."""
    return gate_constant(flow is not None) if flow is None or flow.gate is None else flow.gate
