"""`kern-vectorize-items`: W work-items at a time, where their control flow is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.memory import TABLE_ELEMENTS
from pykern.passes.analysis.cost_model.registers import COLUMN_VECTORS, PAIR_BYTES
from pykern.passes.framework import Pass
from pykern.passes.kernels import find, index_constant
from pykern.passes.remarks import remark
from pykern.passes.vectorize.items.emit import ItemEmitter
from pykern.passes.vectorize.items.lanes import Lanes, Scalar
from pykern.passes.vectorize.items.own_loops import independent_loops, is_long
from pykern.passes.vectorize.items.rests import emit_masked, emit_vectors, has_narrow_form
from pykern.passes.vectorize.items.rows import buffer_of, copy_rows, rows_read_often
from pykern.passes.vectorize.items.tables import Table, tables_of
from pykern.passes.vectorize.items.worth import columns_carried, refuse_if_slower, suits_integers
from pykern.passes.vectorize.lanes import VARYING


@dataclass(frozen=True)
class VectorizeItems(Pass):
    """Run W work-items at a time, each in a lane of vectors.

    In:  kernels as loops over work-items, the innermost marked `kern.items`, with `kern.push`, `kern.pop`
         and atomics still there; `kern.noalias`.
    Out: where all work-items run the same loops and branches, and the kernel gains by it: a loop of step
         W on vectors, and the loop as it was for the rest; with `masks` one of step W / 2 with masks, where no op
         needs all lanes; else one of step W / 4 before what is left. What each work-item computes stays the same,
         bit by bit; what they add to one cell is summed over the lanes first.
    """

    name: ClassVar[str] = "kern-vectorize-items"
    powers: ClassVar[tuple[str, ...]] = ("bytes",)
    only_speed: ClassVar[bool] = True
    bytes: int = PAIR_BYTES
    """Bytes of a vector; W is the number of the widest floats in it. With AVX2 a value has four registers."""
    masks: bool = False
    """Whether the processor leaves out lanes of loads and stores at no cost, as AVX-512 does."""

    def run(self, module: ir.Module) -> bool:
        changed = False
        functions = [o.operation for o in module.body.operations if o.operation.name == "func.func"]
        for kernel in functions:
            for loop in find(kernel, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                changed = True
                del loop.attributes[kern.ITEMS]
                if kern.NOALIAS in kernel.attributes and not loop.results:
                    self._loop(kernel, loop)
        return changed

    def _loop(self, kernel: ir.Operation, loop: ir.Operation) -> None:
        try:
            lanes, rows, width = self.plan(kernel, loop)
        except Scalar as reason:
            remark(reason.at or loop, f"not several work-items at a time: {reason}")
            if kern.FEW not in loop.attributes:
                self._own_loops(kernel, loop)
            return
        remark(loop, f"vectorised: {width} work-items at a time, in lanes of vectors")
        given = sorted(rows, key=lambda m: ir.BlockArgument(m).arg_number)
        emit(kernel, lanes, given, width, self.masks)

    def _own_loops(self, kernel: ir.Operation, items: ir.Operation) -> None:
        """Let iterations of loops in a work-item run in lanes as work-items would, where those do not."""
        for loop in independent_loops(items):
            try:
                lanes, rows, width = self.plan(kernel, loop)
            except Scalar:
                continue
            if not rows and is_long(loop, width):
                remark(loop, f"vectorised: {width} iterations at a time, in lanes of vectors")
                emit(kernel, lanes, [], width, self.masks)

    def plan(self, kernel: ir.Operation, loop: ir.Operation) -> tuple[Lanes, set[ir.Value], int]:
        """The analysis, the arrays whose rows are copied, and how many work-items. Raises `Scalar`."""
        lanes = Lanes(kernel, loop)
        width = self._width(lanes)
        rows = rows_read_often(lanes)
        refuse_if_slower(lanes, rows, width)
        return lanes, rows, width

    def _width(self, lanes: Lanes) -> int:
        """Lanes of the widest floats; without any, of the widest integers, where that pays."""
        differ = [r for op in lanes.ops for r in op.results if lanes.stride(r) is VARYING]
        floats = [r.type.width for r in differ if isinstance(r.type, ir.FloatType)]
        if not floats and not suits_integers(lanes):
            raise Scalar("no floats differ between work-items")
        return self.bytes * 8 // max(floats or [_bits(r.type) for r in differ])


def _bits(kind: ir.Type) -> int:
    return max(8, kind.width) if isinstance(kind, ir.IntegerType) else 64


def emit(kernel: ir.Operation, lanes: Lanes, rows: list[ir.Value], width: int, masks: bool = False) -> None:
    """Put the loop over vectors of work-items in front of the loop, which runs what is left."""
    loop = lanes.loop
    with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
        buffers = {memory: buffer_of(memory, width) for memory in rows}
    private = {m: _with_lanes(m, width) for m in _private(lanes)}
    columns = 0 if rows or private else columns_carried(lanes)
    for vectors in COLUMN_VECTORS[masks] if columns else ():
        remark(loop, "the loop goes down columns: more of them at a time, where there are so many")
        emit_vectors(lanes, private, width * max(1, vectors // columns))
    lower, upper = list(loop.operands)[:2]
    with ir.InsertionPoint(loop), loop.location:
        count = arith.MaxSIOp(arith.SubIOp(upper, lower).result, index_constant(0)).result
        tables, room = _tables(tables_of(lanes), count, width)
        rest = arith.RemUIOp(count, index_constant(width)).result
        rest = arith.SelectOp(room, rest, count).result if room else rest
        middle = arith.AddIOp(lower, arith.SubIOp(count, rest).result).result
        vectors = scf.ForOp(lower, middle, index_constant(width))
    with ir.InsertionPoint(vectors.body), loop.location:
        known = {t.op.results[0]: (t, m) for t, m in tables}
        emitter = ItemEmitter(width, lanes=lanes, private=private, rows=buffers, tables=known)
        emitter.keep(loop.regions[0].blocks[0].arguments[0], vectors.induction_variable, 1)
        for memory, buffer in buffers.items():
            copy_rows(memory, buffer, vectors.induction_variable, width)
        emitter.block(loop.regions[0].blocks[0])
        scf.YieldOp([])
    with ir.InsertionPoint(_last(kernels.body(kernel))), kernel.location:
        for buffer in buffers.values():
            memref.DeallocOp(buffer)
    with ir.InsertionPoint(_last(loop.block)), kernel.location:  # in front of it they were made
        for _, made in tables:
            memref.DeallocOp(made)
    loop.operands[0] = middle
    narrow = not rows and not tables and has_narrow_form(lanes)
    if narrow and masks and not lanes.diverges:
        emit_masked(lanes, private, width // 2)
    elif narrow and width // 4 > 2:
        emit_vectors(lanes, private, width // 4)
    _compile_quickly(loop)


def _tables(
    found: list[Table], count: ir.Value, width: int
) -> tuple[list[tuple[Table, ir.Value]], ir.Value | None]:
    """The tables, filled, and whether there is room for them and use."""
    if not found:
        return [], None
    room = arith.CmpIOp(arith.CmpIPredicate.sge, count, index_constant(width)).result
    for table in found:
        few = arith.CmpIOp(arith.CmpIPredicate.sle, table.elements(), index_constant(TABLE_ELEMENTS)).result
        room = arith.AndIOp(room, few).result
    return [(table, table.filled(room)) for table in found], room


def _private(lanes: Lanes) -> list[ir.Value]:
    used = {v: None for op in lanes.ops for v in op.operands if isinstance(v.type, ir.MemRefType)}
    return [v for v in used if lanes.is_private(v)]


def _with_lanes(memory: ir.Value, width: int) -> ir.Value:
    kind = ir.MemRefType(memory.type)
    with ir.InsertionPoint(memory.owner.operation), memory.owner.operation.location:
        made = ir.MemRefType.get([*kind.shape, width], kind.element_type)
        return memref.AllocaOp(made, [], [], alignment=64).result


def _compile_quickly(loop: ir.Operation) -> None:
    """What runs for a few work-items at the end need not be fast."""
    once = ir.Attribute.parse(
        "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"
    )
    for op in [loop, *find(loop, lambda op: op.name == "scf.for")]:
        op.attributes["llvm.loop_annotation"] = once


def _last(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation
