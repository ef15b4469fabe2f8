"""Parts of vectors, and masks, in ops that become LLVM's one to one: no pass has to look for others."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, vector


def part(value: ir.Value, start: int, count: int) -> ir.Value:
    """`count` elements of a vector from `start` on."""
    return vector.ShuffleOp(value, value, list(range(start, start + count))).result


def first_lanes(count: int, width: int) -> ir.Value:
    """A mask that is true for the first `count` of `width` elements."""
    truth = ir.VectorType.get([width], ir.IntegerType.get_signless(1))
    elements: list[ir.Attribute] = [ir.BoolAttr.get(n < count) for n in range(width)]
    return arith.ConstantOp(truth, ir.DenseElementsAttr.get(elements, truth)).result
