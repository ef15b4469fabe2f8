"""The forward sweep: the kernel once more, with what the reverse sweep will ask for.

Comes in: the kernel's blocks. Goes out: a copy in the new function, `values` from each value of the
kernel to that of the copy, and per loop how often it ran. Stores nobody in the launch reads are left
out; where a cell is stored that is also read, its old value is loaded first, to be put back.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.ir.clone import remake
from pykern.passes.kernels import identity, index_constant


def copy_of(op: ir.Operation, operands: list[ir.Value], extra: tuple[ir.Type, ...] = ()) -> ir.Operation:
    """The op on other operands, its regions empty, at the current insertion point; `extra` results behind."""
    return remake(op, operands, [*(r.type for r in op.results), *extra], len(op.regions))


class ForwardSweep:
    """Copies blocks. `dropped` are ops to leave out, by `identity`; `restored` arrays to put back."""

    def __init__(self, dropped: set[int], restored: set[ir.Value]) -> None:
        self.dropped = dropped
        self.restored = restored
        self.values: dict[ir.Value, ir.Value] = {}
        self.blocks: dict[tuple[int, int], ir.Block] = {}
        self.trips: dict[int, ir.Value] = {}
        self.overwritten: dict[int, ir.Value] = {}

    def of(self, values) -> list[ir.Value]:
        """The copies of these values."""
        return [self.values[v] for v in values]

    def operations(self, operations: list[ir.Operation]) -> None:
        """Copy ops to the current insertion point."""
        for op in operations:
            if identity(op) not in self.dropped:
                self._operation(op)

    def block_of(self, op: ir.Operation, region: int) -> ir.Block:
        """The copy of the block in a region of the kernel."""
        return self.blocks[identity(op), region]

    def _operation(self, op: ir.Operation) -> None:
        if op.name == "scf.while":
            self._while(op)
            return
        if op.name == "memref.store" and op.operands[1] in self.restored:
            with op.location:
                array, *indices = self.of(list(op.operands)[1:])
                self.overwritten[identity(op)] = memref.LoadOp(array, indices).result
        made = copy_of(op, self.of(op.operands))
        self._results(op, made)
        for number, region in enumerate(op.regions):
            for block in region.blocks:
                self._block(op, number, block, made)

    def _results(self, op: ir.Operation, made: ir.Operation) -> None:
        self.values.update(zip(op.results, made.results, strict=False))

    def _block(
        self, op: ir.Operation, number: int, block: ir.Block, made: ir.Operation, extra: tuple = ()
    ) -> ir.Block:
        types = [*(a.type for a in block.arguments), *extra]
        copy = made.regions[number].blocks.append(*types, arg_locs=[op.location] * len(types))
        self.blocks[identity(op), number] = copy
        self.values.update(zip(block.arguments, copy.arguments, strict=False))
        with ir.InsertionPoint(copy):
            self.operations([o.operation for o in block.operations])
        return copy

    def _while(self, op: ir.Operation) -> None:
        """Copy a while loop; the copy also counts its iterations."""
        index = ir.IndexType.get()
        with op.location:
            made = copy_of(op, [*self.of(op.operands), index_constant(0)], (index,))
        self._results(op, made)
        self.trips[identity(op)] = made.results[len(op.results)]
        before, after = (region.blocks[0] for region in op.regions)
        copies = [self._block(op, n, b, made, (index,)) for n, b in enumerate((before, after))]
        for copy, step in zip(copies, (0, 1), strict=True):
            end = copy.operations[len(copy.operations) - 1].operation
            with ir.InsertionPoint(end), op.location:
                count = copy.arguments[len(copy.arguments) - 1]
                if step:
                    count = arith.AddIOp(count, index_constant(1)).result
                copy_of(end, [*end.operands, count])
            end.erase()
