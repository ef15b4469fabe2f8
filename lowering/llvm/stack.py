"""Memory of a function's own goes to the heap where the stack has no room for it.

Comes in: loops with `memref.alloca` of any size: private arrays, their lanes, shared memory of a group, values that
live across barriers. Goes out: the same, of which at most `FUNCTION_STACK_BYTES` a function lie on the stack of
whatever thread calls it. What the others ask for: `pykern.lowering.llvm.scratch`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref

from pykern.passes.analysis.cost_model.memory import FUNCTION_STACK_BYTES
from pykern.passes.framework import Pass
from pykern.passes.kernels import identity, named


@dataclass(frozen=True)
class LimitStack(Pass):
    """Allocate on the heap what is more than `stack_bytes` in a function.

    In:  functions of one block with static `memref.alloca`, also in loops.
    Out: each at the function's top, so that loops take no more with each iteration; the largest ones are `memref.alloc`
         until the others fit, and are given back at the end.
    """

    name: ClassVar[str] = "kern-limit-stack"
    looks_for: ClassVar[tuple[str, ...]] = ("memref.alloca",)
    stack_bytes: int = FUNCTION_STACK_BYTES

    def run(self, module: ir.Module) -> None:
        for function in (op.operation for op in module.body.operations):
            if function.name == "func.func" and len(function.regions[0].blocks) == 1:
                self._limit(function)

    def _limit(self, function: ir.Operation) -> None:
        found = [op for op in named(function, "memref.alloca") if not list(op.operands)]
        sizes = {identity(op): nbytes(ir.MemRefType(op.results[0].type)) for op in found}
        block = function.regions[0].blocks[0]
        for op in found:
            if identity(op.block.owner.operation) != identity(function):
                op.move_before(block.operations[0].operation)
        total = 0
        for op in sorted(found, key=lambda op: sizes[identity(op)]):
            total += sizes[identity(op)]
            if total > self.stack_bytes:
                _to_heap(op, block)


def nbytes(kind: ir.MemRefType) -> int:
    """Bytes of a buffer of static shape."""
    element, lanes = kind.element_type, 1
    if isinstance(element, ir.VectorType):
        element, lanes = element.element_type, math.prod(element.shape)
    width = 64 if isinstance(element, ir.IndexType) else element.width
    return math.prod(kind.shape) * lanes * max(1, width // 8)


def _to_heap(op: ir.Operation, block: ir.Block) -> None:
    line = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 64)
    with ir.InsertionPoint(op), op.location:
        made = memref.AllocOp(op.results[0].type, [], [], alignment=line)
    op.results[0].replace_all_uses_with(made.result)
    with ir.InsertionPoint(block.operations[len(block.operations) - 1]), op.location:
        memref.DeallocOp(made.result)
    op.erase()
