"""Reads at one of two neighbouring places become one of two reads: `k = j if u > 0 else j + 1; d = x[k]`.

Comes in: a kernel as loops over work-items. Goes out: both places are read, each beside that of the next work-item,
and one of the numbers is chosen; in a version of the loop that runs where lengths and bounds say that all places lie
in the array. Read next: `access_bounds`, `speculate_loads`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.operations import CHOSEN_LOADS
from pykern.passes.framework import Pass
from pykern.passes.ir.index_arithmetic import affine_of
from pykern.passes.ir.loop_versions import branch_on
from pykern.passes.ir.values import is_inside, made_by, parent_of
from pykern.passes.kernel.access_bounds import limits, range_of
from pykern.passes.kernels import find, index_constant, is_constant, named, replace
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class ChooseLoads(Pass):
    """Read all of the places of which an index is one, and choose among the numbers.

    In:  kernels as loops over work-items, the innermost marked `kern.items`.
    Out: a memref.load in that loop at an index that is an arith.select, moved by a number or not, is an arith.select of
         loads where each of at most `loads` of them goes along memory, or stays, with the loop, and the loop does not
         write the array. The loop as it was runs where a place might lie beyond the array.
    """

    name: ClassVar[str] = "kern-choose-loads"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.select",)
    loads: int = CHOSEN_LOADS

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for loop in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                changed |= self._loop(loop)
        return changed

    def _loop(self, loop: ir.Operation) -> bool:
        written = [op.operands[1] for op in named(loop, "memref.store")]
        loads = [op for op in named(loop, "memref.load") if parent_of(op) == loop]
        found = [
            (load, place)
            for load in loads
            if load.operands[0] not in written and (place := self._chosen(load, loop)) is not None
        ]
        if loop.results or not found:
            return False
        with ir.InsertionPoint(loop), loop.location:
            conditions = [one for load, place in found for one in _conditions(load, place, loop)]
            holds = functools.reduce(lambda a, b: arith.AndIOp(a, b).result, conditions)
            branch_on(loop, holds)
        for load, place in found:
            remark(load, "an index is one of several: all of these places are read, and one number is chosen")
            with ir.InsertionPoint(load), load.location:
                replace(load, [_read(load, place, load.operands[place], 0, loop)])
        return True

    def _chosen(self, load: ir.Operation, loop: ir.Operation) -> int | None:
        """Which operand of the load is an index that is chosen; None where none is, or reading all would not pay."""
        indices = list(load.operands)[1:]
        chosen = [n for n, index in enumerate(indices) if len(_leaves(index, 0, loop)) > 1]
        if len(chosen) != 1 or ir.MemRefType(load.operands[0].type).get_strides_and_offset()[0][-1] != 1:
            return None
        for n, index in enumerate(indices):
            leaves = _leaves(index, 0, loop)
            if len(leaves) > self.loads:
                return None
            for base, _ in leaves:
                along = affine_of(base, loop)
                if along is None or along.coefficient != (n == len(indices) - 1):
                    return None
                if n in chosen and range_of(base, loop) is None:
                    return None
        return 1 + chosen[0]


def _moved(value: ir.Value) -> tuple[ir.Value, int]:
    """A value as another one and a number that is added to it."""
    for name, sign in (("arith.addi", 1), ("arith.subi", -1)):
        op = made_by(value, name)
        number = None if op is None else is_constant(op.operands[1])
        if op is not None and number is not None:
            base, offset = _moved(op.operands[0])
            return base, offset + sign * number
    return value, 0


def _choice(value: ir.Value, loop: ir.Operation) -> tuple[ir.Operation | None, ir.Value, int]:
    """The choice that a value is, moved by a number; None where it is no choice that work-items make."""
    base, offset = _moved(value)
    op = made_by(base, "arith.select")
    return (op if op is not None and is_inside(op.operands[0], loop) else None), base, offset


def _leaves(value: ir.Value, by: int, loop: ir.Operation) -> list[tuple[ir.Value, int]]:
    """All that an index may be, each as a value and a number."""
    op, base, offset = _choice(value, loop)
    if op is None:
        return [(base, by + offset)]
    return [leaf for side in list(op.operands)[1:] for leaf in _leaves(side, by + offset, loop)]


def _conditions(load: ir.Operation, place: int, loop: ir.Operation) -> list[ir.Value]:
    """Comparisons that tell whether all places lie in the array; that the other indices do is known, as it is read."""
    length = memref.DimOp(load.operands[0], index_constant(place - 1)).result
    conditions = []
    for base, offset in _leaves(load.operands[place], 0, loop):
        found = range_of(base, loop)
        assert found is not None  # it was asked for before
        conditions += limits(found.moved(offset), length)
    return conditions


def _read(load: ir.Operation, place: int, value: ir.Value, by: int, loop: ir.Operation) -> ir.Value:
    op, base, offset = _choice(value, loop)
    offset += by
    if op is not None:
        condition, *sides = op.operands
        return arith.SelectOp(condition, *(_read(load, place, side, offset, loop) for side in sides)).result
    indices = list(load.operands)[1:]
    indices[place - 1] = arith.AddIOp(base, index_constant(offset)).result if offset else base
    return memref.LoadOp(load.operands[0], indices).result
