"""A new array that differs from an old one in a box: computed where it lies, the old rest copied around it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import tensor

from pykern.passes.framework import Pass
from pykern.passes.ir.boxes import Box, box_of, cut, put
from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.structured import indexing_maps, reduces
from pykern.passes.ir.values import is_argument, made_by
from pykern.passes.kernels import argument_marks, named, programs, replace


@dataclass(frozen=True)
class FreshInserts(Pass):
    """Insert a computed box into a new array rather than into the old one that its values come from.

    Values read from the very box, element by element (`x[1:-1] += ...`), are computed in place. But a
    stencil step `y = x with its interior replaced by f(x)` cannot be done in place: bufferization would
    compute the interior aside and copy it. Here the interior is computed in its place in a new array, and
    only the rim is copied.

    In:  `tensor.insert_slice` of a linalg.generic's result, with constant offsets and steps of 1, into a
         tensor that the values are computed from.
    Out: the same values, computed into the box of the tensor itself where that is right, else inserted
         into a `tensor.empty` that first got the rim.
    """

    name: ClassVar[str] = "kern-fresh-inserts"
    looks_for: ClassVar[tuple[str, ...]] = ("tensor.insert_slice",)

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            for insert in named(function, "tensor.insert_slice"):
                box = _box(insert, ir.RankedTensorType(insert.operands[0].type).rank)
                if box is None or not _is_computed(insert) or not _reads(insert):
                    continue
                if _only_the_box(insert, box):
                    _compute_in(insert, insert.operands[1], box)
                elif _is_profitable(insert, box):
                    _make_fresh(insert, box)


def _box(slice_: ir.Operation, rank: int) -> Box | None:
    """The box of a slice, where it is known, dense and of full rank."""
    box = box_of(slice_)
    return box if box is not None and rank == len(box.low) else None


def _is_computed(insert: ir.Operation) -> bool:
    """Whether the value is the only result of a linalg.generic, made for this alone."""
    value = insert.operands[0]
    generic = made_by(value, "linalg.generic")
    if generic is None:
        return False
    if len(list(value.uses)) != 1 or outputs_of(generic) != 1 or generic.block != insert.block:
        return False
    out = list(generic.operands)[-1]
    return made_by(out, "tensor.empty") is not None


def _only_the_box(insert: ir.Operation, box: Box) -> bool:
    """Whether all that is read of the old tensor is the box, each element where it is written."""
    generic, old = insert.operands[0].owner.operation, insert.operands[1]
    maps = indexing_maps(generic)
    if reduces(generic):
        return False
    for value, reads in zip(list(generic.operands)[:-1], maps[:-1], strict=True):
        if _source(value) != old:
            continue
        slice_ = None if value == old else value.owner.operation
        if slice_ is None or slice_.operands[0] != old or reads != maps[-1]:
            return False
        if _box(slice_, ir.RankedTensorType(value.type).rank) != box:
            return False
    return True


def _is_profitable(insert: ir.Operation, box: Box) -> bool:
    """Whether in place would need a second array anyway, and the rim is the smaller part."""
    old = insert.operands[1]
    shape = ir.RankedTensorType(old.type).shape
    return 2 * box.volume >= math.prod(shape) and not _is_updated_argument(old)


def _is_updated_argument(old: ir.Value) -> bool:
    """The program's own arguments that may be written are changed in place: they need no second array."""
    if not is_argument(old) or old.owner.owner is None:
        return False
    function = old.owner.owner.operation
    if function.name != "func.func" or "arg_attrs" not in function.attributes:
        return False
    mark = argument_marks(function)[ir.BlockArgument(old).arg_number]
    return "bufferization.writable" in mark and bool(ir.BoolAttr(mark["bufferization.writable"]).value)


def _reads(insert: ir.Operation) -> bool:
    """Whether the values come from (slices of) the old tensor."""
    generic = insert.operands[0].owner.operation
    return any(_source(value) == insert.operands[1] for value in list(generic.operands)[:-1])


def _source(value: ir.Value) -> ir.Value:
    while (view := made_by(value, "tensor.extract_slice")) is not None:
        value = view.operands[0]
    return value


def _make_fresh(insert: ir.Operation, box: Box) -> None:
    generic, old = insert.operands[0].owner.operation, insert.operands[1]
    kind = ir.RankedTensorType(old.type)
    with ir.InsertionPoint(generic), insert.location:
        new = tensor.EmptyOp(list(kind.shape), kind.element_type).result
        for strip in Box.of(kind.shape).around(box):
            new = put(cut(old, strip), new, strip)
    _compute_in(insert, new, box)


def _compute_in(insert: ir.Operation, target: ir.Value, box: Box) -> None:
    """Let the values be computed in the box of `target`."""
    generic = insert.operands[0].owner.operation
    with ir.InsertionPoint(generic), insert.location:
        part = cut(target, box)
    generic.operands[len(generic.operands) - 1] = part
    with ir.InsertionPoint(insert), insert.location:
        replace(insert, [put(generic.results[0], target, box)])
