"""Which values are the same for all work-items of a group.

Comes in: a kernel at the work-item level. Goes out: the set of values that may differ.
Optimistic: everything is uniform until a source of difference reaches it, through operands, through
loop-carried values, or through the condition of the branch or loop that gives it.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.kernels import BUFFERS, WRITTEN_OPERAND, find, named

SOURCES = frozenset(
    {
        "kern.global_id", "kern.local_id", "kern.lane_id", "kern.subgroup_id", "kern.local_linear_id",
        "kern.atomic_rmw", "kern.atomic_cas", "kern.subgroup_reduce", "kern.subgroup_scan",
        "kern.subgroup_exclusive_scan", "kern.subgroup_shuffle", "kern.subgroup_broadcast", "func.call",
        "gpu.thread_id",
    }
)  # fmt: skip
ALWAYS = frozenset({"kern.group_reduce", "kern.shared", "kern.dynamic_shared", "kern.private"})
_BUFFERS = (*BUFFERS, "memref.alloca", "memref.alloc")


class Uniformity:
    """The analysis of one kernel; ask with `is_uniform`."""

    def __init__(self, kernel: ir.Operation) -> None:
        self._varying: set[ir.Value] = set()
        self._written = written_memory(kernel)
        self._aliased = bool(self._written) and kern.NOALIAS not in kernel.attributes
        ops = find(kernel, lambda op: True)
        changed = True
        while changed:
            before = len(self._varying)
            for op in ops:
                self._visit(op)
            changed = len(self._varying) != before

    def is_uniform(self, value: ir.Value) -> bool:
        return value not in self._varying

    def all_uniform(self, values) -> bool:
        return all(v not in self._varying for v in values)

    def vary(self, values) -> None:
        """These may differ: sources found by the analysis, or values a pass made since."""
        self._varying.update(values)

    def _visit(self, op: ir.Operation) -> None:
        if op.name in ALWAYS:
            return
        if op.name == "scf.if":
            self._branch(op)
        elif op.name == "scf.for":
            self._for(op)
        elif op.name == "scf.while":
            self._while(op)
        elif op.name in SOURCES or not self.all_uniform(op.operands) or self._mutable_load(op):
            self.vary(op.results)

    def _mutable_load(self, op: ir.Operation) -> bool:
        """A load from memory that the kernel itself writes, or that belongs to the work-item."""
        return op.name == "memref.load" and (self._aliased or op.operands[0] in self._written)

    def _branch(self, op: ir.Operation) -> None:
        if not self.is_uniform(op.operands[0]):
            self.vary(op.results)
            return
        for region in op.regions:
            for block in region.blocks:
                self._match(op.results, block.operations[len(block.operations) - 1].operands)

    def _for(self, op: ir.Operation) -> None:
        block = op.regions[0].blocks[0]
        carried = list(block.arguments)[1:]
        ends = block.operations[len(block.operations) - 1].operands
        if not self.all_uniform(op.operands[i] for i in range(3)):
            self.vary(block.arguments)
            self.vary(op.results)
        self._match(carried, list(op.operands)[3:])
        self._match(carried, ends)
        self._match(op.results, carried)

    def _while(self, op: ir.Operation) -> None:
        test, step = op.regions[0].blocks[0], op.regions[1].blocks[0]
        condition = test.operations[len(test.operations) - 1]
        self._match(test.arguments, op.operands)
        self._match(test.arguments, step.operations[len(step.operations) - 1].operands)
        if not self.is_uniform(condition.operands[0]):
            self.vary(test.arguments)
            self.vary(op.results)
        forwarded = list(condition.operands)[1:]
        self._match(step.arguments, forwarded)
        self._match(op.results, forwarded)

    def _match(self, targets, sources) -> None:
        for target, value in zip(targets, sources, strict=True):
            if value in self._varying:
                self._varying.add(target)


def written_memory(kernel: ir.Operation) -> set[ir.Value]:
    """Memory that the kernel stores to, and all memory it makes itself."""
    written = {op.operands[WRITTEN_OPERAND[op.name]] for op in named(kernel, *WRITTEN_OPERAND)}
    made = find(kernel, lambda op: op.name in _BUFFERS)
    return written | {op.results[0] for op in made}
