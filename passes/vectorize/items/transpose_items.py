"""Kernels that access an array column by column, such as transpositions, load squares and transpose them in registers.

Comes in: kernels as loops over work-items. Goes out: tiled loops over squares, and the original loops for the rows and
columns that are left. For ``o[i, j] = x[j, i]``, with squares of 8:

    before                      after
    for i: for j:               for i in blocks of rows: for j in steps of 8: for each square of the block:
        o[i, j] = x[j, i]           load 8 rows of x as vectors; transpose; store 8 rows of o as vectors

Why: without this, one of the two arrays is read by gathers, which fetch a whole cache line for each element. A
block has as many rows as a cache line has elements, so that each line is fetched once.
Read next: `transposed`, `square`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, vector

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.both_ends import run_at_both_ends
from pykern.passes.ir.clone import clone
from pykern.passes.ir.loops import Counted, leave_alone
from pykern.passes.kernels import MEMORY_OPERAND, find, index_constant
from pykern.passes.remarks import remark
from pykern.passes.vectorize.items.emit import ItemEmitter
from pykern.passes.vectorize.items.transposed import Transposed, transposed_accesses
from pykern.passes.vectorize.square import transposed_square


@dataclass(frozen=True)
class TransposeItems(Pass):
    """Vectorise accesses that are contiguous along the outer of two loops, by transposing squares in registers.

    In:  kernels as loops over work-items, the innermost marked `kern.items`, `kern.noalias`; a second loop right around
         it, or the only thing in it, with a short body without loops and branches.
    Out: loops over squares, which are loaded and stored as vectors, and the original loops for the rows and columns
         that are left. Required: each access is contiguous along one of the two loops, at least one along the outer.
    """

    name: ClassVar[str] = "kern-transpose-items"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("memref.store",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for items in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                pair = _pair(items)
                transposed = None if pair is None else transposed_accesses(*pair)
                if transposed is not None:
                    remark(
                        transposed.ops[0],
                        "read or written the other way round: squares are transposed in registers",
                    )
                    _emit(transposed)
                    changed = True
        return changed


def _pair(items: ir.Operation) -> tuple[ir.Operation, ir.Operation] | None:
    """Two loops, the second directly inside the first, one of which is `items`."""
    inside = [o.operation for o in items.regions[0].blocks[0].operations if len(o.operation.regions)]
    if len(inside) == 1 and inside[0].name == "scf.for":
        return items, inside[0]
    around = None if items.parent is None else items.parent.operation
    if inside or around is None or around.name != "scf.for":
        return None
    beside = [o for o in around.regions[0].blocks[0].operations if len(o.operation.regions)]
    return (around, items) if len(beside) == 1 else None


@dataclass
class _RowEmitter(ItemEmitter):
    """One row of a square: what is transposed has been loaded as columns, and is stored when all rows are there."""

    row: int = field(kw_only=True)
    loaded: dict[ir.Value, list[ir.Value]] = field(kw_only=True)
    """Of results of transposed loads, the rows of the square."""
    stored: dict[int, list[ir.Value]] = field(kw_only=True)
    """Of transposed stores, by their numbers, the rows so far."""
    transposed: tuple[ir.Operation, ...] = field(kw_only=True)

    def operation(self, op: ir.Operation) -> None:
        if op.results and op.results[0] in self.loaded:
            self.vectors[op.results[0]] = self.loaded[op.results[0]][self.row]
        elif op in self.transposed:
            self.stored[self.transposed.index(op)].append(self.vector(op.operands[0]))
        else:
            super().operation(op)


def _emit(transposed: Transposed) -> None:
    """Put the loop over lines of rows in front of the outer loop, which runs the rows that are left."""
    outer, inner, side, rows = transposed.outer, transposed.inner, transposed.side, transposed.rows
    lower, upper = list(outer.operands)[:2]
    before = [o.operation for o in outer.regions[0].blocks[0].operations if o.operation != inner][:-1]
    with ir.InsertionPoint(outer), outer.location:
        count = arith.MaxSIOp(arith.SubIOp(upper, lower).result, index_constant(0)).result
        rest = arith.RemUIOp(count, index_constant(rows)).result
        end = arith.AddIOp(lower, arith.SubIOp(count, rest).result).result
        with Counted(lower, end, rows) as line:
            known = [_row(outer, before, line, number) for number in range(rows)]
            bounds = [[one.get(bound, bound) for bound in list(inner.operands)[:2]] for one in known]
            begin, finish = bounds[0]
            for low, high in bounds[1:]:
                begin = begin if low == begin else arith.MaxSIOp(begin, low).result
                finish = finish if high == finish else arith.MinSIOp(finish, high).result
            length = arith.MaxSIOp(arith.SubIOp(finish, begin).result, index_constant(0)).result
            rest = arith.RemUIOp(length, index_constant(side)).result
            whole = arith.AddIOp(begin, arith.SubIOp(length, rest).result).result
            with Counted(begin, whole, side) as column:
                for first in range(0, rows, side):
                    _square(transposed, known[first : first + side], column)
            with Counted(line, arith.AddIOp(line, index_constant(rows)).result, 1) as row:
                _ends(transposed, _row(outer, before, row, 0), begin, whole)
    outer.operands[0] = end


def _row(
    outer: ir.Operation, before: list[ir.Operation], line: ir.Value, number: int
) -> dict[ir.Value, ir.Value]:
    """What stands in front of the inner loop, for one row."""
    at = arith.AddIOp(line, index_constant(number)).result if number else line
    known = {outer.opview.induction_variable: at}
    for op in before:
        copy = clone(op, lambda value: known.get(value, value))
        known.update(zip(op.results, copy.results, strict=True))
    return known


def _square(transposed: Transposed, known: list[dict[ir.Value, ir.Value]], column: ir.Value) -> None:
    """Load, compute and store one square, whose columns begin at `column`."""
    block = transposed.inner.regions[0].blocks[0]
    ops = [o.operation for o in block.operations][:-1]
    loaded: dict[ir.Value, list[ir.Value]] = {}
    stored: dict[int, list[ir.Value]] = {number: [] for number in range(len(transposed.ops))}
    bits = ir.MemRefType(
        transposed.ops[0].operands[MEMORY_OPERAND[transposed.ops[0].name]].type
    ).element_type.width
    emitters = []
    for row, values in enumerate(known):
        emitter = _RowEmitter(
            transposed.side,
            lanes=transposed.lanes,
            private={},
            rows={},
            tables={},
            row=row,
            loaded=loaded,
            stored=stored,
            transposed=transposed.ops,
        )
        emitter.scalars.update(values)
        emitter.keep(block.arguments[0], column, 1)
        emitters.append(emitter)
    for op in [op for op in transposed.ops if op.name == "memref.load"]:
        lines = [
            vector.LoadOp(_kind(transposed, op), *place).result
            for place in _lines(transposed, emitters[0], op)
        ]
        loaded[op.results[0]] = transposed_square(lines, bits)
    for emitter in emitters:
        for op in ops:
            with op.location:
                emitter.operation(op)
    for number, rows in stored.items():
        op = transposed.ops[number]
        if op.name == "memref.store":
            for line, place in zip(
                transposed_square(rows, bits), _lines(transposed, emitters[0], op), strict=True
            ):
                vector.StoreOp(line, *place)


def _kind(transposed: Transposed, op: ir.Operation) -> ir.VectorType:
    memory = op.operands[MEMORY_OPERAND[op.name]]
    return ir.VectorType.get([transposed.side], ir.MemRefType(memory.type).element_type)


def _lines(
    transposed: Transposed, emitter: ItemEmitter, op: ir.Operation
) -> list[tuple[ir.Value, list[ir.Value]]]:
    """Where the columns of a square lie, of which each is a line in memory."""
    memory, *indices = list(op.operands)[MEMORY_OPERAND[op.name] :]
    for index in indices:
        _evaluate(transposed, emitter, index)
    return [(memory, [emitter.lane(index, number) for index in indices]) for number in range(transposed.side)]


def _evaluate(transposed: Transposed, emitter: ItemEmitter, index: ir.Value) -> None:
    """Write the sums of the inner loop that an index is made of."""
    op = None if isinstance(index.owner, ir.Block) else index.owner.operation
    if op is None or index in emitter.scalars or op.parent is None or op.parent.operation != transposed.inner:
        return
    for operand in op.operands:
        _evaluate(transposed, emitter, operand)
    emitter.operation(op)


def _ends(transposed: Transposed, known: dict[ir.Value, ir.Value], begin: ir.Value, whole: ir.Value) -> None:
    """The columns of a row in front of the squares and behind them, one after the other."""
    rim = clone(transposed.inner, lambda value: known.get(value, value))
    if kern.ITEMS in rim.attributes:
        del rim.attributes[kern.ITEMS]
    low, high = list(rim.operands)[:2]
    with ir.InsertionPoint(rim):
        first = arith.MinSIOp(begin, high).result
        ends = run_at_both_ends(rim, (low, first), (arith.MaxSIOp(whole, first).result, high))
    leave_alone(rim)
    leave_alone(ends)
