"""A new array that differs from an old one in a box: computed where it lies, the old rest copied around it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import tensor

from pykern.passes.array_programs.aliases import outputs_of, programs
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class FreshInserts(Pass):
    """Insert a computed box into a new array rather than into the old one that its values come from.

    A stencil step `y = x with its interior replaced by f(x)` cannot be done in place: bufferization would
    compute the interior aside and copy it. Here the interior is computed in its place in a new array, and
    only the rim is copied.

    In:  `tensor.insert_slice` of a linalg.generic's result, with constant offsets and steps of 1, into a
         tensor that the values are computed from.
    Out: the same values, inserted into a `tensor.empty` that first got the rim.
    """

    name: ClassVar[str] = "kern-fresh-inserts"

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            for insert in named(function, "tensor.insert_slice"):
                box = _box(insert)
                if box is not None and _pays(insert, *box):
                    _make_fresh(insert, *box)


def _box(insert: ir.Operation) -> tuple[list[int], list[int]] | None:
    """Offsets and sizes, where they are constant, dense and of full rank."""
    dynamic = ir.ShapedType.get_dynamic_size()
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(insert.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    if dynamic in (*offsets, *sizes, *strides) or ir.ShapedType.get_dynamic_stride_or_offset() in offsets:
        return None
    same_rank = ir.RankedTensorType(insert.operands[0].type).rank == len(offsets)
    return (offsets, sizes) if same_rank and all(s == 1 for s in strides) else None


def _pays(insert: ir.Operation, offsets: list[int], sizes: list[int]) -> bool:
    """Whether in place would need a second array anyway, and the rim is the smaller part."""
    value, old = insert.operands[0], insert.operands[1]
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return False
    generic = value.owner.operation
    if len(list(value.uses)) != 1 or outputs_of(generic) != 1 or generic.block != insert.block:
        return False
    out = list(generic.operands)[-1]
    if isinstance(out.owner, ir.Block) or out.owner.operation.name != "tensor.empty":
        return False
    shape = ir.RankedTensorType(old.type).shape
    if 2 * math.prod(sizes) < math.prod(shape) or not _reads(generic, old):
        return False
    return not _is_updated_argument(old)


def _is_updated_argument(old: ir.Value) -> bool:
    """The program's own arguments that may be written are changed in place: they need no second array."""
    if not isinstance(old.owner, ir.Block) or old.owner.owner is None:
        return False
    function = old.owner.owner.operation
    if function.name != "func.func" or "arg_attrs" not in function.attributes:
        return False
    mark = ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[ir.BlockArgument(old).arg_number])
    return "bufferization.writable" in mark and bool(ir.BoolAttr(mark["bufferization.writable"]).value)


def _reads(generic: ir.Operation, old: ir.Value) -> bool:
    """Whether the values come from slices of `old`."""
    for value in list(generic.operands)[:-1]:
        while not isinstance(value.owner, ir.Block) and value.owner.operation.name == "tensor.extract_slice":
            value = value.owner.operation.operands[0]
        if value == old:
            return True
    return False


def _make_fresh(insert: ir.Operation, offsets: list[int], sizes: list[int]) -> None:
    generic, old = insert.operands[0].owner.operation, insert.operands[1]
    kind = ir.RankedTensorType(old.type)
    with ir.InsertionPoint(generic), insert.location:
        new = tensor.EmptyOp(list(kind.shape), kind.element_type).result
        for strip_offsets, strip_sizes in rim(list(kind.shape), offsets, sizes):
            strip = _slice(old, strip_offsets, strip_sizes)
            new = _insert(strip, new, strip_offsets, strip_sizes)
        target = _slice(new, offsets, sizes)
    generic.operands[len(generic.operands) - 1] = target
    with ir.InsertionPoint(insert), insert.location:
        replace(insert, [_insert(generic.results[0], new, offsets, sizes)])


def rim(shape: list[int], offsets: list[int], sizes: list[int]) -> list[tuple[list[int], list[int]]]:
    """Boxes (offsets, sizes) that with the given one make up the whole, dimension by dimension."""
    boxes = []
    at, extent = [0] * len(shape), list(shape)
    for d, length in enumerate(shape):
        for begin, count in ((0, offsets[d]), (offsets[d] + sizes[d], length - offsets[d] - sizes[d])):
            if count:
                boxes.append(([*at[:d], begin, *at[d + 1 :]], [*extent[:d], count, *extent[d + 1 :]]))
        at[d], extent[d] = offsets[d], sizes[d]
    return boxes


def _slice(source: ir.Value, offsets: list[int], sizes: list[int]) -> ir.Value:
    kind = ir.RankedTensorType.get(sizes, ir.RankedTensorType(source.type).element_type)
    return tensor.ExtractSliceOp(kind, source, [], [], [], offsets, sizes, [1] * len(sizes)).result


def _insert(value: ir.Value, into: ir.Value, offsets: list[int], sizes: list[int]) -> ir.Value:
    return tensor.InsertSliceOp(value, into, [], [], [], offsets, sizes, [1] * len(sizes)).result
