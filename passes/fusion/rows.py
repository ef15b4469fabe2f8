"""Which operations go through their rows together, on the CPU and on devices.

Comes in: the operations of a program on buffers, and `RowForms`, what the target's emitter takes. Goes out: `Group`s,
in program order. A group starts at a reduction along rows and takes in what is around it, past what stands between
and touches none of its memory. Read next: the emitters, `codegen/cpu/rows` and `codegen/device/row_kernels`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.analysis.contraction import shape_of_product
from pykern.passes.analysis.cost_model.caches import LONG_ROW_BYTES, MOST_ROW_BYTES
from pykern.passes.analysis.cost_model.devices import PART_TERMS
from pykern.passes.analysis.cost_model.lengths import FEWEST_COLUMNS
from pykern.passes.analysis.cost_model.threads import FEWEST_LONG_ROWS, FEWEST_PIECES, SHARED_COLUMNS
from pykern.passes.analysis.rows import BufferKind, RowOp, is_whole, natural_rows, row_op
from pykern.passes.fusion.legality import Touch, is_quiet, may_swap, touches
from pykern.passes.ir.memory import bytes_of, is_allocated_in, may_alias, users
from pykern.passes.kernels import identity, named
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class RowForms:
    """What an emitter takes as a group, and what its target gains by one."""

    is_device: bool = False
    """Whether each op that stays out is a launch of its own: whatever goes over the same rows then joins. Else a group
    pays where it goes over a row more than once."""
    column_sums: bool = True
    """Sums over rows, a value per column."""
    pieces: bool = True
    """Few rows, or rows longer than a cache, shared by parts of rows."""
    reshaped: bool = True
    """Rows and columns of one op may be other dimensions than those of the next one."""
    reads_elsewhere: bool = False
    """Operands may be read at any index, or have gaps, where no op of the group writes them."""
    joins: frozenset[str] | None = None
    """Names of the ops that join the terms of a reduction; None: all."""
    fewest_in_tiles: int | None = None
    """Rows, columns and terms of a product that has a better form of its own; None: none has."""


@dataclass(frozen=True)
class Group:
    """Ops to run as one loop over rows, in program order; they run where the last one stands."""

    rows: int
    columns: int
    ops: tuple[RowOp, ...]
    row_bytes: int
    in_pieces: bool
    """Whether threads share rows rather than one another's: there are few, or they stay in no cache."""

    @property
    def private(self) -> list[ir.Value]:
        """Buffers that nobody else uses."""
        mine = {identity(each.op) for each in self.ops}
        roots = dict.fromkeys(a.memory for each in self.ops for a in each.accesses if a.is_memory)
        return [root for root in roots if self._is_private(root, mine)]

    def _is_private(self, root: ir.Value, mine: set[int]) -> bool:
        is_own = is_allocated_in(root, self.ops[-1].op.block)
        return is_own and all(identity(op) in mine for op, _ in users(root))

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The lengths that rows are counted by, where ops agree on them (not `RowForms.reshaped`)."""
        return self.ops[0].row_shape


def groups(function: ir.Operation, forms: RowForms) -> list[Group]:
    """Every group of a program that the target gains by."""
    blocks: dict[int, ir.Block] = {}
    for op in named(function, "linalg.generic"):
        blocks.setdefault(identity(op.block.operations[0].operation), op.block)
    found = [group for block in blocks.values() for group in _groups_in(block, forms)]
    for group in found:
        remark(group.ops[-1].op, f"{len(group.ops)} operations go through {group.rows:,} rows together")
    return found


def _groups_in(block: ir.Block, forms: RowForms) -> list[Group]:
    operations = [o.operation for o in block.operations if not is_quiet(o.operation)]
    found: list[Group] = []
    taken: set[int] = set()
    # what goes row by row is not to be split up by who needs all of an array
    for in_pieces in (False, True) if forms.pieces else (False,):
        for place, op in enumerate(operations):
            shape = None if identity(op) in taken else natural_rows(op)
            if shape is None or not _is_long_enough(*shape, _width(op), in_pieces, forms):
                continue
            rows, columns = shape
            grown = Growth(forms, rows, columns, columns * _width(op), in_pieces, taken, operations).around(
                place
            )
            if grown is not None and _gains(grown, forms):
                found.append(grown)
                taken |= {identity(each.op) for each in grown.ops}
    return found


def _is_long_enough(rows: int, columns: int, width: int, in_pieces: bool, forms: RowForms) -> bool:
    """Whether rows are enough, and long enough, for a loop over them, or to be shared in pieces."""
    if forms.is_device:
        return rows * 4 >= columns // PART_TERMS  # else too few groups
    row_bytes = columns * width
    fewest = FEWEST_LONG_ROWS if row_bytes > LONG_ROW_BYTES else FEWEST_PIECES
    row_by_row = rows >= fewest and columns >= FEWEST_COLUMNS and row_bytes <= MOST_ROW_BYTES
    return columns > SHARED_COLUMNS and not row_by_row if in_pieces else row_by_row


def _width(op: ir.Operation) -> int:
    """Bytes of an element of the first operand."""
    kind = ir.MemRefType(op.operands[0].type) if isinstance(op.operands[0].type, ir.MemRefType) else None
    return 8 if kind is None else max(1, bytes_of(kind) // max(1, math.prod(kind.shape)))


def _gains(group: Group, forms: RowForms) -> bool:
    """Whether some row is gone over more than once, or a launch is saved."""
    if forms.is_device:
        return sum(not _is_fill(each.op) for each in group.ops) > 1
    if group.in_pieces and any(each.reduces is BufferKind.LINE for each in group.ops):
        return False
    seen: list[ir.Value] = []
    for each in group.ops:
        cells = [a.root for a in each.accesses if a.kind is BufferKind.CELL]
        if any(root in seen for root in cells):
            return True
        seen += cells
    return False


def _is_fill(op: ir.Operation) -> bool:
    """Whether an op on buffers reads nothing from outside but numbers of its body."""
    return op.name == "linalg.generic" and len(op.operands) == 1


@dataclass
class Growth:
    """Grows a group around one op of a block."""

    forms: RowForms
    rows: int
    columns: int
    row_bytes: int
    in_pieces: bool
    taken: set[int]
    operations: list[ir.Operation]
    known: dict[int, RowOp | None] = field(default_factory=dict)
    touched: dict[int, list[Touch]] = field(default_factory=dict)

    def around(self, place: int) -> Group | None:
        self.members: dict[int, RowOp] = {}
        first = self._row_op(place)
        if first is None:
            return None
        self.members[place] = first
        passed: list[int] = []
        for before in range(place - 1, -1, -1):
            if _ends(self.operations[before]):
                break
            each = self._row_op(before)
            # it moves down, over those that stand between and are no members
            if each is None or not self._may_pass(before, passed) or not self._joins(each):
                passed.append(before)
            else:
                self.members[before] = each
        for after in range(place + 1, len(self.operations)):
            each = self._row_op(after)
            if each is not None and self._is_near(each) and self._agrees(each):
                self.members[after] = each
            elif _ends(self.operations[after]) or not self._may_pass(after, self.members):
                break
        self._drop_idle()
        if not self.members:
            return None
        ops = [self.members[n] for n in sorted(self.members)]
        return Group(self.rows, self.columns, tuple(ops), self.row_bytes, self.in_pieces)

    def _row_op(self, place: int) -> RowOp | None:
        each = None if identity(self.operations[place]) in self.taken else self._described(place)
        if each is None or each.columns not in (1, self.columns) or not self._has_form(each):
            return None
        return None if each.columns == 1 and self._are_columns(each) else each

    def _has_form(self, each: RowOp) -> bool:
        """Whether the target's emitter takes the op."""
        forms = self.forms
        used = [a for a in (*each.accesses, *each.looked_up) if a.is_memory]
        plain = each.is_arithmetic and all(map(is_whole, each.op.operands))
        elsewhere = any(a.kind is BufferKind.OTHER or a.memory != a.root for a in used)
        if not forms.reads_elsewhere and (elsewhere or not plain):
            return False
        if not forms.column_sums and each.reduces is BufferKind.LINE:
            return False
        if not forms.reshaped and (len(each.across) > 1 or each.row_shape != self._row_shape(each)):
            return False
        if forms.joins is not None and any(join.op.name not in forms.joins for join in each.combines):
            return False
        if forms.fewest_in_tiles is None or each.reduces is None:
            return True
        product = shape_of_product(each.op)
        return product is None or min(product) < forms.fewest_in_tiles

    def _row_shape(self, each: RowOp) -> tuple[int, ...]:
        """The lengths that rows are counted by: those of the op that the group was started from."""
        first = next(iter(self.members.values()), each)
        return first.row_shape

    def _described(self, place: int) -> RowOp | None:
        if place not in self.known:
            self.known[place] = row_op(self.operations[place], self.rows)
        return self.known[place]

    def _are_columns(self, each: RowOp) -> bool:
        """As many rows as columns: an op over one dimension goes along what other ops take it for."""
        if self.rows != self.columns:
            return False
        roots = [a.root for a in each.accesses if a.is_memory]
        described = [self._described(n) for n in range(len(self.operations))]
        lines = [a.root for other in described if other for a in other.accesses if a.kind is BufferKind.LINE]
        return any(root in lines for root in roots)

    def _is_near(self, each: RowOp) -> bool:
        """Whether the op has a buffer in common with the members, or hardly anything to do."""
        roots = [a.root for member in self.members.values() for a in member.accesses if a.is_memory]
        return (
            self.forms.is_device
            or each.columns == 1
            or any(a.root in roots for a in each.accesses if a.kind is not BufferKind.FIXED)
        )

    def _joins(self, each: RowOp) -> bool:
        """Whether a member needs what the op makes, and both see the same rows in it."""
        roots = [a.root for a in each.outputs]
        needed = any(a.root in roots for member in self.members.values() for a in member.accesses)
        return (needed or self.forms.is_device) and self._agrees(each)

    def _agrees(self, each: RowOp) -> bool:
        """Whether buffers that are written are seen in one way only, and are none of the others."""
        ops = [*self.members.values(), each]
        seen: dict[ir.Value, set[tuple[ir.Value, BufferKind]]] = {}
        for op in ops:
            for access in (*op.accesses, *op.looked_up):
                if access.is_memory:
                    seen.setdefault(access.memory, set()).add((access.root, access.kind))
        sums = [out.root for op in ops if op.reduces is BufferKind.LINE for out in op.outputs]
        everywhere = [a.root for op in ops for a in op.accesses]
        if any(everywhere.count(root) > 1 for root in sums):
            return False
        allowed = {BufferKind.CELL, BufferKind.ROW}
        return all(
            len(seen[out.memory]) == 1
            and (out.root in sums or out.kind in allowed)
            and not any(other != out.memory and may_alias(out.memory, other) for other in seen)
            for op in ops
            for out in op.outputs
        )

    def _may_pass(self, place: int, others: Iterable[int]) -> bool:
        """Whether the op at `place` may change places with all of the others."""
        return all(may_swap(self._touches(place), self._touches(n)) for n in others)

    def _touches(self, place: int) -> list[Touch]:
        if place not in self.touched:
            self.touched[place] = touches(self.operations[place])
        return self.touched[place]

    def _drop_idle(self) -> None:
        """Ops at the end that have no row to go over are better off alone; so are those nobody needs here."""
        for place in sorted(self.members, reverse=True):
            each = self.members[place]
            if not _is_fill(each.op) if self.forms.is_device else each.columns > 1:
                return
            del self.members[place]


def _ends(op: ir.Operation) -> bool:
    """Ops whose accesses are not looked into."""
    return op.name not in ("linalg.generic", "memref.copy")
