"""An operation on buffers as something that is done to each of a number of rows.

Comes in: a linalg.generic or a memref.copy, and the number of rows. Goes out: `RowOp`, or None where rows need one
another. Dimensions of length 1 are looked through.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.reductions import Combine, combines
from pykern.passes.ir.memory import is_dense, outputs_of, root_of, whole
from pykern.passes.ir.structured import indexing_maps, is_scalar_arithmetic, loop_lengths, reduction_loops
from pykern.passes.kernels import find, named


class BufferKind(enum.Enum):
    """What a buffer holds: a value per row and column, per row, per column, or one; OTHER: a row needs other ones."""

    CELL = "cell"
    ROW = "row"
    LINE = "line"
    FIXED = "fixed"
    OTHER = "other"


@dataclass(frozen=True)
class RowOperand:
    """An operand: `root` is the buffer of which it shows all elements in order, or a scalar.

    `coordinates` are those of an element of a row that are its indices, by number, those of the row first; None where
    an index is no plain coordinate.
    """

    root: ir.Value
    kind: BufferKind
    coordinates: tuple[int, ...] | None = ()

    @property
    def is_memory(self) -> bool:
        return isinstance(self.root.type, ir.MemRefType)

    @property
    def memory(self) -> ir.Value:
        """The buffer that it is a part of."""
        return root_of(self.root)


@dataclass(frozen=True)
class RowOp:
    """An op whose iterations are rows times columns; `columns` is 1 where it works on one value a row."""

    op: ir.Operation
    lengths: tuple[int, ...]
    along: tuple[int, ...]
    """Dimensions of rows, without those of length 1."""
    across: tuple[int, ...]
    """Dimensions of columns."""
    maps: tuple[ir.AffineMap, ...]
    accesses: tuple[RowOperand, ...]
    looked_up: tuple[RowOperand, ...]
    """Memory that the body reads at indices it computes."""
    is_arithmetic: bool
    """Whether the body is scalar arithmetic alone, which may be done anywhere, any number of times."""
    reduces: BufferKind | None
    """What a reduction leaves: a value per row (ROW) or per column (LINE)."""

    @property
    def columns(self) -> int:
        return math.prod(self.lengths[d] for d in self.across)

    @property
    def row_shape(self) -> tuple[int, ...]:
        return tuple(self.lengths[d] for d in self.along)

    @property
    def inputs(self) -> tuple[RowOperand, ...]:
        return self.accesses[: -outputs_of(self.op)]

    @property
    def outputs(self) -> tuple[RowOperand, ...]:
        return self.accesses[-outputs_of(self.op) :]

    @property
    def combines(self) -> list[Combine]:
        """How a reduction joins two values, one for each output; nothing for other ops."""
        return [] if self.reduces is None else combines(self.op) or []


def natural_rows(op: ir.Operation) -> tuple[int, int] | None:
    """Rows and columns of a reduction along the last dimensions, one row of all of them; None for any other op."""
    if op.name != "linalg.generic":
        return None
    _, reduced, lengths = _loops(op)
    dims = [d for d in range(len(lengths)) if lengths[d] != 1]
    leading = [d for d in dims if not reduced[d]]
    if leading == dims or leading != dims[: len(leading)]:
        return None
    return math.prod(lengths[d] for d in leading), math.prod(lengths[d] for d in dims[len(leading) :])


def row_op(op: ir.Operation, rows: int) -> RowOp | None:
    """What `op` does with each of `rows` rows; all that it writes belongs to the row."""
    if op.name not in ("linalg.generic", "memref.copy") or not outputs_of(op):
        return None
    maps, reduced, lengths = _loops(op)
    dims = [d for d in range(len(lengths)) if lengths[d] != 1]
    count = next((n for n in range(len(dims) + 1) if math.prod(lengths[d] for d in dims[:n]) == rows), None)
    if count is None or 0 in lengths or ir.ShapedType.get_dynamic_size() in lengths:
        return None
    along, across = tuple(dims[:count]), tuple(dims[count:])
    kinds = {reduced[d] for d in along}, {reduced[d] for d in across}
    if max(map(len, kinds)) > 1:
        return None
    reduces = BufferKind.LINE if True in kinds[0] else BufferKind.ROW if True in kinds[1] else None
    accesses = tuple(_access(v, m, along, across) for v, m in zip(op.operands, maps, strict=True))
    left = reduces or (BufferKind.CELL if across else BufferKind.ROW)
    if any(out.kind is not left for out in accesses[-outputs_of(op) :]):
        return None
    if reduces is not None and combines(op) is None:
        return None
    looked_up = [RowOperand(root_of(o.operands[0]), BufferKind.OTHER) for o in named(op, "memref.load")]
    inside = find(op, lambda o: o.name != "linalg.yield")
    return RowOp(
        op, tuple(lengths), along, across, tuple(maps), accesses, tuple(looked_up), is_scalar_arithmetic(inside),
        reduces,
    )  # fmt: skip


def _loops(op: ir.Operation) -> tuple[list[ir.AffineMap], list[bool], list[int]]:
    """Maps of operands, which loops are reductions, and their lengths."""
    if op.name != "memref.copy":
        return indexing_maps(op), reduction_loops(op), loop_lengths(op)
    shape = list(ir.MemRefType(op.operands[1].type).shape)
    return [ir.AffineMap.get_identity(len(shape))] * 2, [False] * len(shape), shape


def _access(value: ir.Value, m: ir.AffineMap, along: tuple[int, ...], across: tuple[int, ...]) -> RowOperand:
    if not isinstance(value.type, ir.MemRefType):
        return RowOperand(value, BufferKind.FIXED)
    used, every = [], (*along, *across)
    for expression, length in zip(m.results, ir.MemRefType(value.type).shape, strict=True):
        if length == 1:
            continue
        if not isinstance(expression, ir.AffineDimExpr):
            return RowOperand(whole(value), BufferKind.OTHER, None)
        used.append(expression.position)
    kinds = {
        every: BufferKind.CELL if across else BufferKind.ROW,
        along: BufferKind.ROW,
        across: BufferKind.LINE if across else BufferKind.FIXED,
        (): BufferKind.FIXED,
    }
    if not along:  # one row: what has columns belongs to it, and so does what has none
        kinds = {across: BufferKind.CELL, (): BufferKind.ROW}
    kind = kinds.get(tuple(used), BufferKind.OTHER)
    return RowOperand(whole(value), kind, tuple(every.index(d) for d in used))


def is_whole(value: ir.Value) -> bool:
    """Whether an operand is a number, or a buffer without gaps."""
    return not isinstance(value.type, ir.MemRefType) or is_dense(value)
