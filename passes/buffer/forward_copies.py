"""Buffers that are only another buffer's copy go, and the copy with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.ir.apart import are_apart
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.memory import Positions, aliases, ancestor_in, is_distinct, root_of, users, writes
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import find, identity, named, programs


@dataclass(frozen=True)
class ForwardCopies(Pass):
    """Use the source of a copy in place of the copy, where nobody writes either while both live.

    In:  programs on memrefs, as bufferization leaves them.
    Out: the same without copies of a buffer onto itself, and without buffers that are filled by one
         copy and only read. What is written meanwhile may be another part of the source.
    """

    name: ClassVar[str] = "kern-forward-copies"
    looks_for: ClassVar[tuple[str, ...]] = ("memref.copy",)

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            for copy in named(function, "memref.copy"):
                if copy.operands[0] == copy.operands[1]:
                    copy.erase()
            positions = Positions(function)  # for all copies: this pass only erases ops
            for alloc in find(function, lambda op: op.name == "memref.alloc"):
                _forward(positions, alloc)


def _forward(positions: Positions, alloc: ir.Operation) -> None:
    copy = only_copy_into(alloc)
    if copy is None or not _fits(copy.operands[0], alloc.result, copy):
        return
    source = copy.operands[0]
    interval = positions.interval(alloc.result, alloc.block)
    touched = [op for op, _ in users(alloc.result)]
    if interval is None or any(ancestor_in(op, alloc.block) is None for op in touched):
        return
    if any(op.name == "func.return" for op in touched):
        return  # a result needs a place of its own
    if _is_carried(alloc.result) and any(writes(op, operand) for op, operand in users(root_of(source))):
        return  # in the next iteration it meets writes that stand before the copy
    if not _is_quiet(source, copy, positions, interval[1]):
        return
    copy.erase()
    alloc.result.replace_all_uses_with(source)
    alloc.erase()


def _fits(source: ir.Value, buffer: ir.Value, copy: ir.Operation) -> bool:
    """Whether whoever reads the buffer may read its source: structured ops take any layout."""
    if source.type == buffer.type:
        return True
    readers = [use.owner.operation for use in buffer.uses if use.owner.operation != copy]
    return all(reader.name == "linalg.generic" for reader in readers)


def _is_carried(buffer: ir.Value) -> bool:
    """Whether a loop carries the buffer to its next iteration."""
    for value in aliases(buffer):
        for use in value.uses:
            op = use.owner.operation
            around = op.parent
            ends_iteration = op.name in ("scf.condition", "scf.yield")
            if ends_iteration and around is not None and around.operation.name != "scf.if":
                return True
    return False


def only_copy_into(alloc: ir.Operation, until: ir.Operation | None = None) -> ir.Operation | None:
    """The copy that is the only writer of a buffer, in the buffer's own block; None where there is no such."""
    writers = [op for op, operand in users(alloc.result, until) if writes(op, operand)]
    if len(writers) != 1 or writers[0].name != "memref.copy" or writers[0].block != alloc.block:
        return None
    return writers[0] if writers[0].operands[1] == alloc.result else None


def _is_quiet(source: ir.Value, copy: ir.Operation, positions: Positions, last: int) -> bool:
    """Whether nobody writes the source from the copy to the last use of what it was copied to."""
    root = _carried_from(root_of(source))
    if not is_distinct(root):
        return False  # a select, or what a loop carries: several buffers, of which others may be written
    start = positions.first[identity(copy)]
    for op, operand in users(root):
        if op == copy or not writes(op, operand):
            continue
        at = ancestor_in(op, copy.block)
        if at is None and last < len(positions.first):
            continue  # all of it lies within one iteration of a loop that this op is outside of
        meanwhile = at is None or (
            positions.last[identity(at)] > start and positions.first[identity(at)] <= last
        )
        if meanwhile and not are_apart(op.operands[operand], source):
            return False
    return True


def _carried_from(value: ir.Value) -> ir.Value:
    """What a loop carries unchanged is what it begins with."""
    loop = value.owner.owner.operation if is_argument(value) else None
    if loop is None or loop.name != "scf.for" or value == loop.opview.induction_variable:
        return value
    number = ir.BlockArgument(value).arg_number - 1
    if terminator_operands(loop.regions[0].blocks[0])[number] != value:
        return value
    return _carried_from(root_of(loop.operands[3 + number]))
