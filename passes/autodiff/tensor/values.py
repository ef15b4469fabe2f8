"""Tensors and scalars, made at the current insertion point. Read first: `pykern.passes.ir.lengths`."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, linalg

from pykern.passes.ir.lengths import Number, empty, sizes_of
from pykern.passes.kernels import is_constant


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


def known(value: ir.Value) -> Number:
    """The number, where the value is an integer constant."""
    number = is_constant(value)
    return value if number is None else number


def as_index(value: ir.Value) -> Number:
    """An integer of any type as an index."""
    number = known(value)
    if isinstance(number, int) or isinstance(number.type, ir.IndexType):
        return number
    return arith.index_cast(ir.IndexType.get(), number)


def full(sizes: Sequence[Number], type: ir.Type, number: float) -> ir.Value:
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
