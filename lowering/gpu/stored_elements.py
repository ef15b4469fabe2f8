"""How an element lies in the memory of a device: types that the device does not have are integers or words there."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from pykern.lowering.gpu.integer_elements import word_of


def stored_as(element: ir.Type, words: bool = False) -> ir.Type:
    """What an element is in memory; with `words`, the integer that atomics change it in."""
    if words:
        return word_of(element)
    if isinstance(element, ir.IndexType):
        return ir.IntegerType.get_signless(64)
    if isinstance(element, ir.IntegerType) and element.width == 1:
        return ir.IntegerType.get_signless(8)
    if isinstance(element, ir.BF16Type):
        return ir.IntegerType.get_signless(element.width)
    return element


def to_memory(value: ir.Value, stored: ir.Type) -> ir.Value:
    if value.type == stored:
        return value
    if isinstance(value.type, ir.IndexType):
        return arith.IndexCastOp(stored, value).result
    if isinstance(value.type, ir.FloatType):
        return arith.BitcastOp(stored, value).result
    return arith.ExtUIOp(stored, value).result


def from_memory(value: ir.Value, element: ir.Type) -> ir.Value:
    if value.type == element:
        return value
    if isinstance(element, ir.IndexType):
        return arith.IndexCastOp(element, value).result
    if isinstance(element, ir.FloatType):
        return arith.BitcastOp(element, value).result
    zero = arith.ConstantOp(value.type, 0).result
    return arith.CmpIOp(arith.CmpIPredicate.ne, value, zero).result
