"""Arrays of all pairs of points are computed coordinate by coordinate: ``((x[:, None] - x[None]) ** 2).sum(axis=-1)``.

Comes in: linalg ops on tensors. Goes out: the same, where what was (n, m, 3) is three of (n, m). Read next:
`short_axis_groups`, which finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import linalg

from pykern.passes.framework import Pass
from pykern.passes.ir.structured import Structured, generic, is_fill, reduction_loops
from pykern.passes.kernels import named
from pykern.passes.remarks import remark
from pykern.passes.tensor.short_axis_groups import AxisGroup, group_of, position_of


@dataclass(frozen=True)
class SplitShortAxes(Pass):
    """Split a short last axis of what is broadcast from small arrays to large ones, up to the sums that end it.

    The large array would be written to memory, and loops over an axis of 3 are all beginning and end. Split, what is
    left of it is elementwise: it is computed where it is read. A sum along the axis becomes its terms, in their order.

    In:  linalg.generic on tensors.
    Out: the same; arrays that are broadcast are transposed first, so that each coordinate lies side by side.
    """

    name: ClassVar[str] = "kern-split-short-axes"
    looks_for: ClassVar[tuple[str, ...]] = ("linalg.generic",)

    def run(self, module: ir.Module) -> None:
        groups: list[AxisGroup] = []
        taken: set[ir.Operation] = set()
        for op in named(module.operation, "linalg.generic"):
            found = None if op in taken else group_of(op)
            if found is not None and taken.isdisjoint(found.ops):
                groups.append(found)
                taken |= set(found.ops)
        for group in groups:
            remark(group.ops[0], f"computed for each of the {group.length} numbers of the last axis apart")
            _Splitting(group).run()


@dataclass
class _Splitting:
    group: AxisGroup
    parts: dict[ir.Value, list[ir.Value]] = field(default_factory=dict)
    """For each split value its parts."""
    transposed: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """Small arrays with the short axis first."""

    def run(self) -> None:
        for op in self.group.ops[1:]:
            axis = self.group.loops[op]
            with ir.InsertionPoint(op), op.location:
                if reduction_loops(op)[axis]:
                    op.results[0].replace_all_uses_with(self._summed(op, axis))
                else:
                    made = [self._part(op, axis, number) for number in range(self.group.length)]
                    if op in self.group.ends:
                        op.results[0].replace_all_uses_with(self._stacked(op, axis, made))
                    self.parts[op.results[0]] = made
        for op in reversed(self.group.ops):
            op.erase()

    def _part(self, op: ir.Operation, axis: int, number: int) -> ir.Value:
        """The op for one number of the axis: a loop less."""
        view = Structured(op)
        inputs, maps = self._inputs(view, axis, [number])
        place = position_of(view.maps[-1], axis)
        target = self._target(view.outputs[0], place)
        kinds = [kind for loop, kind in enumerate(reduction_loops(op)) if loop != axis]
        made = generic(inputs, [target], [*maps, _without(view.maps[-1], axis)], kinds)
        block = made.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            linalg.YieldOp([_copied(view, dict(zip(view.arguments, block.arguments, strict=True)))])
        return made.results[0]

    def _summed(self, op: ir.Operation, axis: int) -> ir.Value:
        """A reduction along the axis: its terms one after the other, begun with what its output holds."""
        view = Structured(op)
        numbers = range(self.group.length)
        inputs, maps = self._inputs(view, axis, numbers)
        start, to = view.outputs[0], _without(view.maps[-1], axis)
        target = _empty(start.type)
        made = generic([*inputs, start], [target], [*maps, to, to], [False] * (view.loops - 1))
        block = made.regions[0].blocks[0]
        given = iter(block.arguments)
        read = [
            [next(given) for _ in (numbers if position_of(one, axis) is not None else range(1))]
            for one in view.maps[:-1]
        ]
        so_far = next(given)
        with ir.InsertionPoint(block):
            for number in numbers:
                known = {
                    a: r[number if len(r) > 1 else 0] for a, r in zip(view.arguments, read, strict=False)
                }
                so_far = _copied(view, {**known, view.arguments[-1]: so_far})
            linalg.YieldOp([so_far])
        return made.results[0]

    def _stacked(self, op: ir.Operation, axis: int, parts: Sequence[ir.Value]) -> ir.Value:
        """The parts in one array again."""
        view = Structured(op)
        place = position_of(view.maps[-1], axis)
        assert place is not None
        stacked = _empty(op.results[0].type)
        shape = ir.RankedTensorType(stacked.type).shape
        for number, part in enumerate(parts):
            offsets = [number if d == place else 0 for d in range(len(shape))]
            sizes = [1 if d == place else n for d, n in enumerate(shape)]
            stacked = _slice("tensor.insert_slice", [part, stacked], stacked.type, offsets, sizes)
        return stacked

    def _inputs(
        self, view: Structured, axis: int, numbers: Sequence[int]
    ) -> tuple[list[ir.Value], list[ir.AffineMap]]:
        """Inputs and their maps without the axis: those that it indexes once for each number."""
        inputs, maps = [], []
        for value, one in zip(view.inputs, view.maps, strict=False):
            place = position_of(one, axis)
            for number in numbers if place is not None else numbers[:1]:
                inputs.append(value if place is None else self._of(value, place, number))
                maps.append(_without(one, axis))
        return inputs, maps

    def _of(self, value: ir.Value, place: int, number: int) -> ir.Value:
        """A part of a split value, or a row of a small one. What begins the group is computed where it is read."""
        if value == self.group.ops[0].results[0]:
            return self._part(self.group.ops[0], self.group.loops[self.group.ops[0]], number)
        if value in self.parts:
            return self.parts[value][number]
        if value not in self.transposed:
            self.transposed[value] = _transposed(value, place)
        first = self.transposed[value]
        _, *rest = ir.RankedTensorType(first.type).shape
        kind = ir.RankedTensorType.get(rest, ir.RankedTensorType(first.type).element_type)
        offsets = [number, *[0] * len(rest)]
        return _slice("tensor.extract_slice", [first], kind, offsets, [1, *rest])

    def _target(self, output: ir.Value, place: int | None) -> ir.Value:
        """What a part is written to, or adds to: without the axis."""
        kind = ir.RankedTensorType(output.type)
        shape = [n for d, n in enumerate(kind.shape) if d != place]
        target = _empty(ir.RankedTensorType.get(shape, kind.element_type))
        filling = output.owner
        if not isinstance(filling, ir.Operation | ir.OpView) or not is_fill(filling.operation):
            return target  # an elementwise op does not read what it writes
        view = Structured(filling.operation)
        maps = [ir.AffineMap.get(len(shape), 0, []) for _ in view.inputs]
        made = generic(
            view.inputs, [target], [*maps, ir.AffineMap.get_identity(len(shape))], [False] * len(shape)
        )
        block = made.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            linalg.YieldOp([_copied(view, dict(zip(view.arguments, block.arguments, strict=True)))])
        return made.results[0]


def _transposed(value: ir.Value, place: int) -> ir.Value:
    """The array with an axis first: a copy, in which each row lies side by side."""
    kind = ir.RankedTensorType(value.type)
    rank = kind.rank
    order = [place, *(d for d in range(rank) if d != place)]
    target = _empty(ir.RankedTensorType.get([kind.shape[d] for d in order], kind.element_type))
    if rank == 1:
        return value
    loops = [ir.AffineDimExpr.get(order.index(d)) for d in range(rank)]
    made = generic(
        [value], [target], [ir.AffineMap.get(rank, 0, loops), ir.AffineMap.get_identity(rank)], [False] * rank
    )
    block = made.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        linalg.YieldOp([block.arguments[0]])
    return made.results[0]


def _without(one: ir.AffineMap, axis: int) -> ir.AffineMap:
    """The map without a loop, and without the index that it is."""
    loops = [e.position for e in map(ir.AffineDimExpr, one.results) if e.position != axis]
    return ir.AffineMap.get(one.n_dims - 1, 0, [ir.AffineDimExpr.get(loop - (loop > axis)) for loop in loops])


def _copied(view: Structured, known: dict[ir.Value, ir.Value]) -> ir.Value:
    """The value of the body at the insertion point, its arguments being these."""
    for op in view.ops:
        copy = op.clone().operation
        for number, operand in enumerate(op.operands):
            copy.operands[number] = known.get(operand, operand)
        known |= dict(zip(op.results, copy.results, strict=True))
    return known.get(view.yielded[0], view.yielded[0])


def _empty(kind: ir.Type) -> ir.Value:
    return ir.Operation.create("tensor.empty", results=[kind]).results[0]


def _slice(
    name: str, operands: Sequence[ir.Value], kind: ir.Type, offsets: Sequence[int], sizes: Sequence[int]
) -> ir.Value:
    attributes = {
        "static_offsets": ir.DenseI64ArrayAttr.get(list(offsets)),
        "static_sizes": ir.DenseI64ArrayAttr.get(list(sizes)),
        "static_strides": ir.DenseI64ArrayAttr.get([1] * len(sizes)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([*[1] * len(operands), 0, 0, 0]),
    }
    return ir.Operation.create(name, results=[kind], operands=list(operands), attributes=attributes).results[
        0
    ]
