"""Constants of numbers and of vectors."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith


def constant(kind: ir.Type, value: float) -> ir.Value:
    """A constant of a type of numbers; of a vector type one with `value` in all lanes."""
    element = ir.VectorType(kind).element_type if isinstance(kind, ir.VectorType) else kind
    attribute: ir.Attribute = (
        ir.FloatAttr.get(element, value)
        if isinstance(element, ir.FloatType)
        else ir.IntegerAttr.get(element, int(value))
    )
    if isinstance(kind, ir.VectorType):
        attribute = ir.DenseElementsAttr.get_splat(kind, attribute)
    return arith.ConstantOp(kind, attribute).result


def true() -> ir.Value:
    """The truth value that is true."""
    kind = ir.IntegerType.get_signless(1)
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, 1)).result
