"""Values that differ between work-items leave the branches and loops that hold a barrier or collective.

In: a kernel whose branches and loops carry values. Out: those that hold a barrier or a collective
carry uniform values only; the others go through a slot each: stored where they are made, loaded
where the body begins. Collectives read and write slots.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect.collectives import COLLECTIVES
from pykern.passes.analysis.uniformity import Uniformity
from pykern.passes.ir.clone import remake
from pykern.passes.kernel.work_groups.slots import Slots
from pykern.passes.kernels import identity


class Demotion:
    """Works on one kernel. `holds_convergent` and the slots go by `identity`.

    `slot_loads` are loads that may be repeated anywhere they dominate.
    """

    def __init__(self, slots: Slots, uniform: Uniformity, holds_convergent: set[int]) -> None:
        self.slots = slots
        self.uniform = uniform
        self.holds_convergent = holds_convergent
        self.slot_loads: set[ir.Value] = set()
        self.operand_slots: dict[int, list[ir.Value]] = {}
        self.result_slots: dict[int, ir.Value] = {}

    def block(self, block: ir.Block) -> None:
        """Demote everything under a block, innermost first."""
        for op in [o.operation for o in block.operations]:
            if op.name in COLLECTIVES:
                self._collective(op)
            elif identity(op) in self.holds_convergent:
                for region in op.regions:
                    for inner in region.blocks:
                        self.block(inner)
                {"scf.if": self._branch, "scf.for": self._for, "scf.while": self._while}[op.name](op)

    def _collective(self, op: ir.Operation) -> None:
        with ir.InsertionPoint(op), op.location:
            self.operand_slots[identity(op)] = [self._stored(v) for v in op.operands]
        if op.name == "kern.group_reduce":
            return
        slot = self.slots.slot(op.result.type)
        self.result_slots[identity(op)] = slot
        self._load_after(op, [(op.result, slot)])

    def _stored(self, value: ir.Value) -> ir.Value:
        slot = self.slots.slot(value.type)
        self.slots.store(value, slot)
        return slot

    def _load_after(self, op: ir.Operation, pairs: list[tuple[ir.Value, ir.Value]]) -> None:
        """Replace results by loads right behind the op."""
        block = op.block
        following = next_op(op)
        with ir.InsertionPoint(following) if following else ir.InsertionPoint(block), op.location:
            for result, slot in pairs:
                loaded = self._repeatable(slot, result.type)
                result.replace_all_uses_with(loaded)

    def _repeatable(self, slot: ir.Value, kind: ir.Type) -> ir.Value:
        loaded = self.slots.load(slot, kind)
        self.slot_loads.add(loaded)
        self.uniform.vary([loaded])
        if loaded.owner.operation.name == "arith.trunci":
            inner = loaded.owner.operation.operands[0]
            self.slot_loads.add(inner)
            self.uniform.vary([inner])
        return loaded

    def _varying(self, values) -> list[int]:
        return [i for i, v in enumerate(values) if not self.uniform.is_uniform(v)]

    def _branch(self, op: ir.Operation) -> None:
        demoted = self._varying(op.results)
        if not demoted:
            return
        slots = {i: self.slots.slot(op.results[i].type) for i in demoted}
        for region in op.regions:
            self._store_at_end(region.blocks[0], slots, 0)
        self._rebuild(op, slots, first_operand=1)

    def _for(self, op: ir.Operation) -> None:
        block = op.regions[0].blocks[0]
        demoted = self._varying(op.results)
        if not demoted:
            return
        slots = {i: self.slots.slot(op.results[i].type) for i in demoted}
        with ir.InsertionPoint(op), op.location:
            for i, slot in slots.items():
                self.slots.store(op.operands[3 + i], slot)
        self._load_arguments(block, {1 + i: slot for i, slot in slots.items()})
        self._store_at_end(block, slots, 0)
        self._rebuild(op, slots, first_operand=3)

    def _while(self, op: ir.Operation) -> None:
        test, step = op.regions[0].blocks[0], op.regions[1].blocks[0]
        before = {i: self.slots.slot(test.arguments[i].type) for i in self._varying(test.arguments)}
        after = {i: self.slots.slot(step.arguments[i].type) for i in self._varying(step.arguments)}
        after |= {i: self.slots.slot(op.results[i].type) for i in self._varying(op.results) if i not in after}
        if not before and not after:
            return
        with ir.InsertionPoint(op), op.location:
            for i, slot in before.items():
                self.slots.store(op.operands[i], slot)
        self._load_arguments(test, before)
        self._load_arguments(step, after)
        self._store_at_end(test, after, 1)
        self._store_at_end(step, before, 0)
        self._rebuild(
            op, after, first_operand=0, operands=[v for i, v in enumerate(op.operands) if i not in before]
        )

    def _load_arguments(self, block: ir.Block, slots: dict[int, ir.Value]) -> None:
        """Block arguments become loads at the start of the block; the arguments go."""
        with ir.InsertionPoint.at_block_begin(block), block.owner.location:
            for i, slot in slots.items():
                argument = block.arguments[i]
                argument.replace_all_uses_with(self._repeatable(slot, argument.type))
        for i in sorted(slots, reverse=True):
            block.erase_argument(i)

    def _store_at_end(self, block: ir.Block, slots: dict[int, ir.Value], skip: int) -> None:
        """Values handed to the terminator go into slots; the terminator keeps the others."""
        terminator = block.operations[len(block.operations) - 1].operation
        with ir.InsertionPoint(terminator), terminator.location:
            for i, slot in slots.items():
                self.slots.store(terminator.operands[skip + i], slot)
            kept = [v for i, v in enumerate(terminator.operands) if i - skip not in slots]
            ir.Operation.create(terminator.name, operands=kept)
        terminator.erase()

    def _rebuild(
        self,
        op: ir.Operation,
        slots: dict[int, ir.Value],
        first_operand: int,
        operands: list | None = None,
    ) -> None:
        """The same op without the demoted results and operands; its blocks are moved."""
        if operands is None:
            operands = [v for i, v in enumerate(op.operands) if i - first_operand not in slots]
        kept = [r for i, r in enumerate(op.results) if i not in slots]
        with ir.InsertionPoint(op), op.location:
            made = remake(op, operands, [r.type for r in kept], len(op.regions))
        for old, new in zip(op.regions, made.regions, strict=True):
            for block in list(old.blocks):
                block.append_to(new)
        for old, new in zip(kept, made.results, strict=True):
            old.replace_all_uses_with(new)
            if not self.uniform.is_uniform(old):
                self.uniform.vary([new])
        self._load_after_moved(op, made, slots)
        self.holds_convergent.discard(identity(op))
        self.holds_convergent.add(identity(made))
        op.erase()

    def _load_after_moved(self, op: ir.Operation, made: ir.Operation, slots: dict[int, ir.Value]) -> None:
        pairs = [(op.results[i], slot) for i, slot in slots.items()]
        following = next_op(op)
        assert following is not None  # a terminator stands behind
        with ir.InsertionPoint(following), op.location:
            for result, slot in pairs:
                if next(iter(result.uses), None) is not None:
                    result.replace_all_uses_with(self._repeatable(slot, result.type))


def next_op(op: ir.Operation) -> ir.Operation | None:
    """The op behind `op` in its block."""
    operations = list(op.block.operations)
    position = next(i for i, o in enumerate(operations) if o.operation == op)
    return operations[position + 1].operation if position + 1 < len(operations) else None
