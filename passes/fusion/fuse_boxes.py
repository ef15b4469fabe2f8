"""Operations on tensors that were put together from parts compute box by box, from the parts.

Comes in: tensors, behind upstream's fusion. Goes out: the same, without the tensors that were put together. In
``y = np.concatenate((x[1:], x[:1])) - x``:

    before: t = x shifted, in memory;  y = t - x
    after:  y[:-1] = x[1:] - x[:-1];  y[-1:] = x[:1] - x[-1:]

Read first: `box_plans`, which decides what is cut, and where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass, Upstream
from pykern.passes.fusion.add_fusion_barriers import AddFusionBarriers
from pykern.passes.fusion.assembled import Part
from pykern.passes.fusion.box_plans import BoxPlan, loops_of, part_at, plans_of
from pykern.passes.fusion.fuse_long_chains import FuseLongChains, fuse_elementwise
from pykern.passes.fusion.remove_fusion_barriers import RemoveFusionBarriers
from pykern.passes.ir.boxes import Box, cut, put
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.lengths import add_missing_lengths, empty
from pykern.passes.ir.structured import Structured, generic, reduction_loops
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body, index_arithmetic, index_constant, programs, replace
from pykern.passes.remarks import remark
from pykern.passes.tensor.slice_first import SliceFirst


@dataclass(frozen=True)
class FuseBoxes(Pass):
    """Cut operations on assembled tensors into boxes that read the parts, and fuse each box with what makes its parts.

    `np.concatenate`, `np.stack`, `np.pad` and writes to slices of a new array assemble tensors, and fusion does not see
    through that: each is written to memory and read again. What reads such tensors alone, element by element or to sum
    them up, is computed box by box, so that in each of them every operand is one part.

    In:  linalg.generic, tensor.insert_slice and tensor.extract_slice on tensors of known lengths.
    Out: the same. A tensor that anything else needs stays, and so does one whose readers would have very many boxes, or
         boxes with short rows.
    """

    name: ClassVar[str] = "kern-fuse-boxes"
    looks_for: ClassVar[tuple[str, ...]] = ("tensor.insert_slice", "tensor.extract")

    def run(self, module: ir.Module) -> bool:
        plans = [plan for program in programs(module) for plan in plans_of(program)]
        for plan in reversed(plans):  # readers first: a part may be the result of what is cut, too
            remark(plan.op, "computed box by box: the arrays that it reads are put together nowhere")
            _cut(plan)
        if plans:
            for each in (Upstream("canonicalize,cse"), SliceFirst(), AddFusionBarriers(), FuseLongChains()):
                each.run(module)
            fuse_elementwise(module)
            RemoveFusionBarriers().run(module)
        return bool(plans)


def _cut(plan: BoxPlan) -> None:
    """Put an operation for each box in the place of one."""
    view = Structured(plan.op)
    results = list(view.outputs)
    with ir.InsertionPoint(plan.op), plan.op.location:
        for box in plan.boxes:
            results = _computed(view, plan, box, results)
    replace(plan.op, results)


def _computed(view: Structured, plan: BoxPlan, box: Box, results: Sequence[ir.Value]) -> list[ir.Value]:
    """The results, with a box of them computed."""
    inputs, maps, known = list[ir.Value](), list[ir.AffineMap](), dict[ir.Value, ir.Value]()
    arguments = []
    for n, value in enumerate(view.inputs):
        read, parts = view.maps[n], plan.parts[n]
        part = part_at(box, parts, loops_of(read)) if len(parts) > 1 else next(iter(parts), None)
        if part is not None and not isinstance(part.source.type, ir.RankedTensorType):
            known[view.arguments[n]] = part.source  # a number in the whole box
            continue
        arguments.append(view.arguments[n])
        inputs.append(value if part is None else _slice(part, read, box))
        maps.append(read if part is None else _read(part, read))
    targets = [
        Box(*(tuple(ends[d] for d in loops_of(view.output_map(n))) for ends in (box.low, box.high)))
        for n in range(len(results))
    ]
    outputs = [
        cut(whole, target)
        if made_by(old, "tensor.empty") is None
        else empty(target.sizes, ir.RankedTensorType(whole.type).element_type)
        for old, whole, target in zip(view.outputs, results, targets, strict=True)
    ]
    writes = view.maps[len(view.inputs) :]
    add_missing_lengths(inputs, maps, writes, box.sizes)  # numbers, and lines of a part, do not
    made = generic(inputs, outputs, [*maps, *writes], reduction_loops(view.op))
    block = body(made)
    known |= zip(arguments, block.arguments, strict=False)
    known |= zip(view.arguments[len(view.inputs) :], list(block.arguments)[len(inputs) :], strict=True)
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=clone_block(view.block, known))
    _count_from(block, box)
    return [
        put(part, whole, target) for part, whole, target in zip(made.results, results, targets, strict=True)
    ]


def _slice(part: Part, read: ir.AffineMap, box: Box) -> ir.Value:
    """What a box reads of a source."""
    shape = ir.RankedTensorType(part.source.type).shape
    low, high = [], []
    for (d, shift), length in zip(part.places, shape, strict=True):
        index = None if d is None else read.results[d]
        if index is None:
            ends = (shift, shift + 1)
        elif isinstance(index, ir.AffineDimExpr):
            ends = (box.low[index.position] + shift, box.high[index.position] + shift)
        else:
            ends = (0, length)  # of no loop that is cut
        low.append(ends[0])
        high.append(ends[1])
    return cut(part.source, Box(tuple(low), tuple(high)))


def _read(part: Part, read: ir.AffineMap) -> ir.AffineMap:
    """Where a box reads its slice of a source."""
    zero = ir.AffineConstantExpr.get(0)
    return ir.AffineMap.get(read.n_dims, 0, [zero if d is None else read.results[d] for d, _ in part.places])


def _count_from(block: ir.Block, box: Box) -> None:
    """Let the body of a box know where it is in the whole."""
    for op in [each.operation for each in block.operations if each.operation.name == "linalg.index"]:
        low = box.low[ir.IntegerAttr(op.attributes["dim"]).value]
        if low:
            with ir.InsertionPoint.after(op):
                start = index_constant(low)
                moved = index_arithmetic("addi", op.results[0], start)
            op.results[0].replace_all_uses_except(moved, moved.owner.operation)
