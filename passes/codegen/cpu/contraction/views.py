"""What a register tile reads and writes, as elements in a row from the tile's first on.

Comes in: an operand, which a transform script cut out of what it had cut out before. Goes out: `Elements`, one view of
the buffer itself, of one dimension. Each view is a descriptor to be made, passed through and taken apart again by the
passes below, and each dimension a product in each address: in one dimension places are sums, most of them constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import memref

from pykern.passes.ir.affine import DYNAMIC, Access
from pykern.passes.ir.lengths import Number, plus, times
from pykern.passes.ir.values import defining


@dataclass(frozen=True)
class Elements:
    """`view` holds all that an operand does. `steps`: elements from one index of a dimension to the next."""

    view: ir.Value
    steps: dict[int, int]
    first: int
    """The element where all dimensions are 0."""

    def place(self, values: Mapping[int, Number], begin: Number | None = None) -> Number:
        """The element for values of the dimensions, from element `begin` on; those that are not there are 0."""
        total = self.first if begin is None else begin
        for dimension, step in self.steps.items():
            total = plus(total, times(values.get(dimension, 0), step))
        return total


def elements(value: ir.Value, access: Access) -> Elements | None:
    """Of an operand with static lengths and steps; None where they are not, or it runs backwards."""
    kind = ir.MemRefType(value.type)
    strides, _ = kind.get_strides_and_offset()
    if DYNAMIC in (*kind.shape, *strides) or min(strides, default=0) < 0:
        return None
    begin = _begin(value)
    if begin is None:
        return None
    buffer, offset = begin
    length = sum((n - 1) * s for n, s in zip(kind.shape, strides, strict=True)) + 1
    fixed = isinstance(offset, int)
    layout = ir.StridedLayoutAttr.get(offset if fixed else DYNAMIC, [1])
    made = memref.ReinterpretCastOp(
        ir.MemRefType.get([length], kind.element_type, layout),
        buffer,
        [] if fixed else [offset],
        [],
        [],
        [offset if fixed else DYNAMIC],
        [length],
        [1],
    )
    steps = {d: access.stride(d, list(strides)) for d in sorted(access.dimensions)}
    first = sum(s.constant * stride for s, stride in zip(access.sums, strides, strict=True))
    return Elements(made.result, steps, first)


def _begin(value: ir.Value) -> tuple[ir.Value, Number] | None:
    """The buffer that is cut, and the element of it the view begins with. None where that is not known."""
    along: dict[int, Number] = {}
    """What is skipped, by stride: places of the same stride are added before they are multiplied."""
    while _name(value) == "memref.subview":
        op = value.owner.operation
        source = op.operands[0]
        strides, _ = ir.MemRefType(source.type).get_strides_and_offset()
        if DYNAMIC in strides:
            return None
        moving = iter(list(op.operands)[1:])
        for fixed, stride in zip(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]), strides, strict=True):
            along[stride] = plus(next(moving) if fixed == DYNAMIC else fixed, along.get(stride, 0))
        value = source
    _, offset = ir.MemRefType(value.type).get_strides_and_offset()
    if offset == DYNAMIC:
        return None
    if _name(value) == "memref.reinterpret_cast":  # its offset counts from the buffer's first element
        value = value.owner.operation.operands[0]
    total: Number = offset
    for stride, skipped in along.items():
        total = plus(times(skipped, stride), total)
    return value, total


def _name(value: ir.Value) -> str:
    maker = defining(value)
    return "" if maker is None else maker.name
