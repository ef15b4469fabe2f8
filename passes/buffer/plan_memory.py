"""Memory planning: the buffers of a program share one block, and those that do not live at the same time overlap.

Comes in: programs that allocate buffers of known sizes. Goes out: programs with one argument more, the block (arena),
and views of it in place of the buffers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref

from pykern.dialect.diagnostics import span_of
from pykern.errors import NotDifferentiable, PassError
from pykern.passes.analysis.cost_model.caches import BUFFER_SPREAD_BYTES, LINE_BYTES, SPREAD_BUFFER_BYTES
from pykern.passes.buffer.keep_in_place import escapes
from pykern.passes.framework import Pass
from pykern.passes.ir.memory import Positions, allocations, bytes_of
from pykern.passes.kernels import body, index_constant, named, programs, update_type
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class _Need:
    """A buffer: the op that allocates it, its bytes, and the positions of its first and last use."""

    op: ir.Operation
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class PlanMemory(Pass):
    """Put every buffer of a program into one block of memory that the caller allocates.

    In:  programs with `memref.alloc` of static size anywhere, none carried by the loop it stands in.
    Out: `memref.view`s of the last argument, `memref<Nxi8>`; there is always such an argument. N is 0 where
         the program needs no memory of its own. Arguments without elements, which nothing reads, are
         `memref<1x...>`: there are no strides for them that a pointer could stand for.
    """

    name: ClassVar[str] = "kern-plan-memory"

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            for op in named(function, "memref.dealloc"):
                op.erase()
            _arrange(function)
            _plain_empty_arguments(function)


def _arrange(function: ir.Operation) -> None:
    positions = Positions(function)
    needs = []
    for op in allocations(function):
        _check(op)
        interval = positions.interval(op.result, op.block)
        if interval is None:
            op.erase()
        else:
            needs.append(_Need(op, bytes_of(ir.MemRefType(op.result.type)), *interval))
            remark(op, f"scratch memory: a buffer of {needs[-1].size:,} bytes")
    places, total = place(needs)
    block = body(function)
    byte = ir.IntegerType.get_signless(8)
    arena = block.add_argument(ir.MemRefType.get([total], byte), function.location)
    for need, offset in zip(needs, places, strict=True):
        with ir.InsertionPoint.at_block_begin(block), need.op.location:
            view = memref.ViewOp(need.op.result.type, arena, index_constant(offset), []).result
        need.op.result.replace_all_uses_with(view)
        need.op.erase()
    update_type(function)


def _check(alloc: ir.Operation) -> None:
    """Raise an error for a buffer without a fixed place: one that a loop carries, and states without a known number."""
    if not ir.MemRefType(alloc.result.type).has_static_shape:
        raise NotDifferentiable(
            "on the CPU, the states of a loop are kept only where the number of its trips is known, or a bound of it",
            span_of(alloc.location),
            "declare the count `n: pk.static`, or give its value in the program; give a `while` a bound: "
            "while error > 1e-9 and n < 100",
        )
    parent = alloc.parent
    while parent is not None and parent.name != "func.func":
        loop = parent.operation
        if loop.name in ("scf.for", "scf.while") and escapes(alloc, loop):
            raise PassError("a loop carries memory that it makes", span_of(alloc.location))
        parent = loop.parent


def _plain_empty_arguments(function: ir.Operation) -> None:
    for argument in body(function).arguments:
        kind = argument.type
        if isinstance(kind, ir.MemRefType) and 0 in kind.shape:
            for use in argument.uses:
                if not list(use.owner.operation.results) or any(
                    list(r.uses) for r in use.owner.operation.results
                ):
                    break
            else:
                for use in list(argument.uses):
                    use.owner.operation.erase()
                argument.set_type(ir.MemRefType.get([1], kind.element_type))
    update_type(function)


def place(needs: list[_Need]) -> tuple[list[int], int]:
    """Offsets, largest buffers first, each at the lowest place that is free while it lives; and the total."""
    order = sorted(range(len(needs)), key=lambda n: -needs[n].size)
    offsets = [0] * len(needs)
    done: list[int] = []
    for n in order:
        mine = needs[n]
        taken = sorted(
            (offsets[o], _end(offsets[o], needs[o].size))
            for o in done
            if needs[o].first <= mine.last and mine.first <= needs[o].last
        )
        at = 0
        for begin, end in taken:
            if at + mine.size <= begin:
                break
            at = max(at, end)
        offsets[n] = at
        done.append(n)
    return offsets, max((_end(o, need.size) for o, need in zip(offsets, needs, strict=True)), default=0)


def _end(offset: int, size: int) -> int:
    """Where the next buffer may begin."""
    gap = BUFFER_SPREAD_BYTES if size >= SPREAD_BUFFER_BYTES else 0
    return -(-(offset + max(size, 1) + gap) // LINE_BYTES) * LINE_BYTES
