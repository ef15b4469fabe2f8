"""Which operations a short axis is split in: from what is broadcast along it to the sums that end it.

Comes in: a linalg.generic on tensors. Goes out: the operations behind it that have the axis, if all of them can be
split. Read next: `split_short_axes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.cost_model.lengths import OUTER_GROWTH, SPLIT_AXIS
from pykern.passes.ir.structured import (
    Structured,
    is_elementwise,
    is_fill,
    is_scalar_arithmetic,
    reduction_loops,
)


@dataclass
class AxisGroup:
    """The operations, in their order; for each the loop over the axis; and those whose results have it put together."""

    ops: list[ir.Operation]
    loops: dict[ir.Operation, int]
    ends: set[ir.Operation]
    length: int


def group_of(seed: ir.Operation) -> AxisGroup | None:
    """The group that begins with an op, which makes a large array out of small ones."""
    if not _is_outer(seed):
        return None
    kind = ir.RankedTensorType(seed.results[0].type)
    group = AxisGroup([seed], {seed: Structured(seed).loops - 1}, set(), kind.shape[-1])
    waiting = [seed.results[0]]
    while waiting:
        value = waiting.pop()
        for use in value.uses:
            user = use.owner.operation
            if user in group.loops:
                continue
            axis = _axis_of(user, value, seed)
            if axis is None:
                return None
            group.loops[user] = axis
            if is_elementwise(user) and not any(reduction_loops(user)):
                waiting.append(user.results[0])
            elif not reduction_loops(user)[axis]:
                group.ends.add(user)
    if len(group.loops) == sum(is_elementwise(op) for op in group.loops):
        return None  # no sums: nothing becomes smaller
    group.ops = [op.operation for op in seed.block.operations if op.operation in group.loops]
    split = {
        op.results[0] for op in group.ops if op not in group.ends and not reduction_loops(op)[group.loops[op]]
    }
    return group if all(_fits(op, group, split) for op in group.ops) else None


def position_of(one: ir.AffineMap, loop: int) -> int | None:
    """Which index of a map is a loop."""
    places = [n for n, e in enumerate(one.results) if isinstance(e, ir.AffineDimExpr) and e.position == loop]
    return places[0] if places else None


def _is_outer(op: ir.Operation) -> bool:
    """Whether it is elementwise, its last axis short, and its result much larger than what it is made of."""
    if len(op.results) != 1 or not isinstance(kind := op.results[0].type, ir.RankedTensorType):
        return False
    shape = kind.shape
    if len(shape) < 2 or 0 in shape or not 2 <= shape[-1] <= SPLIT_AXIS:  # first: few arrays are so
        return False
    if not is_elementwise(op) or not _is_static(op):
        return False
    view = Structured(op)
    if view.maps[-1] != ir.AffineMap.get_identity(len(shape)) or not _selects(view):
        return False
    if not any(position_of(one, len(shape) - 1) is not None for one in view.maps[:-1]):
        return False
    return all(OUTER_GROWTH * _elements(v) <= math.prod(shape) for v in view.inputs)


def _axis_of(user: ir.Operation, value: ir.Value, seed: ir.Operation) -> int | None:
    """The loop of a user over the last axis of what it reads; None where it cannot be split."""
    if user.name != "linalg.generic" or user.block != seed.block or not _is_static(user):
        return None
    view = Structured(user)
    if value in view.outputs or len(view.outputs) != 1 or view.captured or not _selects(view):
        return None
    if not is_scalar_arithmetic(view.ops):
        return None
    one = view.maps[view.inputs.index(value)]
    return one.results[len(one.results) - 1].position


def _fits(op: ir.Operation, group: AxisGroup, split: set[ir.Value]) -> bool:
    """Whether what an op reads along the axis is split itself, by its last axis, or small."""
    view, axis = Structured(op), group.loops[op]
    if view.extents[axis] != group.length:
        return False
    for value, one in zip(view.inputs, view.maps, strict=False):
        place = position_of(one, axis)
        if value in split and place != len(one.results) - 1:
            return False
        if (
            value not in split
            and place is not None
            and OUTER_GROWTH * _elements(value) > math.prod(view.extents)
        ):
            return False
    place = position_of(view.maps[-1], axis)
    if op.results[0] in split:
        return is_elementwise(op) and place == len(view.maps[-1].results) - 1
    if reduction_loops(op)[axis]:
        return place is None and sum(reduction_loops(op)) == 1
    return place is not None and _is_filled(view.outputs[0])


def _is_filled(value: ir.Value) -> bool:
    return isinstance(value.owner, ir.Operation | ir.OpView) and is_fill(value.owner.operation)


def _selects(view: Structured) -> bool:
    """Whether each index of each operand is a loop."""
    return all(isinstance(e, ir.AffineDimExpr) for one in view.maps for e in one.results)


def _is_static(op: ir.Operation) -> bool:
    kinds = [v.type for v in op.operands if isinstance(v.type, ir.ShapedType)]
    return all(isinstance(k, ir.RankedTensorType) and ir.RankedTensorType(k).has_static_shape for k in kinds)


def _elements(value: ir.Value) -> int:
    return (
        math.prod(ir.RankedTensorType(value.type).shape) if isinstance(value.type, ir.RankedTensorType) else 1
    )
