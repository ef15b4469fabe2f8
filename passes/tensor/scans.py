"""Loops that go from column to column: which slices are columns, and whether a row can run by itself.

Comes in: an `scf.for` on tensors. Goes out: a `Scan`, or nothing. Read next: `outline_scans`, which makes kernels of
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.structured import indexing_maps, is_elementwise
from pykern.passes.ir.values import is_inside
from pykern.passes.kernels import identity, is_constant
from pykern.passes.vectorize.accesses import ELEMENTARY

READ, WRITTEN = "tensor.extract_slice", "tensor.insert_slice"


@dataclass(frozen=True)
class Column:
    """A slice of a loop: one index along the last axis, all others by steps of 1."""

    rows: tuple[int, ...]
    """How many others there are, along each axis but the last."""
    starts: tuple[int, ...]
    """The first of them."""
    place: ir.Value | int
    """The index along the last axis."""


@dataclass
class Scan:
    """A loop that can run row by row: what it does to a row depends on that row alone."""

    loop: ir.Operation
    rows: tuple[int, ...] = ()
    """The shape of a column: each element is of a row of its own."""
    columns: dict[int, Column] = field(default_factory=dict)
    """Of each slice, by the identity of its op."""
    array_of: dict[ir.Value, int] = field(default_factory=dict)
    """Of each state of an array that the loop changes, its place among what is carried."""

    @property
    def carried(self) -> Sequence[ir.Value]:
        return list(self.loop.regions[0].blocks[0].arguments)[1:]

    @property
    def is_array(self) -> list[bool]:
        """For each carried value, whether it is an array whose columns are read and written; else it is a column."""
        return [tuple(ir.ShapedType(value.type).shape) != self.rows for value in self.carried]

    @property
    def ops(self) -> list[ir.Operation]:
        return [op.operation for op in self.loop.regions[0].blocks[0].operations][:-1]


def scan_of(loop: ir.Operation) -> Scan | None:
    """The loop as one over columns, if it is."""
    scan = Scan(loop)
    if not loop.results or any(is_constant(bound) is None for bound in list(loop.operands)[:3]):
        return None
    for op in scan.ops:
        if op.name in (READ, WRITTEN):
            column = _column(op)
            if column is None or column.rows != (scan.rows or column.rows):
                return None
            scan.rows, scan.columns[identity(op)] = column.rows, column
    if not scan.rows or not all(_has_memory(value.type) for value in scan.carried):
        return None
    others = (op for op in scan.ops if identity(op) not in scan.columns)
    return scan if all(_is_of_a_row(op, scan.rows) for op in others) and _is_in_order(scan) else None


def _column(op: ir.Operation) -> Column | None:
    whole = ir.ShapedType(op.operands[op.name == WRITTEN].type)
    part = ir.ShapedType(op.operands[0].type if op.name == WRITTEN else op.results[0].type)
    starts, sizes, steps = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    if whole.rank < 2 or sizes[-1] != 1 or list(part.shape) != sizes[:-1] or set(steps) != {1}:
        return None
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if dynamic in starts[:-1] or dynamic in sizes:
        return None
    place = list(op.operands)[-1] if starts[-1] == dynamic else starts[-1]
    return Column(tuple(sizes[:-1]), tuple(starts[:-1]), place)


def _has_memory(kind: ir.Type) -> bool:
    """Whether a kernel takes such an array: single bits have no address."""
    if not isinstance(kind, ir.RankedTensorType):
        return False
    element = ir.RankedTensorType(kind).element_type
    return isinstance(element, ir.FloatType) or (isinstance(element, ir.IntegerType) and element.width >= 8)


def _is_of_a_row(op: ir.Operation, rows: tuple[int, ...]) -> bool:
    """Whether the op computes numbers, or a column from columns, element by element."""
    if op.name == "tensor.empty":
        return True
    if op.name.startswith("arith."):
        return not any(isinstance(v.type, ir.ShapedType) for v in (*op.operands, *op.results))
    if not is_elementwise(op) or tuple(ir.ShapedType(op.results[0].type).shape) != rows:
        return False
    if any(inner.operation.name in ELEMENTARY for inner in op.regions[0].blocks[0].operations):
        return False  # of a column they are computed in vectors, of a row one after the other
    maps = zip(op.operands, indexing_maps(op), strict=True)
    return all(
        one == ir.AffineMap.get_identity(len(rows))
        for value, one in maps
        if isinstance(value.type, ir.ShapedType)
    )


def _is_in_order(scan: Scan) -> bool:
    """Whether each slice is of the newest state of an array, always of the same rows of it, and nothing else reads an
    array that changes. Other slices are of what was there before the loop."""
    newest = dict(_arrays(scan))
    scan.array_of.update((value, n) for n, value in newest.items())
    starts: dict[int, tuple[int, ...]] = {}
    for op in scan.ops:
        column = scan.columns.get(identity(op))
        if column is None:
            continue
        array = op.operands[op.name == WRITTEN]
        n = scan.array_of.get(array)
        if n is None:
            if op.name == WRITTEN or is_inside(array, scan.loop) or not _has_memory(array.type):
                return False
            continue
        if newest[n] != array or starts.setdefault(n, column.starts) != column.starts:
            return False
        if op.name == WRITTEN:
            newest[n] = op.results[0]
            scan.array_of[op.results[0]] = n
    block = scan.loop.regions[0].blocks[0]
    end = block.operations[len(block.operations) - 1].operation
    yielded = terminator_operands(block)
    return all(yielded[n] == value for n, value in newest.items()) and all(
        (user := use.owner.operation) == end
        or (identity(user) in scan.columns and use.operand_number == (user.name == WRITTEN))
        for state in scan.array_of
        for use in state.uses
    )


def _arrays(scan: Scan) -> Iterator[tuple[int, ir.Value]]:
    for n, (value, is_array) in enumerate(zip(scan.carried, scan.is_array, strict=True)):
        if is_array:
            yield n, value
