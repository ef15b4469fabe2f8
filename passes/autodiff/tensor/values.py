"""Tensors, scalars and index arithmetic, made at the current insertion point.

Index arithmetic takes and gives `int` where a number is known, so that static programs stay static.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from mlir import ir
from mlir.dialects import arith, linalg, tensor

Index = Union[int, ir.Value]


def element(type: ir.Type) -> ir.Type:
    """The element type of a tensor; a scalar's type is its own."""
    return type.element_type if isinstance(type, ir.RankedTensorType) else type


def is_float(type: ir.Type) -> bool:
    return isinstance(element(type), ir.FloatType)


def is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def constant(type: ir.Type, number: float) -> ir.Value:
    """A float, or an integer of as much."""
    return arith.constant(type, number if isinstance(type, ir.FloatType) else int(number))


def known(value: ir.Value) -> Index:
    """The number, where the value is an integer constant."""
    if isinstance(value.owner, ir.Operation | ir.OpView) and value.owner.operation.name == "arith.constant":
        attribute = value.owner.operation.attributes["value"]
        if isinstance(attribute, ir.IntegerAttr):
            return attribute.value
    return value


def index(number: Index) -> ir.Value:
    return arith.constant(ir.IndexType.get(), number) if isinstance(number, int) else number


def as_index(value: ir.Value) -> Index:
    """An integer of any type as an index."""
    number = known(value)
    if isinstance(number, int) or isinstance(number.type, ir.IndexType):
        return number
    return arith.index_cast(ir.IndexType.get(), number)


def plus(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int) and a == 0:
        return b
    return a if isinstance(b, int) and b == 0 else arith.addi(index(a), index(b))


def minus(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return a if isinstance(b, int) and b == 0 else arith.subi(index(a), index(b))


def times(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if isinstance(a, int) and a == 1:
        return b
    return a if isinstance(b, int) and b == 1 else arith.muli(index(a), index(b))


def divided(a: Index, b: Index) -> Index:
    """a / b without rest; both are not negative."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    return a if isinstance(b, int) and b == 1 else arith.divsi(index(a), index(b))


def smaller(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return arith.minsi(index(a), index(b))


def at_least_zero(a: Index) -> Index:
    return max(a, 0) if isinstance(a, int) else arith.maxsi(a, index(0))


def empty(sizes: Sequence[Index], type: ir.Type) -> ir.Value:
    return tensor.empty([s if isinstance(s, int) else index(s) for s in sizes], type)


def sizes_of(value: ir.Value) -> list[Index]:
    """The shape, dynamic sizes as values."""
    dynamic = ir.ShapedType.get_dynamic_size()
    return [tensor.dim(value, index(d)) if n == dynamic else n for d, n in enumerate(shape(value))]


def empty_like(value: ir.Value) -> ir.Value:
    return empty(sizes_of(value), element(value.type))


def full(sizes: Sequence[Index], type: ir.Type, number: float) -> ir.Value:
    return linalg.fill(constant(type, number), outs=[empty(sizes, type)])


def zeros_like(value: ir.Value) -> ir.Value:
    """Zero in the type of `value`, which is read for dynamic sizes only."""
    if not is_tensor(value):
        return constant(value.type, 0.0)
    return full(sizes_of(value), element(value.type), 0.0)


def affine(dims: int, results: Sequence[ir.AffineExpr]) -> ir.AffineMap:
    return ir.AffineMap.get(dims, 0, list(results))


def identity_map(rank: int) -> ir.AffineMap:
    return ir.AffineMap.get_identity(rank)
