"""Work-items in squares: what one dimension of the index space reads down the columns of an array.

Comes in: a kernel as loops over work-items. Goes out: loops over squares of work-items around them, so that each line
of memory that a square reads down a column is read again while the cache holds it. Read next: `interleave_items`,
which changes the loops inside of work-items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.lowering.source.dimensions import dimension_of
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.registers import PRINTED_SQUARE, PRINTED_SQUARES
from pykern.passes.analysis.strides import stride
from pykern.passes.framework import Pass
from pykern.passes.ir.values import is_inside, parent_of
from pykern.passes.kernels import MEMORY_OPERAND, find, index_constant, is_constant, terminator

_PURE = ("arith.", "math.")


@dataclass(frozen=True)
class TileItems(Pass):
    """Let work-items run in squares where they go down the columns of an array.

    In:  kernels as loops over work-items (`kern.items`) on flat memory, in any order.
    Out: the same where the two innermost loops hold no other loop, and an access moves by one element with the outer
         of them and by more with the inner one: both go over a square, in loops over squares. Squares of a known size
         are cut into smaller ones, which compilers write out. In these the loops change places if all such accesses
         are loads: neighbours are then read as one vector.
    """

    name: ClassVar[str] = "kern-tile-items"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if kern.SEQUENTIAL in kernel.attributes:
                continue
            for inner in find(kernel, lambda op: kern.ITEMS in op.attributes):
                outer = parent_of(inner)
                down = _going_down_columns(outer, inner) if _is_nest(outer, inner) else []
                if not down:
                    continue
                sizes = _sizes(outer, inner)
                for size in sizes or (PRINTED_SQUARE,):
                    _emit_squares(outer, inner, size, divides=bool(sizes))
                if sizes and all(op.name == "memref.load" for op in down):
                    _interchange(outer, inner)


def _is_nest(outer: ir.Operation, inner: ir.Operation) -> bool:
    """Whether two loops are over work-items that need nothing but to be computed, in whatever order."""
    if outer.name != "scf.for" or kern.DIMENSION in outer.attributes:
        return False
    loops = (outer, inner)
    if any(len(loop.results) or is_constant(loop.operands[2]) != 1 for loop in loops):
        return False
    beside = [op for op in _ops(outer) if op != inner]
    if not all(op.name.startswith(_PURE) for op in beside):
        return False
    if not all(op.name.startswith((*_PURE, "memref.")) and not op.regions for op in _ops(inner)):
        return False
    return not any(is_inside(bound, outer) for bound in list(inner.operands)[:3])


def _ops(loop: ir.Operation) -> list[ir.Operation]:
    return [op.operation for op in loop.regions[0].blocks[0].operations][:-1]


def _going_down_columns(outer: ir.Operation, inner: ir.Operation) -> list[ir.Operation]:
    """The accesses that move by one element with the outer loop, and by more than one with the inner loop."""
    row, column = (loop.regions[0].blocks[0].arguments[0] for loop in (outer, inner))
    accesses = [
        (op, op.operands[MEMORY_OPERAND[op.name] + 1]) for op in _ops(inner) if op.name in MEMORY_OPERAND
    ]
    return [op for op, place in accesses if stride(place, row) == 1 and stride(place, column) not in (0, 1)]


def _sizes(outer: ir.Operation, inner: ir.Operation) -> tuple[int, ...]:
    """The sides of squares that divide both loops, those of the outer loops over squares first."""
    bounds = [[is_constant(bound) for bound in list(loop.operands)[:2]] for loop in (outer, inner)]
    counts = [end - first for first, end in bounds if first is not None and end is not None]
    if len(counts) < len(bounds):
        return ()
    return tuple(size for size in PRINTED_SQUARES if all(count % size == 0 for count in counts))


def _emit_squares(outer: ir.Operation, inner: ir.Operation, size: int, divides: bool) -> None:
    """Both loops over a square, in loops over squares; with `divides` all squares are whole."""
    numbers = [_dimension(loop) for loop in (outer, inner)]
    bounds = [tuple(loop.operands)[:2] for loop in (outer, inner)]
    with ir.InsertionPoint(outer):
        rows = _over_squares(outer, bounds[0], numbers[0], size)
    with ir.InsertionPoint(rows.body):
        columns = _over_squares(inner, bounds[1], numbers[1], size)
        scf.YieldOp([], loc=outer.location)
    with ir.InsertionPoint(columns.body), outer.location:
        for loop, around, (_, end), number in zip(
            (outer, inner), (rows, columns), bounds, numbers, strict=True
        ):
            begin = around.induction_variable
            loop.operands[0], loop.operands[1] = begin, _end_of_square(around, end, divides)
            loop.attributes[kern.DIMENSION] = number
        scf.YieldOp([])
    outer.move_before(terminator(columns.body))


def _interchange(outer: ir.Operation, inner: ir.Operation) -> None:
    """Let two loops change places. What the outer one computes goes into the inner one, and out again where it can."""
    first = inner.regions[0].blocks[0].operations[0]
    for op in _ops(outer):
        if op != inner:
            op.move_before(first)
    for number in (0, 1):
        outer.operands[number], inner.operands[number] = inner.operands[number], outer.operands[number]
    numbers = [loop.attributes[kern.DIMENSION] for loop in (outer, inner)]
    outer.attributes[kern.DIMENSION], inner.attributes[kern.DIMENSION] = reversed(numbers)
    counters = [loop.regions[0].blocks[0].arguments[0] for loop in (outer, inner)]
    uses = [[(use.owner, use.operand_number) for use in counter.uses] for counter in counters]
    for counter, others in zip(counters, reversed(uses), strict=True):
        for user, number in others:
            user.operands[number] = counter


def _dimension(loop: ir.Operation) -> ir.Attribute:
    return loop.attributes[kern.DIMENSION] if kern.DIMENSION in loop.attributes else dimension_of(loop)


def _over_squares(
    loop: ir.Operation, bounds: tuple[ir.Value, ...], number: ir.Attribute, size: int
) -> scf.ForOp:
    made = scf.ForOp(*bounds, index_constant(size), loc=loop.location)
    made.operation.attributes[kern.DIMENSION] = number
    return made


def _end_of_square(around: scf.ForOp, end: ir.Value, divides: bool) -> ir.Value:
    """Where a square of the loop `around` ends: at `end` at the latest."""
    begin, last, size = around.operation.operands
    named_end = ir.Location.name("end", around.operation.location)
    full = arith.AddIOp(around.induction_variable, size, loc=named_end).result
    if divides or _divides(begin, last, size):
        return full
    return arith.MinSIOp(full, end, loc=named_end).result


def _divides(begin: ir.Value, end: ir.Value, size: ir.Value) -> bool:
    first, last, length = (is_constant(value) for value in (begin, end, size))
    return first is not None and last is not None and bool(length) and (last - first) % length == 0
