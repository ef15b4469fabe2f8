"""Which ops of a program go through their rows together.

Comes in: the linalg.generic ops of a program on buffers. Goes out: `Group`s, in program order. A group starts
at a reduction along rows and takes in what is around it, as long as what stands between does not mind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.analysis.cost_model.caches import LONG_ROW_BYTES, MOST_ROW_BYTES
from pykern.passes.analysis.cost_model.lengths import FEWEST_COLUMNS
from pykern.passes.analysis.cost_model.threads import FEWEST_LONG_ROWS, FEWEST_PIECES, SHARED_COLUMNS
from pykern.passes.buffer.plan_memory import bytes_of
from pykern.passes.codegen.cpu.rows.ops import BufferKind, RowOp, natural_rows, row_op
from pykern.passes.fusion.legality import Touch, is_quiet, may_swap, touches
from pykern.passes.ir.memory import is_allocated_in, is_distinct, users
from pykern.passes.kernels import find, identity


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
        roots = dict.fromkeys(a.root for each in self.ops for a in each.accesses if a.is_memory)
        return [root for root in roots if self._is_private(root, mine)]

    def _is_private(self, root: ir.Value, mine: set[int]) -> bool:
        is_own = is_allocated_in(root, self.ops[-1].op.block)
        return is_own and all(identity(op) in mine for op, _ in users(root))


def groups(function: ir.Operation, has_form: Callable[[Group], bool]) -> list[Group]:
    """Every group of a program; those to be shared in pieces only where `has_form` says that they gain."""
    blocks = {}
    for op in find(function, lambda o: o.name == "linalg.generic"):
        blocks.setdefault(identity(op.block.owner.operation), op.block)
    return [group for block in blocks.values() for group in _groups_in(block, has_form)]


def _groups_in(block: ir.Block, has_form: Callable[[Group], bool]) -> list[Group]:
    operations = [o.operation for o in block.operations if not is_quiet(o.operation)]
    found: list[Group] = []
    taken: set[int] = set()
    for in_pieces in (False, True):  # what goes row by row is not to be split up by who needs all of an array
        for place, op in enumerate(operations):
            shape = natural_rows(op)
            if shape is None or identity(op) in taken:
                continue
            rows, columns = shape
            size = columns * _width(op)
            if _is_worth_it(rows, columns, size) is in_pieces or (in_pieces and columns <= SHARED_COLUMNS):
                continue
            grown = Growth(rows, columns, size, in_pieces, taken, operations).around(place)
            if grown is not None and _gains(grown) and has_form(grown):
                found.append(grown)
                taken |= {identity(each.op) for each in grown.ops}
    return found


def _is_worth_it(rows: int, columns: int, width: int) -> bool:
    """By lengths and the bytes of a row."""
    fewest = FEWEST_LONG_ROWS if width > LONG_ROW_BYTES else FEWEST_PIECES
    return rows >= fewest and columns >= FEWEST_COLUMNS and width <= MOST_ROW_BYTES


def _width(op: ir.Operation) -> int:
    kind = ir.MemRefType(op.operands[0].type) if isinstance(op.operands[0].type, ir.MemRefType) else None
    return 8 if kind is None else max(1, bytes_of(kind) // max(1, math.prod(kind.shape)))


def _gains(group: Group) -> bool:
    """Whether some row is gone over more than once."""
    seen: list[ir.Value] = []
    for each in group.ops:
        cells = [a.root for a in each.accesses if a.kind is BufferKind.CELL]
        if any(root in seen for root in cells):
            return True
        seen += cells
    return False


@dataclass
class Growth:
    """Grows a group around one op of a block."""

    rows: int
    columns: int
    row_bytes: int
    in_pieces: bool
    taken: set[int]
    operations: list[ir.Operation]
    known: dict[int, RowOp | None] = field(default_factory=dict)
    touched: dict[int, list[Touch]] = field(default_factory=dict)

    def around(self, place: int) -> Group | None:
        first = self._row_op(place)
        if first is None:
            return None
        self.members = {place: first}
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
        ops = [self.members[n] for n in sorted(self.members)]
        return Group(self.rows, self.columns, tuple(ops), self.row_bytes, self.in_pieces)

    def _row_op(self, place: int) -> RowOp | None:
        each = None if identity(self.operations[place]) in self.taken else self._described(place)
        if each is None or each.columns not in (1, self.columns):
            return None
        if not all(is_distinct(a.root) for a in each.accesses if a.is_memory):
            return None
        return None if each.columns == 1 and self._are_columns(each) else each

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
        return each.columns == 1 or any(
            a.root in roots for a in each.accesses if a.kind is not BufferKind.FIXED
        )

    def _joins(self, each: RowOp) -> bool:
        """Whether a member needs what the op makes, and both see the same rows in it."""
        roots = [a.root for a in each.outputs]
        needed = any(a.root in roots for member in self.members.values() for a in member.accesses)
        return needed and self._agrees(each)

    def _agrees(self, each: RowOp) -> bool:
        """Whether buffers that are written are seen in one way only."""
        members = list(self.members.values())
        kinds: dict[ir.Value, set[BufferKind]] = {}
        sums: list[ir.Value] = []
        for member in (*members, each):
            for access in member.accesses:
                if access.is_memory:
                    kinds.setdefault(access.root, set()).add(access.kind)
            if member.reduces is BufferKind.LINE:
                sums += [out.root for out in member.outputs]
        written = [a.root for member in (*members, each) for a in member.outputs]
        everywhere = [a.root for member in (*members, each) for a in member.accesses]
        if any(everywhere.count(root) > 1 for root in sums):
            return False
        return all(
            len(kinds[r]) == 1 and (r in sums or kinds[r] <= {BufferKind.CELL, BufferKind.ROW})
            for r in written
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
            if self.members[place].columns > 1:
                return
            del self.members[place]


def _ends(op: ir.Operation) -> bool:
    """Ops whose accesses are not looked into."""
    return op.name != "linalg.generic"
