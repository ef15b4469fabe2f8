"""A kernel cut at its barriers and collectives: what runs once a group, and what runs for each work-item.

In: a demoted kernel. Out: a tree of `Part`s per block; values that cross from one stretch of
work-item code into another are repeated where they are cheap, and go through slots where not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.dialect.collectives import COLLECTIVES
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.passes.analysis.cost_model.code_size import REPEATED_OPS
from pykern.passes.analysis.uniformity import Uniformity
from pykern.passes.ir.values import is_argument
from pykern.passes.kernel.work_groups.convergence import diverges, is_guard
from pykern.passes.kernel.work_groups.demote import Demotion
from pykern.passes.kernel.work_groups.slots import Slots
from pykern.passes.kernels import identity

PURE = ("arith.", "math.")
IDS = frozenset(
    {"kern.global_id", "kern.local_id", "kern.lane_id", "kern.subgroup_id", "kern.local_linear_id"}
)


@dataclass
class Stretch:
    """Work-item code without a barrier or collective; `masks` are (slot, wanted) that must hold for it to run."""

    ops: list[ir.Operation]
    masks: tuple[tuple[ir.Value, bool], ...]


@dataclass
class ConvergentOp:
    """A barrier or a collective."""

    op: ir.Operation
    masks: tuple[tuple[ir.Value, bool], ...]


@dataclass
class Segmenter:
    """Cuts one kernel; afterwards `stretches` and `convergent` are in order."""

    slots: Slots
    uniform: Uniformity
    demotion: Demotion
    stretches: list[Stretch] = field(default_factory=list)
    convergent: list[ConvergentOp] = field(default_factory=list)
    group_values: set[ir.Value] = field(default_factory=set)
    branches: list[ir.Operation] = field(default_factory=list)
    _spilled: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def cut(self, block: ir.Block, masks: tuple = ()) -> None:
        """Sort the ops of a block that holds a barrier or collective (or is the kernel's body)."""
        self.group_values.update(block.arguments)
        current: list[ir.Operation] = []
        for op in [o.operation for o in block.operations]:
            if op.name in IDS or op.name == "kern.guard" or op in self.slots.made:
                continue
            if op.name in COLLECTIVES or op.name == "kern.barrier":
                current = self._finish(current, masks)
                self.convergent.append(ConvergentOp(op, masks))
                self.group_values.update(op.results)
            elif identity(op) in self.demotion.holds_convergent:
                current = self._finish(current, masks)
                self._region(op, masks)
            elif op.name in ("scf.yield", "scf.condition", "func.return"):
                current = self._finish(current, masks)
                self._to_group(op, masks)
            elif self._belongs_to_group(op, masks):
                self.group_values.update(op.results)
                if current:
                    op.move_before(current[0])
            else:
                current.append(op)
        self._finish(current, masks)

    def _finish(self, current: list[ir.Operation], masks: tuple) -> list[ir.Operation]:
        if current:
            self.stretches.append(Stretch(current, masks))
        return []

    def _belongs_to_group(self, op: ir.Operation, masks: tuple) -> bool:
        """Uniform, without effects, and made of group values: once a group is enough."""
        if op.name in ("kern.group_id", "memref.alloca"):
            return True
        if not (op.name.startswith(PURE) or op.name in ("memref.dim", "memref.load")) or op.regions:
            return False
        if op.name == "memref.load" and masks:  # a guard may stand before it for a reason
            return False
        return self.uniform.all_uniform(op.results) and all(v in self.group_values for v in op.operands)

    def _region(self, op: ir.Operation, masks: tuple) -> None:
        if op.name == "scf.if" and not self.uniform.is_uniform(op.operands[0]):
            self._guarded(op, masks)
            return
        if op.name == "scf.for" and not self.uniform.all_uniform(list(op.operands)[:3]):
            raise diverges(op, "a loop whose bounds differ")
        if op.name == "scf.while":
            test = op.regions[0].blocks[0]
            if not self.uniform.is_uniform(test.operations[len(test.operations) - 1].operands[0]):
                raise diverges(op, "a loop whose condition differs")
        self._to_group(op, masks)
        self.group_values.update(op.results)
        for region in op.regions:
            for block in region.blocks:
                self.cut(block, masks)

    def _guarded(self, op: ir.Operation, masks: tuple) -> None:
        """A branch made by an early exit: work-items that left wait at every barrier as if they were there."""
        if not is_guard(op):
            raise diverges(op, "a branch whose condition differs")
        slot = self.slots.slot(op.operands[0].type)  # first: it adds an op to the kernel's top
        count = len(op.block.operations)
        before = [o.operation for o in op.block.operations].index(op)
        with ir.InsertionPoint(op), op.location:
            self.slots.store(op.operands[0], slot)
        added = len(op.block.operations) - count
        stores = [o.operation for o in op.block.operations][before : before + added]
        self.stretches.append(Stretch(stores, masks))
        for region, wanted in zip(op.regions, (True, False), strict=True):
            for block in region.blocks:
                inner = [o.operation for o in block.operations][:-1]
                if not inner:
                    continue
                self.cut(block, (*masks, (slot, wanted)))
                for moved in [o.operation for o in block.operations][:-1]:
                    moved.move_before(op)
        self.branches.append(op)

    def _to_group(self, op: ir.Operation, masks: tuple) -> None:
        """Operands of an op that runs once a group: what is not known there is read from cell 0."""
        for i, value in enumerate(op.operands):
            if value in self.group_values or isinstance(value.type, ir.MemRefType):
                continue
            if masks:
                raise TargetError(
                    "this decides for the whole group, but some work-items have returned before it",
                    span_of(op.location),
                    "compute it before the early return, or from arguments only",
                )
            slot = self.slots.slot(value.type)
            home = next(s for s in self.stretches if value.owner.operation in s.ops)
            store_behind(self.slots, value, slot, home)
            with ir.InsertionPoint(op), op.location:
                zero = ir.Operation.create(
                    "arith.constant",
                    results=[ir.IndexType.get()],
                    attributes={"value": ir.IntegerAttr.get(ir.IndexType.get(), 0)},
                ).result
                loaded = self.slots.load(slot, value.type, zero)
            op.operands[i] = loaded

    # -- values that cross -------------------------------------------------------------------

    def connect(self) -> None:
        """Make every stretch self-contained: repeat or reload what comes from another one."""
        place = {identity(op): n for n, stretch in enumerate(self.stretches) for op in stretch.ops}
        for number, stretch in enumerate(list(self.stretches)):
            for op in list(stretch.ops):
                for result in op.results:
                    users = _stretches_using(result, place)
                    for other in sorted(users - {number}):
                        self._bring(result, number, other, place)

    def _bring(self, value: ir.Value, home: int, other: int, place: dict[int, int]) -> None:
        there = self.stretches[other]
        chain = self._repeatable(value)
        with ir.InsertionPoint(there.ops[0]), value.owner.operation.location:
            if chain is not None:
                made = _repeat(chain)
                copy = made[-1].result
            else:
                slot = self._slot_of(value, home, place)
                copy = self.slots.load(slot, value.type)
                made = [copy.owner.operation]
                if made[0].name == "arith.trunci":
                    made.insert(0, made[0].operands[0].owner.operation)
        for use in list(value.uses):
            top = _top(use.owner.operation, place)
            if top is not None and place[identity(top)] == other and use.owner.operation not in made:
                use.owner.operation.replace_uses_of_with(value, copy)
        there.ops[:0] = made
        place.update({identity(op): other for op in made})

    def _slot_of(self, value: ir.Value, home: int, place: dict[int, int]) -> ir.Value:
        if value not in self._spilled:
            slot = self.slots.slot(value.type)
            self._spilled[value] = slot
            for op in store_behind(self.slots, value, slot, self.stretches[home]):
                place[identity(op)] = home
        return self._spilled[value]

    def _repeatable(self, value: ir.Value) -> list[ir.Operation] | None:
        """The ops that make `value` anew from ids, group values and slots; None where that is dear."""
        ordered: list[ir.Operation] = []

        def visit(v: ir.Value) -> bool:
            if v in self.group_values or is_argument(v):
                return v in self.group_values
            op = v.owner.operation
            if op.name in IDS or op in ordered or op in self.slots.made:
                return True
            cheap = op.name.startswith("arith.") or op.name == "memref.dim" or v in self.demotion.slot_loads
            if not cheap or len(ordered) >= REPEATED_OPS or not all(visit(o) for o in op.operands):
                return False
            ordered.append(op)
            return True

        return ordered if visit(value) and ordered else None


def _repeat(chain: list[ir.Operation]) -> list[ir.Operation]:
    copies: dict[ir.Value, ir.Value] = {}
    made = []
    for op in chain:
        clone = op.clone().operation
        for i, operand in enumerate(clone.operands):
            if operand in copies:
                clone.operands[i] = copies[operand]
        copies[op.result] = clone.result
        made.append(clone)
    return made


def _top(op: ir.Operation | None, place: dict[int, int]) -> ir.Operation | None:
    """The ancestor of `op` that stands in a stretch itself."""
    while op is not None and identity(op) not in place:
        parent = op.parent
        op = parent.operation if parent is not None else None
    return op


def _stretches_using(value: ir.Value, place: dict[int, int]) -> set[int]:
    tops = (_top(use.owner.operation, place) for use in value.uses)
    return {place[identity(top)] for top in tops if top is not None}


def store_behind(slots: Slots, value: ir.Value, slot: ir.Value, home: Stretch) -> list[ir.Operation]:
    """Store a stretch's value right where it was made, in the same stretch; gives the new ops."""
    owner = value.owner.operation
    operations = [o.operation for o in owner.block.operations]
    following = operations[operations.index(owner) + 1]
    with ir.InsertionPoint(following), owner.location:
        slots.store(value, slot)
    after = [o.operation for o in owner.block.operations]
    made = after[after.index(owner) + 1 : after.index(following)]
    at = home.ops.index(owner) + 1
    home.ops[at:at] = made
    return made
