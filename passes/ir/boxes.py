"""Boxes of a tensor: where one lies in another, what is left around it, and slices of tensors there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.passes.ir.values import defining


@dataclass(frozen=True)
class Box:
    """A range from `low`, included, to `high`, excluded, in each dimension."""

    low: tuple[int, ...]
    high: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Box:
        """A whole tensor."""
        return cls((0,) * len(sizes), tuple(sizes))

    @classmethod
    def at(cls, offsets: Sequence[int], sizes: Sequence[int]) -> Box:
        return cls(tuple(offsets), tuple(o + n for o, n in zip(offsets, sizes, strict=True)))

    @property
    def sizes(self) -> list[int]:
        return [b - a for a, b in zip(self.low, self.high, strict=True)]

    @property
    def volume(self) -> int:
        return math.prod(max(n, 0) for n in self.sizes)

    def meet(self, other: Box) -> Box:
        """The intersection; it has volume 0 where the boxes do not overlap."""
        low = tuple(map(max, zip(self.low, other.low, strict=True)))
        return Box(low, tuple(map(min, zip(self.high, other.high, strict=True))))

    def moved(self, by: Sequence[int]) -> Box:
        low = tuple(a + d for a, d in zip(self.low, by, strict=True))
        return Box(low, tuple(b + d for b, d in zip(self.high, by, strict=True)))

    def within(self, other: Box) -> bool:
        return self.meet(other) == self

    def around(self, core: Box) -> list[Box]:
        """Boxes that with `core`, which lies within, make up this one."""
        boxes, low, high = [], list(self.low), list(self.high)
        for d in range(len(low)):
            for first, last in ((low[d], core.low[d]), (core.high[d], high[d])):
                if first < last:
                    boxes.append(Box((*low[:d], first, *low[d + 1 :]), (*high[:d], last, *high[d + 1 :])))
            low[d], high[d] = core.low[d], core.high[d]
        return boxes


def box_of(op: ir.Operation) -> Box | None:
    """The box a tensor.extract_slice or insert_slice names in the whole; None where it is not known or not dense."""
    dynamic = ir.ShapedType.get_dynamic_size()
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    if dynamic in (*offsets, *sizes) or set(strides) - {1}:
        return None
    return Box.at(offsets, sizes)


def cut(value: ir.Value, box: Box) -> ir.Value:
    """The slice of a tensor; a slice of a slice is taken from the whole tensor."""
    if box == Box.of(_kind(value).shape):
        return value
    op = defining(value)
    outer = box_of(op) if op is not None and op.name == "tensor.extract_slice" else None
    if op is not None and outer is not None and len(outer.low) == len(box.low):
        return cut(op.operands[0], box.moved(outer.low))
    type = ir.RankedTensorType.get(box.sizes, _kind(value).element_type)
    return tensor.extract_slice(type, value, [], [], [], box.low, box.sizes, [1] * len(box.low))


def put(part: ir.Value, value: ir.Value, box: Box) -> ir.Value:
    """The tensor with a slice replaced."""
    if box == Box.of(_kind(value).shape):
        return part
    return tensor.insert_slice(part, value, [], [], [], box.low, box.sizes, [1] * len(box.low))


def cut_padded(value: ir.Value, box: Box) -> ir.Value:
    """The slice of a tensor as if it continued with zeros on all sides; `box` may reach beyond the tensor."""
    there = box.meet(Box.of(_kind(value).shape))
    low = [a - b for a, b in zip(there.low, box.low, strict=True)]
    high = [a - b for a, b in zip(box.high, there.high, strict=True)]
    part = cut(value, there)
    if not any((*low, *high)):
        return part
    op = tensor.PadOp(ir.RankedTensorType.get(box.sizes, _kind(value).element_type), part, [], [], low, high)
    block = op.regions[0].blocks.append(*[ir.IndexType.get()] * len(low))
    with ir.InsertionPoint(block):
        element = _kind(value).element_type
        tensor.YieldOp(arith.constant(element, 0.0 if isinstance(element, ir.FloatType) else 0))
    return op.result


def _kind(value: ir.Value) -> ir.RankedTensorType:
    return ir.RankedTensorType(value.type)
