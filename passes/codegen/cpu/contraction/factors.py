"""A factor of a contraction inside of a function: its elements as they are multiplied.

Comes in: a `Product`, which factor, and what a value of the program is in the function. Goes out: elements and vectors,
loaded, made by the factor's `Prologue` where it has one, and converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mlir import ir
from mlir.dialects import arith, memref, vector

from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.ir.affine import Access
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, plus
from pykern.passes.ir.vectors import first_lanes


class Factor:
    """Left (0) or right (1)."""

    def __init__(self, product: Product, number: int, inside: Callable[[ir.Value], ir.Value]) -> None:
        self.product, self.number = product, number
        self.prologue = product.prologues[number]
        if self.prologue is None:
            source = product.view(number, inside(product.operand(number)))
            self.operands: list[tuple[ir.Value, Access | None]] = [(source, product.accesses[number])]
            return
        self.operands = [(inside(v), access) for v, access in self.prologue.operands]
        self.captured = [inside(v) for v in self.prologue.captured]

    def element(self, at: Mapping[int, Number]) -> ir.Value:
        """One element."""
        loaded = [v if a is None else memref.LoadOp(v, a.place(at)).result for v, a in self.operands]
        return self._made(loaded, 0)

    def vector(self, at: Mapping[int, Number], along: int, width: int, count: int = 0) -> ir.Value:
        """`width` elements along a dimension; of the last ones `count`, and zeros behind them."""
        count, mask = count or width, None
        if count < width:
            mask = first_lanes(count, width)
        loaded = [v if a is None else _loaded(v, a, at, along, count, mask, width) for v, a in self.operands]
        value = self._made(loaded, width)
        if mask is not None and self.prologue is not None:
            value = arith.SelectOp(mask, value, constant(value.type, 0)).result
        return value

    def _made(self, loaded: list[ir.Value], lanes: int) -> ir.Value:
        value = loaded[0]
        if self.prologue is not None:
            value = self.prologue.element([*loaded, *self.captured], lanes)
        return self.product.converted(self.number, value)


def _loaded(
    value: ir.Value,
    access: Access,
    at: Mapping[int, Number],
    along: int,
    count: int,
    mask: ir.Value | None,
    width: int,
) -> ir.Value:
    """Elements along a dimension, `count` of them and zeros up to `width`; one, where they are all the same."""
    kind = ir.VectorType.get([width], ir.MemRefType(value.type).element_type)
    strides, _ = ir.MemRefType(value.type).get_strides_and_offset()
    if along not in access.dimensions:
        return memref.LoadOp(value, access.place(at)).result
    place = access.place(at)
    if access.stride(along, strides) == 1:
        if mask is None:
            return vector.LoadOp(kind, value, place).result
        return vector.MaskedLoadOp(kind, value, place, mask, constant(kind, 0)).result
    begin = at.get(along, 0)
    apart = [access.place({**at, along: plus(begin, n)}) for n in range(count)]
    elements = [memref.LoadOp(value, p).result for p in apart]
    if count < width:
        elements += [constant(kind.element_type, 0)] * (width - count)
    return vector.FromElementsOp(kind, elements).result
