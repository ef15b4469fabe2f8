"""A group of operations that go row by row grows around one of them, in both directions.

Comes in: the operations of a block that touch memory, and the first operation of the group. Goes out: a `Group`, or
None. Operations in front of it move down to the last one, past those that stand between and touch none of their memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.analysis.contraction import shape_of_product
from pykern.passes.analysis.rows import BufferKind, RowOp, is_whole, row_op
from pykern.passes.fusion.legality import Touch, may_swap, touches
from pykern.passes.fusion.row_groups import Group, RowForms, is_fill
from pykern.passes.ir.memory import may_alias
from pykern.passes.kernels import identity


@dataclass
class Growth:
    """Grows a group around one op of a block."""

    forms: RowForms
    rows: int
    columns: int
    row_bytes: int
    in_chunks: bool
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
        return Group(self.rows, self.columns, tuple(ops), self.row_bytes, self.in_chunks)

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
            if not is_fill(each.op) if self.forms.is_device else each.columns > 1:
                return
            del self.members[place]


def _ends(op: ir.Operation) -> bool:
    """Ops whose accesses are not looked into."""
    return op.name not in ("linalg.generic", "memref.copy")
