"""Where operations on assembled tensors are cut into boxes: each box reads the parts, and no tensor is assembled.

Comes in: a program on tensors. Goes out: for each operation that is cut the boxes of its loops. Read first:
`assembled`. Read next: `fuse_boxes`, which cuts.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.analysis.cost_model.code_size import BOX_OPS, MOST_BOXES
from pykern.passes.analysis.cost_model.lengths import FEWEST_CUT, NARROW_BOX, NARROW_SHARE
from pykern.passes.fusion.assembled import EXTRACT, INSERT, Part, is_assembled, parts_of, whole_part
from pykern.passes.ir.boxes import Box, box_of
from pykern.passes.ir.structured import Structured, dimensions_in, reduction_loops
from pykern.passes.ir.values import has_uses
from pykern.passes.kernels import identity, named


@dataclass(frozen=True)
class BoxPlan:
    """An operation that is cut: the boxes of its loops, and the parts of each input; a number has none."""

    op: ir.Operation
    boxes: list[Box]
    parts: list[list[Part]]


def plans_of(program: ir.Operation) -> list[BoxPlan]:
    """The operations to be cut, so that none of the tensors that they are cut for is needed any more, in order."""
    roots = [op.results[0] for op in named(program, INSERT, "linalg.generic")]
    readers = {root: found for root in roots if is_assembled(root) and (found := _readers(root)) is not None}
    plans: dict[int, BoxPlan | None] = {}
    while readers:
        for op in [op for ops in readers.values() for op in ops]:
            if identity(op) not in plans:
                plans[identity(op)] = _plan(op, readers)
        needed = [root for root, ops in readers.items() if not all(plans[identity(op)] for op in ops)]
        if not needed:
            return [plan for op in named(program, "linalg.generic") if (plan := plans.get(identity(op)))]
        for op in [op for root in needed for op in readers.pop(root)]:
            plans.pop(identity(op), None)  # it may be cut for others of the tensors that it reads
    return []


def _readers(root: ir.Value) -> list[ir.Operation] | None:
    """The operations that read a tensor, perhaps in slices; None where something else needs it."""
    found: list[ir.Operation] = []
    for use in root.uses:
        user = use.owner.operation
        if user.name == EXTRACT and box_of(user) is not None:
            behind = _readers(user.results[0])
            if behind is None:
                return None
            found += behind
        elif user.name == "linalg.generic" and _may_be_cut(user, use.operand_number):
            found.append(user)
        else:
            return None
    return found or None


def _may_be_cut(op: ir.Operation, operand: int) -> bool:
    """Whether it reads the operand at its loops and constants, and computes arrays of known lengths."""
    view = Structured(op)
    if operand >= len(view.inputs) or not view.loops or multiplies(op) or not op.results:
        return False
    kinds = [v.type for v in view.operands if isinstance(v.type, ir.RankedTensorType)]
    if not all(ir.RankedTensorType(kind).has_static_shape for kind in kinds):
        return False
    maps = [view.maps[operand], *view.maps[len(view.inputs) :]]
    return all(isinstance(e, ir.AffineDimExpr) for one in maps for e in one.results)


def _plan(op: ir.Operation, roots: Container[ir.Value]) -> BoxPlan | None:
    """How an operation is cut; None where that is not worth it."""
    view = Structured(op)
    parts = [_parts(value, roots) for value in view.inputs]
    read = [(found, loops_of(one)) for found, one in zip(parts, view.maps, strict=False) if len(found) > 1]
    edges = [{0, length} for length in view.extents]
    for found, loops in read:
        for part in found:
            for d, loop in enumerate(loops):
                edges[loop] |= {part.box.low[d], part.box.high[d]}
    cut = [loop for loop, found in enumerate(edges) if len(found) > 2]
    if not _are_free(view, cut) or math.prod(len(e) - 1 for e in edges) > MOST_BOXES**2:
        return None
    boxes = [(box, _origins(box, read)) for box in _grid([sorted(e) for e in edges])]
    for loop in range(view.loops):
        boxes = _merged(boxes, loop)
    ordered = sorted((box for box, _ in boxes), key=lambda box: box.low)
    return BoxPlan(op, ordered, parts) if _is_worth_it(view, ordered) else None


def _parts(value: ir.Value, roots: Container[ir.Value]) -> list[Part]:
    """The parts of an input: several of a tensor that will not be assembled, else the tensor itself."""
    if not isinstance(value.type, ir.RankedTensorType):
        return []
    root = _root(value)
    return parts_of(value) if root is not None and root in roots else [whole_part(value)]


def loops_of(read: ir.AffineMap) -> list[int]:
    """The loops of a map whose indices are loops."""
    return [ir.AffineDimExpr(e).position for e in read.results]


def _root(value: ir.Value) -> ir.Value | None:
    """The assembled tensor behind slices."""
    while not is_assembled(value):
        maker = value.owner
        if isinstance(maker, ir.Block) or maker.name != EXTRACT or box_of(maker.operation) is None:
            return None
        value = maker.operation.operands[0]
    return value


def _are_free(view: Structured, cut: Sequence[int]) -> bool:
    """Whether loops may be cut: all operands are read at them, and what depends on the order of sums keeps it."""
    others = (e for one in view.maps for e in one.results if not isinstance(e, ir.AffineDimExpr))
    if any(dimensions_in(e) & set(cut) for e in others):
        return False
    reduced = reduction_loops(view.op)
    in_order = len(view.outputs) > 1 or any(op.name == "linalg.index" for op in view.ops)
    return not (in_order and any(reduced[loop] for loop in cut))


def _grid(edges: Sequence[Sequence[int]]) -> Iterator[Box]:
    """All boxes between neighbouring edges."""
    if not edges:
        yield Box((), ())
        return
    for low, high in zip(edges[0], edges[0][1:], strict=False):
        for rest in _grid(edges[1:]):
            yield Box((low, *rest.low), (high, *rest.high))


def _origins(box: Box, read: Sequence[tuple[list[Part], list[int]]]) -> list:
    """Where the elements come from in a box of the loops, for each operand."""
    return [part_at(box, parts, loops).origin() for parts, loops in read]


def part_at(box: Box, parts: Sequence[Part], loops: Sequence[int]) -> Part:
    """The part that an operand, read at some loops, has in a box."""
    low = tuple(box.low[loop] for loop in loops)
    return next(
        part
        for part in parts
        if all(a <= n < b for n, a, b in zip(low, part.box.low, part.box.high, strict=True))
    )


def _merged(boxes: Sequence[tuple[Box, list]], loop: int) -> list[tuple[Box, list]]:
    """Neighbours along a loop whose elements come from the same places are one."""
    done: list[tuple[Box, list]] = []
    for box, origins in sorted(boxes, key=lambda each: (_beside(each[0], loop), each[0].low[loop])):
        before = done[-1] if done else None
        if before is not None and before[1] == origins and _beside(before[0], loop) == _beside(box, loop):
            done[-1] = (Box(before[0].low, box.high), origins)
        else:
            done.append((box, origins))
    return done


def _beside(box: Box, loop: int) -> tuple:
    """The ranges along all other loops."""
    return tuple((a, b) for d, (a, b) in enumerate(zip(box.low, box.high, strict=True)) if d != loop)


def _is_worth_it(view: Structured, boxes: Sequence[Box]) -> bool:
    """Whether boxes are few, and hardly any has short rows, where vectors stay empty."""
    whole = math.prod(view.extents)
    if whole < FEWEST_CUT * len(boxes) or len(boxes) > MOST_BOXES or len(boxes) * len(view.ops) > BOX_OPS:
        return False
    if view.extents[-1] < NARROW_BOX or not has_uses(view.op.results[0]):
        return len(boxes) == 1
    narrow = sum(box.volume for box in boxes if box.sizes[-1] < NARROW_BOX)
    return NARROW_SHARE * narrow <= whole
