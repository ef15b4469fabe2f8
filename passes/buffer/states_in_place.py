"""A loop that keeps the state of every iteration makes each state where it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.analysis.cost_model.caches import BUFFER_SPREAD_BYTES, LINE_BYTES, SPREAD_BUFFER_BYTES
from pykern.passes.buffer.keep_in_place import terminator
from pykern.passes.buffer.multi_buffer import trip_count
from pykern.passes.framework import Pass
from pykern.passes.ir.memory import aliases, bytes_of, users, writes
from pykern.passes.ir.values import is_argument, made_by
from pykern.passes.kernels import body, find, index_constant, is_constant, programs


@dataclass(frozen=True)
class StatesInPlace(Pass):
    """Let a loop step from one entry of its stack to the next, rather than copy each state to the stack.

    In:  programs on memrefs. A loop copies a carried buffer, which it does not write, to entry 0, 1, ... of
         a stack made before the loop, and yields a buffer of its own; else only entries of the stack are read.
    Out: a stack with one entry more, of which each is a `memref.view` of bytes: the loop reads one and writes
         the next. The first is copied there before the loop; the last is what the loop results in. Starts of
         entries differ modulo 4096, which loads that follow stores would wait for.
    """

    name: ClassVar[str] = "kern-states-in-place"
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            for loop in find(function, lambda op: op.name == "scf.for"):  # innermost first
                for place in range(len(loop.results)):
                    found = _kept(loop, place)
                    if found is not None:
                        _step_in_stack(loop, place, found)


@dataclass(frozen=True)
class _Kept:
    """The copy of a state to its entry, the stack, and the buffer of the next state."""

    copy: ir.Operation
    stack: ir.Operation
    made: ir.Operation


def _kept(loop: ir.Operation, place: int) -> _Kept | None:
    """What is known of the carried buffer `place`, where it is of the pass's form."""
    state, end = body(loop).arguments[1 + place], terminator(loop)
    made = end.operands[place]
    if not isinstance(state.type, ir.MemRefType) or not _is_alloc(made) or made.type != state.type:
        return None
    if made.owner.operation.block != body(loop) or is_constant(loop.operands[2]) != 1:
        return None
    if _yields(state, end) or _yields(made, end) != [place]:
        return None
    if any(writes(op, operand) for op, operand in users(state, until=end)):
        return None
    for use in state.uses:
        copy = use.owner.operation
        if copy.name != "memref.copy" or use.operand_number or copy.block != body(loop):
            continue
        entry = copy.operands[1]
        if is_argument(entry) or not _is_entry(entry.owner.operation, state.type):
            continue
        stack, number = entry.owner.operation.operands[0], entry.owner.operation.operands[1]
        known = _is_alloc(stack) and not list(stack.owner.operation.operands)  # the number of its entries
        if known and _counts(number, loop) and _is_a_stack(stack, state.type, copy):
            return _Kept(copy, stack.owner.operation, made.owner.operation)
    return None


def _is_alloc(value: ir.Value) -> bool:
    return made_by(value, "memref.alloc") is not None


def _yields(value: ir.Value, end: ir.Operation) -> list[int]:
    """The positions at which the buffer, or a view of it, is yielded."""
    reached = aliases(value, until=end)
    return [k for k, operand in enumerate(end.operands) if operand in reached]


def _is_entry(op: ir.Operation, state: ir.MemRefType) -> bool:
    """Whether a subview is one whole entry of a stack of such states, at a number from an operand."""
    if op.name != "memref.subview" or len(op.operands) != 2:
        return False
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    shape = list(state.shape)
    return (
        sizes == [1, *shape]
        and offsets[1:] == [0] * len(shape)
        and set(strides) == {1}
        and list(ir.MemRefType(op.operands[0].type).shape)[1:] == shape
        and list(ir.MemRefType(op.results[0].type).shape) == shape
    )


def _counts(number: ir.Value, loop: ir.Operation) -> bool:
    """Whether a number is 0, 1, ... in the iterations of the loop."""
    counter, lower = body(loop).arguments[0], loop.operands[0]
    if number == counter:
        return is_constant(lower) == 0
    if made_by(number, "arith.subi") is None:
        return False
    return list(number.owner.operation.operands) == [counter, lower]


def _is_a_stack(stack: ir.Value, state: ir.MemRefType, copy: ir.Operation) -> bool:
    """Whether all that happens to it besides the copy is that entries are read."""
    if not all(_is_entry(use.owner.operation, state) for use in stack.uses):
        return False
    return not any(writes(op, operand) for op, operand in users(stack) if op != copy)


def _step_in_stack(loop: ir.Operation, place: int, kept: _Kept) -> None:
    state = body(loop).arguments[1 + place]
    kind, count = ir.MemRefType(state.type), ir.MemRefType(kept.stack.result.type).shape[0]
    size = bytes_of(kind)
    distance = (
        -(-(size + (BUFFER_SPREAD_BYTES if size >= SPREAD_BUFFER_BYTES else 0)) // LINE_BYTES) * LINE_BYTES
    )
    with ir.InsertionPoint(kept.stack), kept.stack.location:
        byte = ir.MemRefType.get([(count + 1) * distance], ir.IntegerType.get_signless(8))
        stack = memref.AllocOp(byte, [], []).result

    def entry(number: ir.Value) -> ir.Value:
        shift = arith.MulIOp(number, index_constant(distance)).result
        return memref.ViewOp(kind, stack, shift, []).result

    with ir.InsertionPoint(loop), loop.location:
        memref.CopyOp(loop.operands[3 + place], entry(index_constant(0)))
        if list(loop.results[place].uses):
            last = trip_count(loop)
    if list(loop.results[place].uses):
        with ir.InsertionPoint.after(loop), loop.location:
            loop.results[place].replace_all_uses_with(entry(last))
    with ir.InsertionPoint.at_block_begin(body(loop)), kept.copy.location:
        number = body(loop).arguments[0]
        if is_constant(loop.operands[0]) != 0:
            number = arith.SubIOp(number, loop.operands[0]).result
        here = entry(number)
        following = entry(arith.AddIOp(number, index_constant(1)).result)
    kept.copy.erase()
    for use in list(kept.stack.result.uses):
        cut = use.owner.operation
        with ir.InsertionPoint(cut), cut.location:
            cut.results[0].replace_all_uses_with(memref.cast(cut.results[0].type, entry(cut.operands[1])))
        cut.erase()
    kept.stack.erase()
    state.replace_all_uses_with(here)
    kept.made.result.replace_all_uses_with(following)
    kept.made.erase()
    terminator(loop).operands[place] = state
