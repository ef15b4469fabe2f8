"""Where a work-item of a device stands: dimensions of the launch on the axes of the grid.

The last dimension runs along x, so that neighbours in memory are neighbours in a subgroup; the one
before along y; all others together along z, the last of them fastest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.data.abi import GRID_AXES, grid_axes
from pykern.passes.kernels import index_constant

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Grid:
    """Sizes of a group, one a dimension of the launch."""

    size: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.size)

    @property
    def total(self) -> int:
        return math.prod(self.size)

    @property
    def block(self) -> tuple[int, int, int]:
        """The group's size along x, y, z."""
        sizes = [
            math.prod(self.size[d] for d in self.dimensions(axis)) for axis in range(grid_axes(self.rank))
        ]
        x, y, z = (*sizes, 1, 1, 1)[:GRID_AXES]
        return x, y, z

    def dimensions(self, axis: int) -> range:
        """The dimensions on an axis, the fastest one last."""
        last = self.rank - 1 - axis
        return range(last + 1) if axis == GRID_AXES - 1 else range(last, last + 1)

    def groups(self, axis: int, counts: Sequence[int]) -> int:
        """How many groups there are along an axis of so many work-items a dimension."""
        return math.prod(-(-counts[dim] // self.size[dim]) for dim in self.dimensions(axis))

    def spread(self, axis: int, number: ir.Value, lengths: list[ir.Value]) -> dict[int, ir.Value]:
        """Coordinates in the dimensions of an axis of the `number`-th place along it."""
        dimensions = self.dimensions(axis)
        placed: dict[int, ir.Value] = {}
        for dim in reversed(dimensions):
            if dim == dimensions[0]:
                placed[dim] = number
            else:
                placed[dim] = arith.RemUIOp(number, lengths[dim]).result
                number = arith.DivUIOp(number, lengths[dim]).result
        return placed


def built_in(name: str, axis: int) -> ir.Value:
    """``gpu.thread_id x`` and its like."""
    dimension = ir.Attribute.parse(f"#gpu<dim {AXES[axis]}>")
    kind = ir.IndexType.get()
    return ir.Operation.create(f"gpu.{name}", results=[kind], attributes={"dimension": dimension}).result


@dataclass(frozen=True)
class ItemInGroup:
    """A work-item's number in its group, its lane in its subgroup, and the number of the subgroup's first."""

    number: ir.Value
    lane: ir.Value
    base: ir.Value


def item_in_group(grid: Grid, subgroup: int) -> ItemInGroup:
    """Where the work-item stands, in subgroups of so many; they fill the group along x, then y, then z."""
    x, y, _ = grid.block
    places = [built_in("thread_id", axis) for axis in range(GRID_AXES)]
    row = arith.AddIOp(arith.MulIOp(places[2], index_constant(y)).result, places[1]).result
    number = arith.AddIOp(arith.MulIOp(row, index_constant(x)).result, places[0]).result
    lane = arith.RemUIOp(number, index_constant(subgroup)).result
    return ItemInGroup(number, lane, arith.SubIOp(number, lane).result)
