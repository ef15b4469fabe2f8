"""Atomics on floats as loops of compare and exchange, for devices that have them on integers only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace
from pykern.passes.reduction import combine


@dataclass(frozen=True)
class ExpandFloatAtomics(Pass):
    """Change floats by the integers they are kept as.

    In:  flat kernels; memory of floats that atomics change is memory of integers (`kern-flatten-memory`).
    Out: kern.atomic_rmw and kern.atomic_cas on integers alone.
    """

    name: ClassVar[str] = "kern-expand-float-atomics"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            for op in named(kernel, "kern.atomic_rmw", "kern.atomic_cas"):
                if isinstance(op.operands[0].type, ir.FloatType):
                    with ir.InsertionPoint(op), op.location:
                        replace(op, [_expanded(op)])


def _expanded(op: ir.Operation) -> ir.Value:
    real = op.operands[0].type
    bits = ir.IntegerType.get_signless(real.width)
    if op.name == "kern.atomic_cas":
        expected, desired, *place = op.operands
        old = _cas(_cast(expected, bits), _cast(desired, bits), place)
        return _cast(old, real)
    value, *place = op.operands
    kind = ir.StringAttr(op.attributes["kind"]).value
    if kind == "exchange":
        attributes = {"kind": op.attributes["kind"]}
        made = ir.Operation.create(
            op.name, results=[bits], operands=[_cast(value, bits), *place], attributes=attributes
        )
        return _cast(made.result, real)
    return _cast(_loop(kind, value, real, bits, place), real)


def _loop(kind: str, value: ir.Value, real: ir.Type, bits: ir.Type, place: list[ir.Value]) -> ir.Value:
    """Until nobody came between; gives the bits that were there."""
    first = memref.LoadOp(place[0], place[1:]).result
    loop = scf.WhileOp([bits], [first])
    before = loop.before.blocks.append(bits)
    after = loop.after.blocks.append(bits)
    with ir.InsertionPoint(before):
        old = before.arguments[0]
        changed = _combined(kind, _cast(old, real), value)
        seen = _cas(old, _cast(changed, bits), place)
        missed = arith.CmpIOp(arith.CmpIPredicate.ne, seen, old).result
        scf.ConditionOp(missed, [seen])
    with ir.InsertionPoint(after):
        scf.YieldOp([after.arguments[0]])
    return loop.results[0]


def _combined(kind: str, old: ir.Value, value: ir.Value) -> ir.Value:
    return arith.SubFOp(old, value).result if kind == "sub" else combine(kind, old, value)


def _cas(expected: ir.Value, desired: ir.Value, place: list[ir.Value]) -> ir.Value:
    return ir.Operation.create(
        "kern.atomic_cas", results=[expected.type], operands=[expected, desired, *place]
    ).result


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    return value if value.type == kind else arith.BitcastOp(kind, value).result
