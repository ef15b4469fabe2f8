"""Where an operand of a linalg.generic is read: sums of dimensions, and the window that a part of them touches.

Comes in: indexing maps. Goes out: `Access`, which can be evaluated, cut down to a window of the operand, and
turned back into a map. Everything here is linear: `d0 + 2 * d3 + 1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.ir.lengths import Number, as_value, plus, times
from pykern.passes.kernels import index_constant

DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class Sum:
    """`constant` and factors times dimensions."""

    factors: tuple[tuple[int, int], ...]
    """Pairs of dimension and factor."""
    constant: int = 0

    @property
    def dimensions(self) -> set[int]:
        return {d for d, _ in self.factors}

    @property
    def loops(self) -> list[int]:
        """The dimensions that it changes with, in order."""
        return sorted(d for d, factor in self.factors if factor)

    @property
    def descends(self) -> bool:
        """Whether it falls along a dimension."""
        return any(factor < 0 for _, factor in self.factors)

    def factor(self, dimension: int) -> int:
        return dict(self.factors).get(dimension, 0)

    def is_dimension(self) -> bool:
        return self.constant == 0 and len(self.factors) == 1 and self.factors[0][1] == 1

    def at(self, values: Mapping[int, Number]) -> Number:
        """The sum for values of the dimensions; those that are not there are 0."""
        total: Number = self.constant
        for dimension, factor in self.factors:
            total = plus(total, times(values.get(dimension, 0), factor))
        return total

    def expression(self, places: Mapping[int, int]) -> ir.AffineExpr:
        """The sum over dimensions that are numbered anew, without its constant."""
        total: ir.AffineExpr = ir.AffineConstantExpr.get(0)
        for dimension, factor in self.factors:
            if dimension in places:
                total = total + ir.AffineDimExpr.get(places[dimension]) * factor
        return total


@dataclass(frozen=True)
class Access:
    """One `Sum` for each index of an operand."""

    sums: tuple[Sum, ...]

    @property
    def dimensions(self) -> set[int]:
        return {d for s in self.sums for d in s.dimensions}

    @property
    def descends(self) -> bool:
        """Whether an index falls along a dimension: there is no window of such a part."""
        return any(s.descends for s in self.sums)

    def place(self, values: Mapping[int, Number]) -> list[ir.Value]:
        """Indices for a load."""
        return [as_value(s.at(values)) for s in self.sums]

    def map(self, places: Mapping[int, int]) -> ir.AffineMap:
        """A map over `len(places)` dimensions; dimension `d` is number `places[d]` in it."""
        return ir.AffineMap.get(len(places), 0, [s.expression(places) for s in self.sums])

    def stride(self, dimension: int, strides: list[int]) -> int:
        """Elements from one iteration of a dimension to the next."""
        return sum(s.factor(dimension) * stride for s, stride in zip(self.sums, strides, strict=True))


def access_of(affine: ir.AffineMap) -> Access | None:
    """The map as sums; None where it is not linear."""
    sums = [linear_form(e) for e in affine.results]
    return None if any(s is None for s in sums) else Access(tuple(s for s in sums if s is not None))


def linear_form(expression: ir.AffineExpr) -> Sum | None:
    """An index as a sum of dimensions; None for divisions and remainders."""
    if isinstance(expression, ir.AffineConstantExpr):
        return Sum((), expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return Sum(((expression.position, 1),))
    if isinstance(expression, ir.AffineAddExpr):
        left, right = linear_form(expression.lhs), linear_form(expression.rhs)
        if left is None or right is None:
            return None
        factors = dict(left.factors)
        for dimension, factor in right.factors:
            factors[dimension] = factors.get(dimension, 0) + factor
        return Sum(tuple(factors.items()), left.constant + right.constant)
    if isinstance(expression, ir.AffineMulExpr):
        left, right = linear_form(expression.lhs), linear_form(expression.rhs)
        if left is None or right is None or (left.factors and right.factors):
            return None
        if left.factors:
            left, right = right, left
        by = left.constant
        return Sum(tuple((d, f * by) for d, f in right.factors), right.constant * by)
    return None


def window(value: ir.Value, access: Access, ranges: Mapping[int, tuple[Number, Number]]) -> ir.Value:
    """The part of an operand that is touched where each dimension runs through (offset, length)."""
    kind = ir.MemRefType(value.type)
    offsets: list[Number] = []
    sizes: list[Number] = []
    for each in access.sums:
        offsets.append(each.at({d: ranges[d][0] for d in each.dimensions}))
        sizes.append(_size(each, ranges))
    if all(isinstance(o, int) and o == 0 for o in offsets) and sizes == list(kind.shape):
        return value
    strides, start = kind.get_strides_and_offset()
    constant = all(isinstance(o, int) for o in offsets) and start != DYNAMIC
    offset = start + sum(o * s for o, s in zip(offsets, strides, strict=True)) if constant else DYNAMIC
    shape = [s if isinstance(s, int) else DYNAMIC for s in sizes]
    layout = ir.StridedLayoutAttr.get(offset, list(strides))
    result = ir.MemRefType.get(shape, kind.element_type, layout)
    ones = [1] * len(sizes)
    return memref.subview(value, offsets, sizes, ones, result_type=result)


def _size(each: Sum, ranges: Mapping[int, tuple[Number, Number]]) -> Number:
    if each.is_dimension():
        return ranges[each.factors[0][0]][1]
    total = 1
    for dimension, factor in each.factors:
        length = ranges[dimension][1]
        if not isinstance(length, int):  # `factor * length` of elements: rows of tiles
            rest = sum(f * (_known(ranges[d][1]) - 1) for d, f in each.factors if d != dimension)
            return plus(times(length, factor), rest + 1 - factor)
        total += factor * (length - 1)
    return total


def _known(length: Number) -> int:
    assert isinstance(length, int), "one length of a sum may be dynamic"
    return length


def evaluate(expression: ir.AffineExpr, dimensions: dict[int, ir.Value]) -> ir.Value:
    """An affine expression for values of the dimensions, as arithmetic."""
    if isinstance(expression, ir.AffineDimExpr):
        return dimensions[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return index_constant(expression.value)
    binary = {
        ir.AffineAddExpr: arith.AddIOp,
        ir.AffineMulExpr: arith.MulIOp,
        ir.AffineModExpr: arith.RemUIOp,
        ir.AffineFloorDivExpr: arith.DivUIOp,
    }
    left = evaluate(expression.lhs, dimensions)
    right = evaluate(expression.rhs, dimensions)
    return binary[type(expression)](left, right).result
