"""Multi-buffering: a loop writes into a few buffers in rotation instead of allocating one in each iteration.

Comes in: loops that carry buffers which they allocate, such as time steps of a simulation. Goes out: the same loops
over buffers that were allocated before them. Read next: `keep_in_place` (loops for which this is not possible).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.buffer.keep_in_place import escapes, keep_in_place, terminator
from pykern.passes.framework import Pass
from pykern.passes.ir.memory import aliases, allocations
from pykern.passes.kernels import body, find, index_constant, is_constant, programs


@dataclass(frozen=True)
class MultiBuffer(Pass):
    """Take buffers that loops allocate and carry out of the loops.

    A buffer made in one iteration and read for `k` iterations more is one of `k + 1` buffers made before
    the loop, chosen by the iteration's number. Iterations are counted so that the last one always writes
    the first of them: what comes after the loop knows where the result lies, and no pointer is carried.
    Where the number of iterations is open (scf.while), and where there is no end to `k`, carried buffers
    have one place each and are copied there.

    In:  programs on memrefs; `memref.alloc` inside loops, yielded by them.
    Out: no allocation inside a loop is yielded by it.
    """

    name: ClassVar[str] = "kern-multi-buffer"
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for", "scf.while")

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            for loop in find(function, lambda op: op.name in ("scf.for", "scf.while")):  # innermost first
                if loop.name == "scf.for":
                    _rotate(loop)
                elif any(escapes(alloc, loop) for alloc in allocations(loop)):
                    keep_in_place(loop)


def _rotate(loop: ir.Operation) -> None:
    all_lives = [(alloc, _lives(alloc.result, loop)) for alloc in allocations(loop)]
    escaping = [(alloc, lives) for alloc, lives in all_lives if lives != 0]
    if not escaping:
        return
    if any(lives is None for _, lives in escaping):
        keep_in_place(loop)
        return
    with ir.InsertionPoint(loop), loop.location:
        trips = trip_count(loop)
    for alloc, lives in escaping:
        assert lives is not None
        _take_out(loop, alloc, lives + 1, trips)


def _lives(value: ir.Value, loop: ir.Operation) -> int | None:
    """The number of iterations after its own in which a buffer is read; None where it has no bound."""
    arguments = list(body(loop).arguments)[1:]
    lives, at = 0, _yielded_at(value, loop)
    while at:
        lives += 1
        if lives > len(arguments):
            return None
        at = {k for position in at for k in _yielded_at(arguments[position], loop)}
    return lives


def _yielded_at(value: ir.Value, loop: ir.Operation) -> set[int]:
    end = terminator(loop)
    uses = [use for alias in aliases(value, until=end) for use in alias.uses]
    return {use.operand_number for use in uses if use.owner.operation == end}


def trip_count(loop: ir.Operation) -> ir.Value:
    """The trip count of a loop as an index, at least 0."""
    lower, upper, step = (_index(v) for v in list(loop.operands)[:3])
    known = [is_constant(v) for v in list(loop.operands)[:3]]
    if None not in known:
        return index_constant(len(range(*known)))
    length = arith.MaxSIOp(arith.SubIOp(upper, lower).result, index_constant(0)).result
    return arith.CeilDivSIOp(length, step).result


def _index(value: ir.Value) -> ir.Value:
    if isinstance(value.type, ir.IndexType):
        return value
    return arith.IndexCastOp(ir.IndexType.get(), value).result


def _take_out(loop: ir.Operation, alloc: ir.Operation, count: int, trips: ir.Value) -> None:
    kind = ir.MemRefType(alloc.result.type)
    finals = _finals(loop, alloc.result)
    with ir.InsertionPoint(loop), alloc.location:
        pool = [memref.AllocOp(kind, [], []).result for _ in range(count)]
        shift = _shift(trips, count)
    with ir.InsertionPoint.at_block_begin(body(loop)), alloc.location:
        rotation = _rotation(loop, shift, count)
        chosen = pool[0]
        for number in range(1, count):
            mine = arith.CmpIOp(arith.CmpIPredicate.eq, rotation, index_constant(number)).result
            chosen = arith.SelectOp(mine, pool[number], chosen).result
    alloc.result.replace_all_uses_with(chosen)
    alloc.erase()
    for position, depth in finals.items():
        _settle(loop, position, pool[-depth % count], depth, trips)


def _shift(trips: ir.Value, count: int) -> ir.Value:
    """What to add to the iteration's number so that the last iteration writes buffer 0."""
    known, size = is_constant(trips), index_constant(count)
    if known is not None:
        return index_constant(-(known - 1) % count)
    last = arith.SubIOp(arith.MaxSIOp(trips, index_constant(1)).result, index_constant(1)).result
    return arith.SubIOp(size, arith.RemUIOp(last, size).result).result


def _rotation(loop: ir.Operation, shift: ir.Value, count: int) -> ir.Value:
    """The number of the buffer that the current iteration writes."""
    counter = _index(body(loop).arguments[0])
    lower, step = _index(loop.operands[0]), _index(loop.operands[2])
    number = arith.DivUIOp(arith.SubIOp(counter, lower).result, step).result
    return arith.RemUIOp(arith.AddIOp(number, shift).result, index_constant(count)).result


def _finals(loop: ir.Operation, value: ir.Value) -> dict[int, int]:
    """Results of the loop that are exactly the buffer of the last iteration (0), of the one before (1), ..."""
    yields, arguments = list(terminator(loop).operands), list(body(loop).arguments)[1:]
    found: dict[int, int] = {}
    level, depth = [value], 0
    while level:
        at = [k for k, y in enumerate(yields) if y in level and k not in found]
        found |= dict.fromkeys(at, depth)
        level, depth = [arguments[k] for k in at], depth + 1
    return found


def _settle(loop: ir.Operation, position: int, buffer: ir.Value, depth: int, trips: ir.Value) -> None:
    """After the loop `buffer` is what its result was; a loop that ran too few times has it copied there."""
    result = loop.results[position]
    known = is_constant(trips)
    if known is not None and known <= depth:
        return
    result.replace_all_uses_with(buffer)
    if known is not None:
        return
    with ir.InsertionPoint(_after(loop)), loop.location:
        few = arith.CmpIOp(arith.CmpIPredicate.sle, trips, index_constant(depth)).result
        branch = scf.IfOp(few)
        with ir.InsertionPoint(branch.then_block):
            memref.CopyOp(result, buffer)
            scf.YieldOp([])


def _after(loop: ir.Operation) -> ir.Operation:
    operations = [o.operation for o in loop.block.operations]
    return operations[operations.index(loop) + 1]
