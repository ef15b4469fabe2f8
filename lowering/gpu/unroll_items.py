"""What a work-item does for several of a launch is written side by side, so that their loads are under way at a time.

Comes in: a loop over these work-items. Goes out: one branch for where all of them pass the guard, and the loop for the
others. Read next: `items_each`, which tells for which kernels.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone
from pykern.passes.kernels import index_constant, is_constant, named

_Known = dict[ir.Value, ir.Value]


@dataclass(frozen=True)
class UnrollItems(Pass):
    """Do each step for all work-items of a loop before the next step.

    In:  loops marked `kern.each`, after `kern-merge-guards`. Out: where the loop is arithmetic and one scf.if without
         `else` and results: the arithmetic and the conditions of all work-items, an scf.if of all conditions with
         each operation of the branch once for every work-item, and the loop as its `else`. Other loops are written so
         as they are. A work-item's own operations keep their order; that of different ones was open.
    """

    name: ClassVar[str] = "kern-unroll-items"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> None:
        for loop in named(module.operation, "scf.for"):
            if kern.EACH in loop.attributes:
                _interleave(loop)


def _interleave(loop: ir.Operation) -> None:
    block = loop.regions[0].blocks[0]
    *ops, _ = [op.operation for op in block.operations]
    count = is_constant(loop.operands[1])
    assert count is not None, "the loop was made with a constant"
    with ir.InsertionPoint(loop), loop.location:
        items: list[_Known] = [{block.arguments[0]: index_constant(n)} for n in range(count)]
    if not _is_guarded(ops):
        with ir.InsertionPoint(loop):
            _side_by_side(ops, items)
        loop.erase()
        return
    *before, guard = ops
    with ir.InsertionPoint(loop), guard.location:
        _side_by_side(before, items)
        asked = guard.operands[0]
        everyone = functools.reduce(_and, [known.get(asked, asked) for known in items])
        versions = scf.IfOp(everyone, has_else=True)
        with ir.InsertionPoint(versions.then_block):
            _side_by_side([op.operation for op in guard.regions[0].blocks[0].operations][:-1], items)
            scf.YieldOp([])
        with ir.InsertionPoint(versions.else_block):
            end = scf.YieldOp([]).operation
    loop.move_before(end)


def _is_guarded(ops: list[ir.Operation]) -> bool:
    """Whether all that touches memory is in one branch at the end."""
    if not ops or ops[-1].name != "scf.if" or list(ops[-1].results) or list(ops[-1].regions[1].blocks):
        return False
    return all(op.name.startswith("arith.") for op in ops[:-1])


def _and(one: ir.Value, other: ir.Value) -> ir.Value:
    return arith.AndIOp(one, other).result


def _side_by_side(ops: list[ir.Operation], items: list[_Known]) -> None:
    """Copy each op once for every work-item."""
    for op in ops:
        for known in items:
            with op.location:
                copy = clone(op, lambda value, known=known: known.get(value, value))
            known.update(zip(op.results, copy.results, strict=True))
