"""What of a loop has to run in the order of its iterations, and what has not.

Comes in: a loop in a loop over rows. Goes out: `Chain`: ops that depend on what the loop carries, which run in order,
and the values that they need of an iteration, which can be computed for several iterations at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.values import defining, is_inside
from pykern.passes.kernels import find, is_constant
from pykern.passes.vectorize.accesses import LoopAccess, LoopAccesses, accesses_of, is_vector_element
from pykern.passes.vectorize.selection import reductions_of


@dataclass(frozen=True)
class Chain:
    """A loop that carries values through its iterations in order."""

    loop: ir.Operation
    accesses: LoopAccesses
    """Without stores of what the chain computes."""
    stores: tuple[LoopAccess, ...]
    """Stores of what the chain computes."""
    needed: tuple[ir.Value, ...]
    """Values of an iteration that the chain reads and that do not depend on it."""
    ops: frozenset[ir.Value] = field(repr=False)
    """Results of the ops of the chain."""

    @property
    def carried(self) -> list[ir.Value]:
        arguments: list[ir.Value] = [*self.loop.regions[0].blocks[0].arguments]
        return arguments[1:]

    @property
    def starts(self) -> list[ir.Value]:
        return list(self.loop.operands)[3:]


def chain_of(loop: ir.Operation, rows: ir.Operation, arrays: list[ir.Value]) -> Chain | None:
    """The chain of a loop in the body of a loop over rows; None where there is none that is known to run in lanes."""
    if not _is_candidate(loop, rows) or reductions_of(loop):
        return None
    accesses = accesses_of(loop, arrays)
    if accesses is None or all(load.column is None for load in accesses.loads):
        return None
    block = loop.regions[0].blocks[0]
    carried = list(block.arguments)[1:]
    depends = set(carried)
    for op in [o.operation for o in block.operations][:-1]:
        if op.results and any(operand in depends for operand in op.operands):
            depends |= set(op.results)
    stores = tuple(store for store in accesses.stores if store.op.operands[0] in depends)
    if any(store.memory in [load.memory for load in _behind(store.op, accesses)] for store in stores):
        return None
    needed = _needed(loop, rows, depends)
    if not all(is_vector_element(value.type) or _is_truth(value) for value in needed):
        return None
    kept = tuple(store for store in accesses.stores if store not in stores)
    plain = LoopAccesses(accesses.loads, kept, ())
    return Chain(loop, plain, stores, needed, frozenset(depends - set(carried)))


def _is_candidate(loop: ir.Operation, rows: ir.Operation) -> bool:
    """A loop of step 1 whose bounds are those of all rows, and which carries numbers, floats among them."""
    if loop.name != "scf.for" or not loop.results or is_constant(loop.operands[2]) != 1:
        return False
    if "unsignedCmp" in loop.attributes or "llvm.loop_annotation" in loop.attributes:
        return False
    kinds = [result.type for result in loop.results]
    return (
        isinstance(loop.operands[0].type, ir.IndexType)
        and not any(is_inside(bound, rows) for bound in list(loop.operands)[:2])
        and all(is_vector_element(kind) or isinstance(kind, ir.IndexType) for kind in kinds)
        and any(isinstance(kind, ir.FloatType) for kind in kinds)
        and not find(loop, lambda op: bool(op.regions))
    )


def _behind(op: ir.Operation, accesses: LoopAccesses) -> list[LoopAccess]:
    """Loads that come after an op of the body."""
    return [load for load in accesses.loads if op.is_before_in_block(load.op)]


def _needed(loop: ir.Operation, rows: ir.Operation, depends: set[ir.Value]) -> tuple[ir.Value, ...]:
    """What the chain reads of an iteration, in order; not what is the same for all rows."""
    block = loop.regions[0].blocks[0]
    read: list[ir.Value] = []
    for op in [o.operation for o in block.operations][:-1]:
        if op.results and op.results[0] in depends:
            read += op.operands
    read += terminator_operands(block)
    return tuple(
        value
        for value in dict.fromkeys(read)
        if value not in depends and is_inside(value, loop) and not _is_of_all_rows(value, loop, rows)
    )


def _is_of_all_rows(value: ir.Value, loop: ir.Operation, rows: ir.Operation) -> bool:
    """Whether a value depends on the iteration alone, and not on the row or on memory."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one == loop.opview.induction_variable or not is_inside(one, rows):
            continue
        op = defining(one)
        if op is None or not is_inside(one, loop) or op.name == "memref.load":
            return False
        waiting += op.operands
    return True


def _is_truth(value: ir.Value) -> bool:
    return value.type == ir.IntegerType.get_signless(1)
