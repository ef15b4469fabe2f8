"""A loop that exchanges its buffers (`a, b = b, a`) exchanges pointers, not contents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.buffer.forward_copies import only_copy_into
from pykern.passes.buffer.keep_in_place import terminator
from pykern.passes.framework import Pass
from pykern.passes.ir.memory import aliases, users, writes
from pykern.passes.ir.values import is_argument, made_by
from pykern.passes.kernels import body, find, is_constant, programs


@dataclass(frozen=True)
class SwapBuffers(Pass):
    """Yield the buffers themselves where a loop yields copies of its carried buffers in other places.

    In:  programs on memrefs; bufferization copies each carried buffer that changes its place.
    Out: the loop yields a buffer as it is where it goes to a place that is only read, and where buffers
         that were made for the loop alone go round in a cycle.
    """

    name: ClassVar[str] = "kern-swap-buffers"
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            for loop in find(function, lambda op: op.name == "scf.for"):  # innermost first
                _swap(loop)


def _swap(loop: ir.Operation) -> None:
    moves = _moves(loop)
    for place in list(moves):
        if not _is_written(loop, place) and not _goes_elsewhere(loop, moves[place][0]):
            _exchange(loop, [place], moves)
    moves = {place: move for place, move in moves.items() if _is_copied(loop, place)}
    cycles = [cycle for start in moves if (cycle := _cycle(moves, start)) and min(cycle) == start]
    for cycle in cycles:
        if all(_is_private(loop, k) for k in cycle):
            _exchange(loop, cycle, moves)
            _settle(loop, cycle, moves)


def _moves(loop: ir.Operation) -> dict[int, tuple[int, ir.Operation, ir.Operation]]:
    """Places whose next buffer is a copy of another place's: place -> (place it comes from, copy, alloc)."""
    end = terminator(loop)
    arguments = list(body(loop).arguments)[1:]
    moves: dict[int, tuple[int, ir.Operation, ir.Operation]] = {}
    for k, value in enumerate(end.operands):
        alloc = made_by(value, "memref.alloc")
        if alloc is None:
            continue
        copy = only_copy_into(alloc, end) if alloc.block == body(loop) else None
        if copy is None or copy.operands[0] not in arguments or not _is_last(copy, end, alloc):
            continue
        moves[k] = (arguments.index(copy.operands[0]), copy, alloc)
    return moves


def _is_written(loop: ir.Operation, place: int) -> bool:
    return any(writes(op, operand) for op, operand in users(body(loop).arguments[1 + place]))


def _goes_elsewhere(loop: ir.Operation, place: int) -> bool:
    """Whether the buffer of a place is yielded already."""
    end = terminator(loop)
    inside = aliases(body(loop).arguments[1 + place], until=end)
    return any(value in inside for value in end.operands)


def _is_copied(loop: ir.Operation, place: int) -> bool:
    value = terminator(loop).operands[place]
    return not is_argument(value)


def _is_last(copy: ir.Operation, end: ir.Operation, alloc: ir.Operation) -> bool:
    """Whether nothing happens to memory from the copy to the end but such copies, and nobody else uses `alloc`."""
    operations = [o.operation for o in end.block.operations]
    between = operations[operations.index(copy) + 1 : -1]
    quiet = all(op.name in ("memref.copy", "memref.alloc") for op in between)
    return quiet and all(op in (copy, end) for op in (use.owner.operation for use in alloc.result.uses))


def _cycle(moves: dict, start: int) -> list[int]:
    """The places a buffer goes through until it is back at `start`; empty where it does not come back."""
    cycle, at = [start], moves[start][0]
    while at != start:
        if at not in moves or at in cycle:
            return []
        cycle.append(at)
        at = moves[at][0]
    return cycle


def _is_private(loop: ir.Operation, place: int) -> bool:
    """Whether the buffer a place starts with was made for it: filled before, and used nowhere else."""
    initial = loop.operands[3 + place]
    if made_by(initial, "memref.alloc") is None:
        return False
    if [use.operand_number for use in initial.uses if use.owner.operation == loop] != [3 + place]:
        return False
    inside = aliases(body(loop).arguments[1 + place])
    direct = [use.owner.operation for use in initial.uses if use.owner.operation != loop]
    if not all(op.block == loop.block and op.name in ("memref.copy", "linalg.fill") for op in direct):
        return False
    ends = terminator(loop)
    others = [k for k, y in enumerate(ends.operands) if y in inside and k != place]
    return not others and all(writes(op, n) for op, n in users(initial) if op in direct)


def _exchange(loop: ir.Operation, places: list[int], moves: dict) -> None:
    end = terminator(loop)
    arguments = list(body(loop).arguments)[1:]
    for place in places:
        end.operands[place] = arguments[moves[place][0]]
    for place in places:
        _, copy, alloc = moves[place]
        copy.erase()
        alloc.erase()


def _settle(loop: ir.Operation, cycle: list[int], moves: dict) -> None:
    """With a known number of iterations it is known which buffer each result is."""
    known = [is_constant(v) for v in list(loop.operands)[:3]]
    if None in known:
        return
    trips = len(range(*known))
    for place in cycle:
        at = place
        for _ in range(trips % len(cycle)):
            at = moves[at][0]
        loop.results[place].replace_all_uses_with(loop.operands[3 + at])
