"""Barriers as the device's, collectives through shared memory.

Everybody in the group meets at a collective (`kern-split-guards` saw to it), so barriers may stand here.
Sums are made in the shape of a tree: another order than on the CPU, but the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect.collectives import COLLECTIVES
from pykern.dialect.memory import SharedOp
from pykern.lowering.gpu.grid import Grid, item_in_group
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.devices import SUBGROUP_ITEMS
from pykern.passes.framework import Pass
from pykern.passes.ir.reduction import combine, kind_of, neutral
from pykern.passes.kernels import index_constant, named, replace


@dataclass(frozen=True)
class LowerCollectives(Pass):
    """Turn `kern.barrier` into gpu.barrier, and collectives into shared memory with barriers.

    In:  kernels whose barriers and collectives are reached by the whole group.
    Out: no collectives; one more shared buffer per element type.
    """

    name: ClassVar[str] = "kern-lower-collectives"
    powers: ClassVar[tuple[str, ...]] = ("subgroup_size",)
    subgroup_size: int = SUBGROUP_ITEMS

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            room = _Room(kernel, self.subgroup_size)
            for op in named(kernel, *COLLECTIVES):
                with ir.InsertionPoint(op), op.location:
                    replace(op, [_LOWERINGS[op.name](room, op)])
            for op in named(kernel, "kern.barrier"):
                with ir.InsertionPoint(op), op.location:
                    _barrier()
                op.erase()


class _Room:
    """One cell of shared memory a work-item, and where the work-item stands."""

    def __init__(self, kernel: ir.Operation, subgroup: int) -> None:
        self.kernel = kernel
        grid = Grid(kernels.group(kernel))
        self.total = grid.total
        self.subgroup = min(subgroup, self.total)
        self.buffers: dict[str, ir.Value] = {}
        with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
            item = item_in_group(grid, self.subgroup)
        self.number, self.lane, self.base = item.number, item.lane, item.base

    def share(self, value: ir.Value) -> ir.Value:
        """Put a value where the group sees it; gives the buffer."""
        element = value.type
        if str(element) not in self.buffers:
            with ir.InsertionPoint.at_block_begin(kernels.body(self.kernel)), self.kernel.location:
                self.buffers[str(element)] = SharedOp.create((self.total,), element)
        buffer = self.buffers[str(element)]
        _barrier()  # what was there before has been read
        memref.StoreOp(value, buffer, [self.number])
        _barrier()
        return buffer


def _barrier() -> None:
    ir.Operation.create("gpu.barrier")


def _compare(predicate: arith.CmpIPredicate, a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.CmpIOp(predicate, a, b).result


def _tree(room: _Room, kind: str, buffer: ir.Value, place: ir.Value, width: int) -> None:
    """Reduce the first `width` cells of every stretch of `width`; `place` is the place in the stretch."""
    step = 1 << max(0, (width - 1).bit_length() - 1)
    while step >= 1 and width > 1:
        end = index_constant(width)
        partner = arith.AddIOp(place, index_constant(step)).result
        other = arith.AddIOp(room.number, index_constant(step)).result
        active = arith.AndIOp(
            _compare(arith.CmpIPredicate.ult, place, index_constant(step)),
            arith.AndIOp(
                _compare(arith.CmpIPredicate.ult, partner, end),
                _compare(arith.CmpIPredicate.ult, other, index_constant(room.total)),
            ).result,
        ).result
        branch = scf.IfOp(active)
        with ir.InsertionPoint(branch.then_block):
            sum_ = combine(
                kind, memref.LoadOp(buffer, [room.number]).result, memref.LoadOp(buffer, [other]).result
            )
            memref.StoreOp(sum_, buffer, [room.number])
            scf.YieldOp([])
        _barrier()
        step //= 2


def _reduce_group(room: _Room, op: ir.Operation) -> ir.Value:
    buffer = room.share(op.operands[0])
    _tree(room, kind_of(op), buffer, room.number, room.total)
    return memref.LoadOp(buffer, [index_constant(0)]).result


def _reduce_subgroup(room: _Room, op: ir.Operation) -> ir.Value:
    buffer = room.share(op.operands[0])
    _tree(room, kind_of(op), buffer, room.lane, room.subgroup)
    return memref.LoadOp(buffer, [room.base]).result


def _scan(room: _Room, op: ir.Operation) -> ir.Value:
    """Hillis and Steele: Data parallel algorithms, CACM 29 (1986)."""
    kind, value = kind_of(op), op.operands[0]
    identity = neutral(kind, value.type)
    buffer = room.share(value)
    step = 1
    while step < room.subgroup:
        value = combine(kind, _behind(room, buffer, step, identity), value)
        _barrier()
        memref.StoreOp(value, buffer, [room.number])
        _barrier()
        step *= 2
    if op.name == "kern.subgroup_scan":
        return value
    return _behind(room, buffer, 1, identity)


def _behind(room: _Room, buffer: ir.Value, step: int, identity: ir.Value) -> ir.Value:
    """The cell `step` lanes before, or the neutral element."""
    there = _compare(arith.CmpIPredicate.uge, room.lane, index_constant(step))
    source = arith.SubIOp(room.number, index_constant(step)).result
    source = arith.SelectOp(there, source, room.number).result
    return arith.SelectOp(there, memref.LoadOp(buffer, [source]).result, identity).result


def _shuffle(room: _Room, op: ir.Operation) -> ir.Value:
    """A lane beyond the group's end gives the work-item's own value, as on the CPU."""
    buffer = room.share(op.operands[0])
    lane = arith.RemUIOp(op.operands[1], index_constant(room.subgroup)).result
    source = arith.AddIOp(room.base, lane).result
    there = _compare(arith.CmpIPredicate.ult, source, index_constant(room.total))
    return memref.LoadOp(buffer, [arith.SelectOp(there, source, room.number).result]).result


_LOWERINGS = {
    "kern.group_reduce": _reduce_group,
    "kern.subgroup_reduce": _reduce_subgroup,
    "kern.subgroup_scan": _scan,
    "kern.subgroup_exclusive_scan": _scan,
    "kern.subgroup_shuffle": _shuffle,
    "kern.subgroup_broadcast": _shuffle,
}
