"""Atomics on floats as loops of compare and exchange, for devices that have them on integers only."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.reduction import combine


def change_bits(op: ir.Operation, place: list[ir.Value]) -> ir.Value:
    """What an atomic on floats gives, where `place` is (memory of integers, index). Made where the builder stands."""
    real = op.operands[0].type
    bits = ir.IntegerType.get_signless(real.width)
    if op.name == "kern.atomic_cas":
        expected, desired = list(op.operands)[:2]
        old = _cas(_cast(expected, bits), _cast(desired, bits), place)
        return _cast(old, real)
    value = op.operands[0]
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
