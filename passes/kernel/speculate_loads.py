"""Branches that only read become choices: `if x[i, j] > most: most = x[i, j]` is one of two values.

Comes in: a kernel as loops over work-items. Goes out: loads that a branch repeats stand in front of it, and what little
else is in it. Other loads of branches (`if j != i: d = x[j] - x[i]`) stand in front of them where lengths and
bounds say that all of them lie in their arrays: then work-items run in lanes; else the loop runs as it was. Branches
that read memory keep work-items and loops out of lanes. Read next: `access_bounds`, `vectorize.items`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.operations import SPECULATED_OPS
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import remake, terminator_operands
from pykern.passes.ir.constants import constant
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.loops import leave_alone
from pykern.passes.ir.memory import ancestor_in
from pykern.passes.ir.values import defining, is_inside, made_by
from pykern.passes.kernel.access_bounds import is_within, unknown_indices
from pykern.passes.kernels import MEMORY_OPERAND, find, index_constant, named, replace
from pykern.passes.remarks import remark
from pykern.passes.vectorize.items.lanes import Scalar
from pykern.passes.vectorize.items.vectorize_items import VectorizeItems
from pykern.passes.vectorize.ordered.vectorize_rows import chains_of

_ACCESSES = ("memref.load", "memref.store")


@dataclass(frozen=True)
class SpeculateLoads(Pass):
    """Read in front of a branch what it reads, where that place is known to be in the array.

    In:  kernels as loops over work-items.
    Out: an scf.if of loads whose place another access names in front of it, and of at most `ops` cheap operations
         beside, is a choice of values, an arith.select each; so is one without loads that gives an index, which
         `kern-choose-loads` asks for, and one that adds to a sum of a row, if rows then run several at a time.
         Of branches that differ between work-items and have no effects, other loads stand in front of the branch, in a
         version of the loop over work-items that runs where comparisons of lengths say so; an index of which nothing is
         known (`x[c[i, k]]`) is 0 where the branch is not taken; where that would not bring work-items into lanes, they
         stay.
    """

    name: ClassVar[str] = "kern-speculate-loads"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.if",)
    ops: int = SPECULATED_OPS
    loops: bool = True
    """Whether branches in loops of a work-item become choices, too."""

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for branch in named(kernel, "scf.if"):  # a walk comes to the inner branch first
                if self.loops or not _is_repeated(branch):
                    changed |= self._branch(branch)
            if self.loops:
                for loop in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                    changed |= self._version(kernel, loop)
        return changed

    def _version(self, kernel: ir.Operation, loop: ir.Operation) -> bool:
        """Give a loop over work-items a version whose branches read nothing."""
        if loop.results or kern.NOALIAS not in kernel.attributes or not self._waiting(loop):
            return False
        with ir.InsertionPoint(loop):
            trial = loop.clone().operation
        conditions = self._read_all_before(trial)
        if conditions is None or not (
            _run_in_lanes(kernel, trial) if conditions else chains_of(kernel, trial)
        ):
            trial.erase()
            return True
        if not conditions:
            loop.erase()
            return True
        with ir.InsertionPoint(loop), loop.location:
            holds = functools.reduce(lambda a, b: arith.AndIOp(a, b).result, conditions)
            versions = scf.IfOp(holds, has_else=True)
            for block, version in ((versions.then_block, trial), (versions.else_block, loop)):
                with ir.InsertionPoint(block):
                    version.move_before(scf.YieldOp([]).operation)
        remark(trial, "what branches read lies in its array for all work-items: it is read in front of them")
        del loop.attributes[kern.ITEMS]
        for op in [loop, *named(loop, "scf.for")]:
            leave_alone(op)  # it hardly ever runs
        return True

    def _waiting(self, loop: ir.Operation) -> list[ir.Operation]:
        """Branches that keep work-items out of lanes by what they read alone, or sums of rows out of their order."""
        return [
            branch
            for branch in named(loop, "scf.if")
            if branch.results and _is_in_counted_loops(branch, loop)
            and (_loads(branch) or (len(branch.results) <= self.ops and _adds(branch)))
            and _reads_alone(branch) and _differs(branch.operands[0], loop)
        ]  # fmt: skip

    def _read_all_before(self, items: ir.Operation) -> list[ir.Value] | None:
        """Let no branch read: the conditions under which all that is read then lies in its array; None where bounds of
        loops say that something may not. Branches around others, as `and` and `or` make them, wait for those."""
        conditions: list[ir.Value] = []
        while waiting := self._waiting(items):
            with ir.InsertionPoint(items), items.location:
                found = [is_within(load, items) for branch in waiting for load in _loads(branch)]
            for each in found:
                if each is None:
                    return None
                conditions += each
            for branch in waiting:
                self._read_before(branch, items)
            for branch in named(items, "scf.if"):  # around those that are choices now
                if branch.results and all(is_speculatable(op) for op in _inside(branch)):
                    self._choose_if_short(branch)
        return conditions

    def _read_before(self, branch: ir.Operation, items: ir.Operation) -> None:
        for load in _loads(branch):
            _guard(load, branch, items)
            _move_before(load, _earliest(load, branch, items))
        self._choose_if_short(branch)

    def _choose_if_short(self, branch: ir.Operation) -> None:
        inside = _inside(branch)
        if len(inside) <= self.ops and not any(op.name.startswith("math.") or op.regions for op in inside):
            for op in inside:
                op.move_before(branch)
            _choose(branch)

    def _branch(self, branch: ir.Operation) -> bool:
        inside = _inside(branch)
        loads = [op for op in inside if op.name == "memref.load"]
        if not branch.results or len(inside) - len(loads) > self.ops:
            return False
        if not loads and not any(isinstance(result.type, ir.IndexType) for result in branch.results):
            return False
        for op in inside:
            known = _is_accessed_before(op, branch) if op.name == "memref.load" else is_speculatable(op)
            if not known or op.regions:
                return False
        for op in inside:
            there = _read_value(op, branch) if op.name == "memref.load" else None
            if there is None:
                op.move_before(branch)
            else:
                replace(op, [there])
        _choose(branch)
        return True


def _is_repeated(op: ir.Operation) -> bool:
    """Whether an op stands in a loop of a work-item."""
    while (parent := op.parent) is not None:
        op = parent.operation
        if op.name in ("scf.for", "scf.while") and kern.ITEMS not in op.attributes:
            return True
    return False


def _adds(branch: ir.Operation) -> bool:
    """Whether a float grows by something where the branch is taken, and stays as it is else."""
    yes, no = (terminator_operands(region.blocks[0]) for region in branch.regions)
    sums = [made_by(value, "arith.addf") for value in yes]
    return len(_inside(branch)) == len(sums) and all(
        op is not None and op.block == branch.regions[0].blocks[0] and kept in list(op.operands)
        for op, kept in zip(sums, no, strict=True)
    )


def _inside(branch: ir.Operation) -> list[ir.Operation]:
    return find(branch, lambda op: op.name != "scf.yield")


def _loads(branch: ir.Operation) -> list[ir.Operation]:
    return named(branch, "memref.load")


def _is_in_counted_loops(branch: ir.Operation, items: ir.Operation) -> bool:
    """Whether the loops around a branch in a work-item count their iterations."""
    around = branch.parent
    while around is not None and around.operation != items and around.operation.name in ("scf.for", "scf.if"):
        around = around.operation.parent
    return around is not None and around.operation == items


def _reads_alone(branch: ir.Operation) -> bool:
    """Whether nothing in the branch has an effect, but for loads, which it may be too early for."""
    return all(
        op.name in ("memref.load", "scf.yield") or op.name.startswith("math.") or is_speculatable(op)
        for op in find(branch, lambda op: True)
    )


def _differs(condition: ir.Value, items: ir.Operation) -> bool:
    """Whether work-items may take different sides: the condition is not made of counters of inner loops alone."""
    waiting = [condition]
    while waiting:
        one = waiting.pop()
        if not is_inside(one, items):
            continue
        op = defining(one)
        if op is None and not _is_counter(one):
            return True
        if one == items.opview.induction_variable:
            return True
        if op is not None and (op.name == "memref.load" or op.regions):
            return True
        waiting += [] if op is None else op.operands
    return False


def _is_counter(argument: ir.Value) -> bool:
    around = argument.owner.owner.operation
    return around.name == "scf.for" and around.opview.induction_variable == argument


def _run_in_lanes(kernel: ir.Operation, loop: ir.Operation) -> bool:
    """Whether work-items run in lanes or rows, or all that kept loops out of lanes are choices now."""
    if not named(loop, "scf.if") or chains_of(kernel, loop):
        return True
    try:
        VectorizeItems().plan(kernel, loop)
    except Scalar:
        return False
    return True


def _guard(load: ir.Operation, branch: ir.Operation, items: ir.Operation) -> None:
    """Let a load that the branch would not have made read at 0 where nothing is known of an index."""
    is_first = ancestor_in(load, branch.regions[0].blocks[0]) is not None
    for number, index in enumerate(load.operands):
        if number and index in unknown_indices(load, items):
            with ir.InsertionPoint(load), load.location:
                sides = [index, index_constant(0)]
                kept = arith.SelectOp(branch.operands[0], *(sides if is_first else reversed(sides))).result
            load.operands[number] = kept


def _earliest(load: ir.Operation, branch: ir.Operation, items: ir.Operation) -> ir.Operation:
    """The branch, or the outermost loop or branch around it in which nothing changes what the load reads."""
    around, place = branch, branch
    while around.parent is not None and around.parent.operation != items:
        around = around.parent.operation
        written = [op.operands[1] for op in named(around, "memref.store")]
        if load.operands[0] in written or any(
            op.name.startswith("kern.") for op in find(around, lambda op: True)
        ):
            break
        if any(is_inside(operand, around) for operand in load.operands):
            break
        place = around
    return place


def _move_before(op: ir.Operation, place: ir.Operation) -> None:
    """Move an op in front of one that it is in, and what its operands are computed by."""
    for operand in op.operands:
        maker = defining(operand)
        if maker is not None and is_inside(operand, place):
            _move_before(maker, place)
    op.move_before(place)


def _choose(branch: ir.Operation) -> None:
    """Replace a branch that only yields values by choices of them."""
    yes, no = (terminator_operands(region.blocks[0]) for region in branch.regions)
    with ir.InsertionPoint(branch), branch.location:
        condition = branch.operands[0]
        values = [_choice(condition, a, b) for a, b in zip(yes, no, strict=True)]
    replace(branch, values)


def _choice(condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    """One of two values. A sum that grows by something or stays grows by something or by -0.0, which leaves each number
    as it is: from one addition to the next there is no choice to wait for."""
    if yes == no:
        return yes
    sum_ = made_by(yes, "arith.addf")
    if sum_ is not None and no in list(sum_.operands):
        added = next((v for v in sum_.operands if v != no), no)
        if made_by(added, "arith.mulf") is None:  # that may be one operation with the addition
            nothing = constant(added.type, -0.0)
            grown = arith.SelectOp(condition, added, nothing).result
            return remake(sum_, [no, grown], [no.type]).results[0]
    return arith.SelectOp(condition, yes, no).result


def _is_accessed_before(load: ir.Operation, branch: ir.Operation) -> bool:
    """Whether accesses in front of the branch have each index of the load in its dimension: then the place is in the
    array, also where none of them is of that place."""
    memory, *indices = load.operands
    unknown = set(range(len(indices)))
    for use in memory.uses:
        other = use.owner.operation
        if other.name not in _ACCESSES or use.operand_number != MEMORY_OPERAND[other.name]:
            continue
        there = list(other.operands)[use.operand_number + 1 :]
        found = {d for d in unknown if there[d] == indices[d]}
        if found and _comes_before(other, branch):
            unknown -= found
    return not unknown


def _read_value(load: ir.Operation, branch: ir.Operation) -> ir.Value | None:
    """What a load of the same place in front of the branch gave, with nothing that writes between: whoever compares the
    condition with the choice sees one value."""
    found: ir.Value | None = None
    for op in (o.operation for o in branch.block.operations):
        if op == branch:
            break
        if op.name == "memref.load" and list(op.operands) == list(load.operands):
            found = op.results[0]
        elif not op.name.startswith(("arith.", "math.", "memref.load", "memref.dim")):
            found = None
    return found


def _comes_before(op: ir.Operation, other: ir.Operation) -> bool:
    """Whether `op` has run wherever `other` runs."""
    around = ancestor_in(other, op.block)
    return around is not None and op != around and op.is_before_in_block(around)
