"""The iteration space of a linalg.generic on buffers: lengths, which loops may be one, their order.

Comes in: a linalg.generic whose buffers have static shapes. Goes out: `Space`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.passes.analysis.cost_model.caches import BLOCKED_LENGTH, STRIDED_COST
from pykern.passes.ir.memory import is_dense, outputs_of
from pykern.passes.ir.structured import dimensions_in, indexing_maps, loop_lengths, loops_in, reduction_loops
from pykern.passes.kernels import find


@dataclass
class Space:
    """Dimensions of the op, in the op's order. `order` runs from the outermost loop to the innermost.

    `groups` are the dimensions that run as one loop; every other list has one entry a group.
    """

    op: ir.Operation
    lengths: list[int]
    reduction: list[bool]
    maps: list[ir.AffineMap]
    groups: list[list[int]]
    order: list[int] = field(default_factory=list)
    across: int | None = None
    """A group along which some operand lies, while the innermost loop jumps in it: both run in blocks."""

    @property
    def inputs(self) -> int:
        return len(self.op.operands) - outputs_of(self.op)

    @property
    def iterations(self) -> int:
        return math.prod(self.lengths)

    @property
    def work(self) -> int:
        """Elementary operations, about."""
        ops = len(find(self.op, lambda op: True)) + len(self.op.operands)
        return self.iterations * ops

    @property
    def parallel(self) -> list[int]:
        return [d for d in self.order if not self.reduction[d]]

    def moves_output(self, group: int) -> bool:
        """Whether another iteration of a loop writes another cell: no register holds a sum over it."""
        return any(self.groups[group][0] in loops_in(m) for m in self.maps[self.inputs :])

    @property
    def reduced(self) -> list[int]:
        return [d for d in self.order if self.reduction[d]]


def space_of(op: ir.Operation) -> Space:
    """Analyse a linalg.generic."""
    maps, kinds, lengths = indexing_maps(op), reduction_loops(op), loop_lengths(op)
    groups = _groups(op, maps, kinds)
    space = Space(
        op, [math.prod(lengths[d] for d in g) for g in groups], [kinds[g[0]] for g in groups], maps, groups
    )
    strides = [strides_of(value, m, lengths) for value, m in zip(op.operands, maps, strict=True)]
    space.order = _order(space, strides)
    space.across = _across(space, strides)
    return space


def ungrouped(space: Space) -> Space:
    """The same with each dimension as a loop of its own, in the op's order."""
    lengths = loop_lengths(space.op)
    every = range(len(lengths))
    return replace(
        space,
        lengths=lengths,
        reduction=reduction_loops(space.op),
        groups=[[d] for d in every],
        order=[*every],
        across=None,
    )


def _across(space: Space, strides: list[list[int]]) -> int | None:
    """As a transposition has it: one operand read along one dimension, another along the other."""
    if any(space.reduction) or len(space.order) < 2 or space.lengths[space.order[-1]] < BLOCKED_LENGTH:
        return None
    inner = space.groups[space.order[-1]][-1]
    for per_dimension in strides:
        for number, group in enumerate(space.groups):
            jumps = per_dimension[inner] > 1 and per_dimension[group[-1]] == 1
            if jumps and number != space.order[-1] and space.lengths[number] >= BLOCKED_LENGTH:
                return number
    return None


def _groups(op: ir.Operation, maps: list[ir.AffineMap], kinds: list[bool]) -> list[list[int]]:
    """Neighbouring dimensions that lie one behind the other in every buffer that has them are one loop."""
    single = [[d] for d in range(len(kinds))]
    if find(op, lambda o: o.name == "linalg.index") or not all(map(is_dense, op.operands)):
        return single
    placed = []
    for m in maps:
        if not all(isinstance(e, ir.AffineDimExpr) for e in m.results):
            return single
        placed.append([e.position for e in m.results])
    groups: list[list[int]] = []
    for d in range(len(kinds)):
        if groups and kinds[d] == kinds[d - 1] and all(_follows(p, d - 1, d) for p in placed):
            groups[-1].append(d)
        else:
            groups.append([d])
    return groups


def _follows(placed: list[int], before: int, after: int) -> bool:
    if before not in placed and after not in placed:
        return True
    return (before, after) in itertools.pairwise(placed)


def strides_of(value: ir.Value, m: ir.AffineMap, lengths: list[int]) -> list[int]:
    """Elements from one iteration to the next, per dimension of the op."""
    strides = [0] * len(lengths)
    if not isinstance(value.type, ir.MemRefType):
        return strides
    for expression, stride in zip(
        m.results, ir.MemRefType(value.type).get_strides_and_offset()[0], strict=True
    ):
        for d in range(len(lengths)):
            if isinstance(expression, ir.AffineDimExpr):
                strides[d] += stride * (expression.position == d)
            elif d in dimensions_in(expression):
                strides[d] += stride
    return strides


def _order(space: Space, strides: list[list[int]]) -> list[int]:
    """The loop with the most neighbouring accesses innermost, the one with the fewest outermost."""

    def cost(group: int) -> int:
        total = 0
        for n, per_dimension in enumerate(strides):
            stride = abs(per_dimension[space.groups[group][-1]])
            weight = 2 if n >= space.inputs else 1
            total += weight * (0 if stride == 0 else 1 if stride == 1 else STRIDED_COST)
        return total

    groups = range(len(space.groups))
    # a loop of one iteration is no loop; among equals the op's own order stays
    return sorted(groups, key=lambda g: (space.lengths[g] != 1, -cost(g), g))
