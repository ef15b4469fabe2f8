"""Which operations go through their rows together, on the CPU and on devices.

Comes in: the operations of a program on buffers, and `RowForms`, what the target's emitter takes. Goes out: `Group`s,
in program order, around reductions along rows. Read next: `row_growth`, then the emitters, `codegen/cpu/rows` and
`codegen/device/row_kernels`.
"""

from __future__ import annotations

import math

from mlir import ir

from pykern.passes.analysis.cost_model.caches import LONG_ROW_BYTES, MOST_ROW_BYTES
from pykern.passes.analysis.cost_model.devices import PART_TERMS
from pykern.passes.analysis.cost_model.lengths import FEWEST_COLUMNS
from pykern.passes.analysis.cost_model.threads import (
    FEWEST_LONG_ROWS,
    FEWEST_SHARED_ITERATIONS,
    SHARED_COLUMNS,
)
from pykern.passes.analysis.rows import BufferKind, natural_rows
from pykern.passes.fusion.legality import is_quiet
from pykern.passes.fusion.row_groups import Group, RowForms, is_fill
from pykern.passes.fusion.row_growth import Growth
from pykern.passes.ir.memory import bytes_of
from pykern.passes.kernels import identity, named
from pykern.passes.remarks import remark


def groups(function: ir.Operation, forms: RowForms) -> list[Group]:
    """Every group of a program that the target gains by."""
    blocks: dict[int, ir.Block] = {}
    for op in named(function, "linalg.generic"):
        blocks.setdefault(identity(op.block.operations[0].operation), op.block)
    found = [group for block in blocks.values() for group in _groups_in(block, forms)]
    for group in found:
        rows = "one row" if group.rows == 1 else f"{group.rows:,} rows"
        remark(group.ops[-1].op, f"{len(group.ops)} operations go through {rows} together")
    return found


def _groups_in(block: ir.Block, forms: RowForms) -> list[Group]:
    operations = [o.operation for o in block.operations if not is_quiet(o.operation)]
    found: list[Group] = []
    taken: set[int] = set()
    # what goes row by row is not to be split up by who needs all of an array
    for in_chunks in (False, True) if forms.chunks else (False,):
        for place, op in enumerate(operations):
            shape = None if identity(op) in taken else natural_rows(op)
            if shape is None or not _is_long_enough(*shape, _width(op), in_chunks, forms):
                continue
            rows, columns = shape
            grown = Growth(forms, rows, columns, columns * _width(op), in_chunks, taken, operations).around(
                place
            )
            if grown is not None and _gains(grown, forms):
                found.append(grown)
                taken |= {identity(each.op) for each in grown.ops}
    return found


def _is_long_enough(rows: int, columns: int, width: int, in_chunks: bool, forms: RowForms) -> bool:
    """Whether rows are enough, and long enough, for a loop over them, or to be shared in chunks."""
    if forms.is_device:
        return rows * 4 >= columns // PART_TERMS  # else too few groups
    row_bytes = columns * width
    fewest = FEWEST_LONG_ROWS if row_bytes > LONG_ROW_BYTES else FEWEST_SHARED_ITERATIONS
    row_by_row = rows >= fewest and columns >= FEWEST_COLUMNS and row_bytes <= MOST_ROW_BYTES
    return columns > SHARED_COLUMNS and not row_by_row if in_chunks else row_by_row


def _width(op: ir.Operation) -> int:
    """Bytes of an element of the first operand."""
    kind = ir.MemRefType(op.operands[0].type) if isinstance(op.operands[0].type, ir.MemRefType) else None
    return 8 if kind is None else max(1, bytes_of(kind) // max(1, math.prod(kind.shape)))


def _gains(group: Group, forms: RowForms) -> bool:
    """Whether some row is gone over more than once, or a launch is saved."""
    if forms.is_device:
        return sum(not is_fill(each.op) for each in group.ops) > 1
    if group.in_chunks and any(each.reduces is BufferKind.LINE for each in group.ops):
        return False
    seen: list[ir.Value] = []
    for each in group.ops:
        cells = [a.root for a in each.accesses if a.kind is BufferKind.CELL]
        if any(root in seen for root in cells):
            return True
        seen += cells
    return False
