"""A loop of a work-item's own, whose iterations are as independent as work-items are, becomes one over work-items.

Comes in: a kernel as loops over work-items. Goes out: the same loops, another of which is the innermost over
work-items. Read next: `delinearise`, `split_edges`, `vectorize.items`, which read that loop.

Why: `for j in range(n): o[i, j] = ...` in work-items `i` means what a kernel over `i, j` does. Lanes and edges are
looked for in loops over work-items alone, and here it is the inner one that walks along memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.code_size import VERSIONED_OPS
from pykern.passes.analysis.cost_model.lengths import FEWEST_FLAT_COLUMNS
from pykern.passes.analysis.cost_model.operations import ASSUMED_TRIPS
from pykern.passes.framework import Pass
from pykern.passes.ir.effects import writes_nothing
from pykern.passes.ir.index_arithmetic import hoist
from pykern.passes.ir.loop_versions import branch_on
from pykern.passes.ir.own_cells import UNDERSTOOD, indices_of, is_independent
from pykern.passes.ir.values import is_argument, is_inside
from pykern.passes.kernel.edges import edges_of
from pykern.passes.kernels import (
    MEMORY_OPERAND,
    find,
    index_arithmetic,
    index_constant,
    is_constant,
    unaliased_loops,
)
from pykern.passes.remarks import remark
from pykern.passes.vectorize.items.worth import depth


@dataclass(frozen=True)
class ItemsFromLoops(Pass):
    """Let independent iterations of a work-item's loop be work-items.

    In:  kernels as loops over work-items, the innermost marked `kern.items`; `kern.noalias`.
    Out: where all that a work-item writes is written by one loop, each iteration of which touches cells of its own in
         the arrays that it writes, and more accesses walk along memory with that loop than with the one around it,
         that loop is marked instead, if it has loops or edges of arrays in it, which LLVM leaves as they are. Loops
         of less than `least` iterations run as they did, in a copy where that is known at run time alone. No op is
         moved but what does not change in the loop.
    """

    name: ClassVar[str] = "kern-items-from-loops"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    least: int = FEWEST_FLAT_COLUMNS

    def run(self, module: ir.Module) -> bool:
        changed = False
        for items in unaliased_loops(module, kern.ITEMS):
            changed = self._inwards(items) or changed
        return changed

    def _inwards(self, items: ir.Operation) -> bool:
        """Mark the innermost loop that will do."""
        loop, best = _only_writer(items), None
        while loop is not None and is_constant(loop.operands[2]) == 1 and is_independent(loop):
            if _is_worth_it(loop) and _gain(loop, loop) > max(0, _gain(loop, items)):
                best = loop
            loop = _only_writer(loop)
        if best is None or not self._is_long(best, items):
            return False
        remark(best, "iterations of the loop are independent: they are treated as work-items are")
        best.attributes[kern.ITEMS] = items.attributes[kern.ITEMS]
        del items.attributes[kern.ITEMS]
        return True

    def _is_long(self, loop: ir.Operation, items: ir.Operation) -> bool:
        """Whether the loop is long enough, if need be by a copy of all loops for where it is not."""
        lower, upper = list(loop.operands)[:2]
        first, end = is_constant(lower), is_constant(upper)
        if first is not None and end is not None:
            return end - first >= self.least
        if (
            not hoist(lower, items)
            or not hoist(upper, items)
            or len(find(items, lambda _: True)) > VERSIONED_OPS
        ):
            return False
        with ir.InsertionPoint(items), items.location:
            length = index_arithmetic("subi", upper, lower)
            is_long = arith.CmpIOp(arith.CmpIPredicate.sge, length, index_constant(self.least)).result
            other, _ = branch_on(items, is_long)
            other.attributes[kern.FEW] = ir.UnitAttr.get()
        return True


def _is_worth_it(loop: ir.Operation) -> bool:
    """Whether there is in it what LLVM does not look into."""
    return bool(find(loop, lambda op: op.name == "scf.for") or edges_of(loop, branches_only=False))


def _only_writer(loop: ir.Operation) -> ir.Operation | None:
    """The loop in this one that does all the writing, with nothing before and behind it that takes long."""
    if loop.results or not all(op.name.startswith(UNDERSTOOD) for op in find(loop, lambda _: True)):
        return None
    inside = [o.operation for o in loop.regions[0].blocks[0].operations][:-1]
    writing = [op for op in inside if not writes_nothing(op)]
    if len(writing) != 1 or writing[0].name != "scf.for" or "unsignedCmp" in writing[0].attributes:
        return None
    is_alone = not any(len(op.regions) for op in inside if op != writing[0])
    return writing[0] if is_alone and not writing[0].results else None


def _gain(body: ir.Operation, loop: ir.Operation) -> int:
    """How many accesses in `body` walk along memory with the variable of `loop`, less those that jump with it."""
    found = 0
    for op in find(body, lambda op: op.name in MEMORY_OPERAND):
        moves = [_move(index, loop) for index in indices_of(op)]
        is_still = not any(move != 0 for move in moves)
        walks = moves[-1:] == [1] and not any(move != 0 for move in moves[:-1])
        found += 0 if is_still else (1 if walks else -1) * ASSUMED_TRIPS ** depth(op, body)
    return found


def _move(value: ir.Value, loop: ir.Operation) -> int | None:
    """By how much an index grows with the variable of `loop`; None where it is no fixed number."""
    if value == loop.opview.induction_variable:
        return 1
    if not is_inside(value, loop):
        return 0
    if is_argument(value):
        return 0 if value == value.owner.arguments[0] else None
    op = value.owner.operation
    moves = [_move(operand, loop) for operand in op.operands]
    if not len(op.regions) and not any(move != 0 for move in moves):
        return 0
    if op.name == "arith.index_cast":
        return moves[0]
    if op.name not in ("arith.addi", "arith.subi") or moves[0] is None or moves[1] is None:
        return None
    return moves[0] + moves[1] if op.name == "arith.addi" else moves[0] - moves[1]
