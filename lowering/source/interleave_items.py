"""Loops of neighbouring work-items are interchanged with the loop over work-items, block by block.

Comes in: a kernel as loops over work-items, each of which has a loop of its own. Goes out: loops over blocks of
work-items, in which all work-items of a block do one iteration of that loop before they do the next one; a sum that
each of them carries becomes an array of sums. Read next: `item_blocks`, which writes the loops.

Why: compilers vectorise innermost loops, and keep the sums of a block in registers. The loop of a work-item itself
often cannot be vectorised: it goes down a column of an array, has another trip count in each work-item, or must add in
order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.lowering.source.item_blocks import Items, emit_blocks
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.registers import (
    BLOCK_COLUMNS,
    BLOCK_ROWS,
    PRINTED_ITERATIONS,
    PRINTED_STEPS,
    SUMMED_ROWS,
    WAITING_COLUMNS,
)
from pykern.passes.analysis.strides import stride
from pykern.passes.framework import Pass
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.values import is_inside, parent_of
from pykern.passes.kernels import find, is_constant, named

_PURE = ("arith.", "math.")


@dataclass(frozen=True)
class InterleaveItems(Pass):
    """Let the work-items of a block run each iteration of their loops together.

    In:  kernels without shared memory, as loops over work-items (`kern.items`) on flat memory. A work-item computes,
         has one loop of sums (`scf.for`) or one with a condition (`scf.while`), and stores.
    Out: loops over blocks, where neighbouring work-items read neighbouring elements or the same ones, where the loop
         reads no memory, or where it adds up rows of floats in their order. The loops as they were do what is left,
         where a block does not divide the index space.
    """

    name: ClassVar[str] = "kern-interleave-items"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if kern.SEQUENTIAL in kernel.attributes:
                continue
            for loop in find(kernel, lambda op: kern.ITEMS in op.attributes):
                items = _items(kernel, loop)
                if items is not None:
                    emit_blocks(items)


def _items(kernel: ir.Operation, loop: ir.Operation) -> Items | None:
    """A loop over work-items with the size of its blocks; None where it stays as it is."""
    ops = [op.operation for op in loop.regions[0].blocks[0].operations][:-1]
    inner = [op for op in ops if op.regions]
    if [op.name for op in inner] not in (["scf.for"], ["scf.while"]):
        return None
    if is_constant(loop.operands[2]) != 1 or len(loop.results):
        return None
    number = ops.index(inner[0])
    before, behind = ops[:number], ops[number + 1 :]
    written = {op.operands[1] for op in named(kernel, "memref.store")}
    if not all(_may_repeat(op, written) for op in before) or not all(_stays(op) for op in behind):
        return None
    if inner[0].name == "scf.while":
        wanted = WAITING_COLUMNS if _only_computes(inner[0]) else ()
        outer = None
    else:
        loads = _loads(inner[0], loop, written)
        wanted, outer = (), None
        if _is_written_out(inner[0]):
            pass  # compilers make vectors of neighbouring work-items, and what is carried stays in registers
        elif loads is not None and _moves_by_one(loads, loop):
            wanted, outer = BLOCK_COLUMNS, _row_loop(loop, loads)
        elif loads and _adds_floats(inner[0]) and _moves_by_one(loads, inner[0]):
            wanted = SUMMED_ROWS
    columns = _divisor(loop, wanted)
    if columns == 0:
        return None
    rows = 1 if outer is None else _divisor(outer, BLOCK_ROWS)
    return Items(kernel, loop, inner[0], behind, columns, outer if rows > 1 else None, max(rows, 1))


def _is_written_out(loop: ir.Operation) -> bool:
    """Whether compilers replace a loop by all of its iterations, so that no loop is left in a work-item."""
    if loop.name != "scf.for":
        return False
    first, end, step = (is_constant(bound) for bound in list(loop.operands)[:3])
    if first is None or end is None or not step:
        return False
    count = len(range(first, end, step))
    return count <= PRINTED_ITERATIONS and count * len(find(loop, lambda op: True)) <= PRINTED_STEPS


def _may_repeat(op: ir.Operation, written: set[ir.Value]) -> bool:
    """Whether an op in front of the loop may be computed again wherever its result is needed."""
    return op.name.startswith(_PURE) or (op.name == "memref.load" and op.operands[0] not in written)


def _stays(op: ir.Operation) -> bool:
    """Whether an op behind the loop may run for one work-item of a block after the other."""
    return op.name.startswith(_PURE) or op.name in ("memref.load", "memref.store")


def _only_computes(loop: ir.Operation) -> bool:
    """Whether a loop's condition and body only compute: they run also for work-items whose own loop has ended."""
    inside = find(loop, lambda op: op.name not in ("scf.condition", "scf.yield"))
    return bool(loop.results) and all(is_speculatable(op) or op.name.startswith("math.") for op in inside)


def _loads(inner: ir.Operation, loop: ir.Operation, written: set[ir.Value]) -> list[ir.Operation] | None:
    """The loads of a loop of sums, if it has sums and nothing else, of memory that the kernel does not write."""
    block = inner.regions[0].blocks[0]
    ops = [op.operation for op in block.operations][:-1]
    is_plain = all(op.name.startswith(_PURE) or op.name == "memref.load" for op in ops)
    bounds_are_one = not any(is_inside(bound, loop) for bound in list(inner.operands)[:3])
    if not is_plain or not bounds_are_one or not len(inner.results):
        return None
    loads = [op for op in ops if op.name == "memref.load"]
    return None if any(op.operands[0] in written for op in loads) else loads


def _moves_by_one(loads: list[ir.Operation], loop: ir.Operation) -> bool:
    """Whether neighbouring iterations of a loop read neighbouring elements, or the same."""
    counter = loop.regions[0].blocks[0].arguments[0]
    return all(stride(op.operands[1], counter) in (0, 1) for op in loads)


def _adds_floats(inner: ir.Operation) -> bool:
    """Whether each iteration waits for the one before: compilers may not add floats in another order."""
    return all(isinstance(result.type, ir.FloatType) for result in inner.results)


def _row_loop(loop: ir.Operation, loads: list[ir.Operation]) -> ir.Operation | None:
    """The loop over another dimension around `loop`, if a load reads the same element for all of its iterations: blocks
    then have rows, which share that load."""
    around = parent_of(loop)
    if around.name != "scf.for" or len(around.results) or is_constant(around.operands[2]) != 1:
        return None
    others = [op.operation for op in around.regions[0].blocks[0].operations][:-1]
    if any(op != loop and not op.name.startswith(_PURE) for op in others):
        return None
    if any(is_inside(bound, around) for bound in list(loop.operands)[:3]):
        return None
    counter = around.regions[0].blocks[0].arguments[0]
    return around if any(stride(op.operands[1], counter) == 0 for op in loads) else None


def _divisor(loop: ir.Operation, wanted: tuple[int, ...]) -> int:
    """The first of the sizes that divides a loop's trip count, or else the first one; 0 where the loop is shorter."""
    first, end = (is_constant(bound) for bound in list(loop.operands)[:2])
    if not wanted:
        return 0
    if first is None or end is None:
        return wanted[0]
    count = end - first
    fitting = [size for size in wanted if count % size == 0]
    return fitting[0] if fitting else wanted[0] if count >= wanted[0] else 0
