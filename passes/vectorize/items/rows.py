"""Rows that the work-items read again and again, copied into lane order once.

``x[n, j]`` with n the work-item is one load a lane. Where loops come back to it, W rows are copied into a
buffer first, ``buffer[j, lane]``, and each later read is one load of a vector.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.passes import kernels
from pykern.passes.ir.values import defining, is_argument
from pykern.passes.kernels import index_constant, is_constant
from pykern.passes.vectorize.items.lanes import Lanes
from pykern.passes.vectorize.items.worth import depth


def rows_read_often(lanes: Lanes) -> set[ir.Value]:
    """Arrays ``x[n, j]``, never written, with a loop of j over the whole row, and a read in an inner loop."""
    item = lanes.loop.regions[0].blocks[0].arguments[0]
    reads: dict[ir.Value, list[ir.Operation]] = {}
    for op in lanes.ops:
        if op.name == "memref.load" and is_argument(op.operands[0]):
            reads.setdefault(op.operands[0], []).append(op)
    return {
        memory
        for memory, loads in reads.items()
        if memory not in lanes.written
        and all(_is_of_row(op, item, lanes) for op in loads)
        and any(_runs_over_row(op) for op in loads)
        and any(depth(op, lanes.loop) > 1 for op in loads)
    }


def buffer_of(memory: ir.Value, width: int) -> ir.Value:
    """A buffer for the rows of one array, at the insertion point."""
    kind = ir.MemRefType(memory.type)
    length = memref.DimOp(memory, index_constant(1)).result
    shape = [ir.ShapedType.get_dynamic_size(), width]
    return memref.AllocOp(ir.MemRefType.get(shape, kind.element_type), [length], [], alignment=64).result


def copy_rows(memory: ir.Value, buffer: ir.Value, first: ir.Value, width: int) -> None:
    """Rows `first` and those behind it, at the insertion point."""
    kind = ir.VectorType.get([width], ir.MemRefType(memory.type).element_type)
    zero, one = index_constant(0), index_constant(1)
    rows = [first] + [arith.AddIOp(first, index_constant(n)).result for n in range(1, width)]
    loop = scf.ForOp(zero, memref.DimOp(memory, one).result, one)
    with ir.InsertionPoint(loop.body):
        column = loop.induction_variable
        elements = [memref.LoadOp(memory, [row, column]).result for row in rows]
        vector.StoreOp(vector.FromElementsOp(kind, elements).result, buffer, [column, zero])
        scf.YieldOp([])


def _is_of_row(op: ir.Operation, item: ir.Value, lanes: Lanes) -> bool:
    indices = lanes.indices(op)
    return len(indices) == 2 and indices[0] == item and lanes.stride(indices[1]) == 0


def _runs_over_row(op: ir.Operation) -> bool:
    """Whether the column is counted from 0 to the length of the row: then no element is copied in vain."""
    memory, _, column = op.operands
    if not is_argument(column):
        return False
    loop = column.owner.owner.operation
    return (
        loop.name == "scf.for"
        and column == loop.regions[0].blocks[0].arguments[0]
        and is_constant(loop.operands[0]) == 0
        and is_constant(loop.operands[2]) == 1
        and _is_length(loop.operands[1], memory)
    )


def _is_length(value: ir.Value, memory: ir.Value) -> bool:
    length = ir.MemRefType(memory.type).shape[1]
    if kernels.is_constant(value) is not None:
        return kernels.is_constant(value) == length
    op = defining(value)
    return (
        op is not None
        and op.name == "memref.dim"
        and op.operands[0] == memory
        and is_constant(op.operands[1]) == 1
    )
