"""A linalg.generic on buffers as something that is done to each of a number of rows.

Comes in: the op and the number of rows. Goes out: `RowOp`, or None where rows need one another.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.reductions import combines
from pykern.passes.analysis.space import is_dense
from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.structured import indexing_maps, is_scalar_arithmetic, loop_lengths, reduction_loops
from pykern.passes.kernels import find

SAME_BUFFER = ("memref.collapse_shape", "memref.expand_shape", "memref.cast")
"""Views of all elements in the same order."""


class BufferKind(enum.Enum):
    """What a buffer holds: a value per row and column, per row, per column, or one."""

    CELL = "cell"
    ROW = "row"
    LINE = "line"
    FIXED = "fixed"


@dataclass(frozen=True)
class RowOperand:
    """An operand: `root` is the buffer behind its views, or a scalar."""

    root: ir.Value
    kind: BufferKind

    @property
    def is_memory(self) -> bool:
        return isinstance(self.root.type, ir.MemRefType)


@dataclass(frozen=True)
class RowOp:
    """An op whose iterations are rows times columns; `columns` is 1 where it works on one value a row."""

    op: ir.Operation
    columns: int
    accesses: tuple[RowOperand, ...]
    reduces: BufferKind | None
    """What a reduction leaves: a value per row (ROW) or per column (LINE)."""

    @property
    def inputs(self) -> tuple[RowOperand, ...]:
        return self.accesses[: -outputs_of(self.op)]

    @property
    def outputs(self) -> tuple[RowOperand, ...]:
        return self.accesses[-outputs_of(self.op) :]


def natural_rows(op: ir.Operation) -> tuple[int, int] | None:
    """Rows and columns of a reduction along the last dimensions, one row of all of them; None for any other op."""
    if op.name != "linalg.generic":
        return None
    lengths, reduced = _iterators(op)
    dims = [d for d in range(len(lengths)) if lengths[d] != 1]
    leading = [d for d in dims if not reduced[d]]
    if leading == dims or leading != dims[: len(leading)]:
        return None
    return math.prod(lengths[d] for d in leading), math.prod(lengths[d] for d in dims[len(leading) :])


def row_op(op: ir.Operation, rows: int) -> RowOp | None:
    """What `op` does with each of `rows` rows."""
    if op.name != "linalg.generic" or not outputs_of(op) or not _is_plain(op):
        return None
    lengths, reduced = _iterators(op)
    dims = [d for d in range(len(lengths)) if lengths[d] != 1]
    count = next((n for n in range(len(dims) + 1) if math.prod(lengths[d] for d in dims[:n]) == rows), None)
    if count is None or 0 in lengths:
        return None
    along, across = dims[:count], dims[count:]
    accesses = [
        _access(v, m, along, across, lengths) for v, m in zip(op.operands, indexing_maps(op), strict=True)
    ]
    kinds = {reduced[d] for d in along}, {reduced[d] for d in across}
    if any(a is None for a in accesses) or max(map(len, kinds)) > 1:
        return None
    found = RowOp(
        op,
        math.prod(lengths[d] for d in across),
        tuple(a for a in accesses if a is not None),
        BufferKind.LINE if True in kinds[0] else BufferKind.ROW if True in kinds[1] else None,
    )
    left = found.reduces or (BufferKind.CELL if across else BufferKind.ROW)
    if any(out.kind is not left for out in found.outputs):
        return None
    return found if found.reduces is None or combines(op) is not None else None


def _iterators(op: ir.Operation) -> tuple[list[int], list[bool]]:
    return loop_lengths(op), reduction_loops(op)


def _is_plain(op: ir.Operation) -> bool:
    """Only scalar arithmetic that may be done anywhere, any number of times."""
    return is_scalar_arithmetic(find(op, lambda o: o.name != "linalg.yield"))


def _access(
    value: ir.Value, m: ir.AffineMap, along: list[int], across: list[int], lengths: list[int]
) -> RowOperand | None:
    if not isinstance(value.type, ir.MemRefType):
        return RowOperand(value, BufferKind.FIXED)
    if not is_dense(value):
        return None
    used = []
    for expression, length in zip(m.results, ir.MemRefType(value.type).shape, strict=True):
        if isinstance(expression, ir.AffineDimExpr):
            if lengths[expression.position] != 1:
                used.append(expression.position)
        elif length != 1:
            return None
    kinds = {
        (*along, *across): BufferKind.CELL if across else BufferKind.ROW,
        tuple(along): BufferKind.ROW,
        tuple(across): BufferKind.LINE if across else BufferKind.FIXED,
        (): BufferKind.FIXED,
    }
    if not along:  # one row: what has columns belongs to it, and so does what has none
        kinds = {tuple(across): BufferKind.CELL, (): BufferKind.ROW}
    kind = kinds.get(tuple(used))
    return None if kind is None else RowOperand(whole(value), kind)


def whole(value: ir.Value) -> ir.Value:
    """The buffer behind views that show all of it, in order."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in SAME_BUFFER:
        if not is_dense(value.owner.operation.operands[0]):
            return value
        value = value.owner.operation.operands[0]
    return value
