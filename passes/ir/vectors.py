"""Constants, parts of vectors, and masks, in ops that become LLVM's one to one: no pass has to look for others."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, vector


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


def part(value: ir.Value, start: int, count: int) -> ir.Value:
    """`count` elements of a vector from `start` on."""
    return vector.ShuffleOp(value, value, list(range(start, start + count))).result


def first_lanes(count: int, width: int) -> ir.Value:
    """A mask that is true for the first `count` of `width` elements."""
    truth = ir.VectorType.get([width], ir.IntegerType.get_signless(1))
    elements: list[ir.Attribute] = [ir.BoolAttr.get(n < count) for n in range(width)]
    return arith.ConstantOp(truth, ir.DenseElementsAttr.get(elements, truth)).result
