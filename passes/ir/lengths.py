"""Lengths and indices that are known, as `int`, or else values: arithmetic with what is known leaves no operations.

Comes in: numbers and values of the index type. Goes out: the same; operations are made at the insertion point, and
static programs stay static.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from mlir import ir
from mlir.dialects import tensor

from pykern.passes.kernels import index_arithmetic, index_constant

Number = Union[int, ir.Value]


def as_value(number: Number) -> ir.Value:
    """A value of the index type."""
    return index_constant(number) if isinstance(number, int) else number


def plus(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int) and a == 0:
        return b
    if isinstance(b, int) and b == 0:
        return a
    return index_arithmetic("addi", as_value(a), as_value(b))


def minus(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if isinstance(b, int) and b == 0:
        return a
    return index_arithmetic("subi", as_value(a), as_value(b))


def times(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if (isinstance(a, int) and a == 0) or (isinstance(b, int) and b == 0):
        return 0
    if isinstance(a, int) and a == 1:
        return b
    if isinstance(b, int) and b == 1:
        return a
    return index_arithmetic("muli", as_value(a), as_value(b))


def divided(a: Number, b: Number) -> Number:
    """`a / b` without rest, of numbers that are not negative."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if isinstance(b, int) and b == 1:
        return a
    return index_arithmetic("divsi", as_value(a), as_value(b))


def least(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return index_arithmetic("minsi", as_value(a), as_value(b))


def most(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return index_arithmetic("maxsi", as_value(a), as_value(b))


# -- shapes of tensors ----------------------------------------------------------------------------


def sizes_of(value: ir.Value) -> list[Number]:
    """The shape of a tensor, dynamic sizes as values."""
    kind = ir.RankedTensorType(value.type)
    return [
        tensor.dim(value, index_constant(d)) if kind.is_dynamic_dim(d) else length
        for d, length in enumerate(kind.shape)
    ]


def empty(sizes: Sequence[Number], element: ir.Type) -> ir.Value:
    """A new tensor, whose elements are anything."""
    return tensor.empty(list(sizes), element)


def empty_like(value: ir.Value) -> ir.Value:
    """A new tensor with the shape and the type of another."""
    return empty(sizes_of(value), ir.RankedTensorType(value.type).element_type)


def add_missing_lengths(
    inputs: list[ir.Value],
    reads: list[ir.AffineMap],
    others: Sequence[ir.AffineMap],
    lengths: Sequence[Number],
) -> None:
    """Add an empty tensor to the inputs of a `linalg.generic`, and its map, where none of the operands has a loop as an
    index by itself: else nothing says how long that loop is. `others` are the maps of the outputs."""
    told = {e.position for one in (*reads, *others) for e in one.results if isinstance(e, ir.AffineDimExpr)}
    untold = [loop for loop in range(len(lengths)) if loop not in told]
    if untold:
        inputs.append(empty([lengths[loop] for loop in untold], ir.F32Type.get()))
        reads.append(ir.AffineMap.get(len(lengths), 0, [ir.AffineExpr.get_dim(loop) for loop in untold]))
