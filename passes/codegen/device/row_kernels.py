"""A kernel for operations that stay within rows: a workgroup a row, or a work-item where rows are short.

Comes in: a `Group`. Goes out: one launch in place of its ops. Elements of rows that are not too long stay in
registers from the first op to the last; of longer ones a work-item reads again what it wrote itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.collectives import GroupReduceOp
from pykern.dialect.index_space import GlobalIdOp, LocalIdOp
from pykern.passes.analysis.cost_model.devices import (
    FEWEST_ROW_ELEMENTS,
    FEWEST_TILED,
    REGISTER_ELEMENTS,
    VECTOR_ELEMENTS,
)
from pykern.passes.analysis.rows import RowOp
from pykern.passes.analysis.space import Space
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.points import Points, group_of, spread
from pykern.passes.codegen.device.product_space import added, scaled
from pykern.passes.codegen.device.reductions import KINDS, first_item
from pykern.passes.fusion.row_groups import Group, RowForms
from pykern.passes.kernels import index_constant

Key = tuple[ir.Value, tuple[int, ...]]
"""An array, and which coordinates of a row's element are its indices."""
ROWS = RowForms(
    is_device=True,
    column_sums=False,
    chunks=False,
    reshaped=False,
    reads_elsewhere=True,
    joins=frozenset(KINDS),
    fewest_in_tiles=FEWEST_TILED,
)


def launch_rows(place: KernelContext, group: Group) -> None:
    """Make the kernel and launch it in place of the ops, which are erased."""
    width = 1 if group.columns < FEWEST_ROW_ELEMENTS else group_of(group.columns)
    if width == 1:
        ndrange, workgroup = (group.rows,), (group_of(group.rows),)
    else:
        ndrange, workgroup = (group.rows, width), (1, width)
    with Kernel(place, group.ops[-1].op, ndrange, workgroup) as kernel:
        _Rows(kernel, group, width).make()
    for member in group.ops:
        member.op.erase()


class _RowCells(Points):
    """The iterations of one op; what the group knows of an array is not loaded."""

    def __init__(self, kernel: Kernel, member: RowOp) -> None:
        dimensions = range(len(member.lengths))
        space = Space(
            member.op,
            list(member.lengths),
            [False for _ in dimensions],
            list(member.maps),
            [[d] for d in dimensions],
        )
        super().__init__(kernel, space)
        self.member = member
        self.joins = member.combines
        self.known: dict[Key, ir.Value] = {}
        every = (*member.along, *member.across)
        self.numbers = [every.index(d) if d in every else -1 for d in dimensions]
        """Of each dimension the coordinate of a row's element that it is; -1 for those of length 1."""

    @property
    def is_full(self) -> bool:
        """Whether the op goes along the row."""
        return bool(self.member.across)

    def key(self, n: int) -> Key | None:
        """What an operand is; None for a number, and where its index is no plain choice of coordinates."""
        access = self.member.accesses[n]
        if not access.is_memory or access.coordinates is None:
            return None
        return access.root, access.coordinates

    def load(self, n: int) -> ir.Value:
        key = self.key(n)
        if key is None:
            return super().load(n)
        if key not in self.known:
            self.known[key] = super().load(n)
        return self.known[key]


@dataclass
class _Phase:
    """Ops that go over the row together; or one that computes a value of the row."""

    members: list[_RowCells]
    full: bool
    reads: set[Key] = field(default_factory=set)
    writes: set[Key] = field(default_factory=set)


class _Rows:
    """Writes the kernel of a group."""

    def __init__(self, kernel: Kernel, group: Group, width: int) -> None:
        self.kernel, self.group, self.width = kernel, group, width
        self.private = group.private
        self.trips = group.columns if width == 1 else -(-group.columns // width)
        self.in_registers = width == 1 or self.trips <= REGISTER_ELEMENTS
        whole = width > 1 and group.columns % (VECTOR_ELEMENTS * width) == 0
        self.side_by_side = VECTOR_ELEMENTS if kernel.place.aligned and self.in_registers and whole else 1
        """Elements that a work-item has of neighbours: several where the device reads 16 bytes at once."""

    def make(self) -> None:
        cells = [_RowCells(self.kernel, member) for member in self.group.ops]
        for each in cells:
            each.prepare()
        number = GlobalIdOp.create(0)
        self.row = spread(number, self.group.row_shape) if self.group.row_shape else []
        self.local = LocalIdOp.create(1) if self.width > 1 else None
        self.of_row: dict[Key, ir.Value] = {}
        self.of_elements: list[dict[Key, ir.Value]] = [{} for _ in range(self.trips)]
        self.places = [self._place(trip) for trip in range(self.trips)] if self.in_registers else []
        phases = _phases(cells)
        for n, phase in enumerate(phases):
            later = set().union(*(p.reads for p in phases[n + 1 :]))
            if not phase.full:
                self._value(phase.members[0])
            elif self.in_registers:
                self._unrolled(phase)
            else:
                self._loop(phase, later)
        self._store(cells)

    # -- one element -------------------------------------------------------------------------------

    def _place(self, trip: int) -> tuple[ir.Value, ir.Value | None]:
        """The element of a trip, and whether it is there, where that is not sure: then the last one stands for it."""
        if self.local is None:
            return index_constant(trip), None
        first, next_to = divmod(trip, self.side_by_side)
        begin = scaled(self.local, self.side_by_side) if self.side_by_side > 1 else self.local
        at = added(begin, first * self.side_by_side * self.width + next_to) if trip else begin
        if (trip + 1) * self.width <= self.group.columns:
            return at, None
        there = arith.CmpIOp(arith.CmpIPredicate.ult, at, index_constant(self.group.columns)).result
        return arith.MinUIOp(at, index_constant(self.group.columns - 1)).result, there

    def _stand(self, cells: _RowCells, at: ir.Value | None) -> None:
        """At an element of the row; None where the row alone counts."""
        coordinates = [*self.row, at]
        values = [index_constant(0) if n < 0 else coordinates[n] for n in cells.numbers]
        cells.counters = {d: value for d, value in enumerate(values) if value is not None}

    def _run(
        self, cells: _RowCells, at: ir.Value | None, known: dict[Key, ir.Value], held: list[ir.Value | None]
    ) -> list[ir.Value]:
        """What an op gives at an element, or for the row; a reduction adds to what is `held`."""
        self._stand(cells, at)
        cells.known = known
        if cells.member.op.name == "memref.copy":
            return [cells.load(0)]
        return cells.run(held)

    def _value(self, cells: _RowCells) -> None:
        for n, value in zip(cells.outputs, self._run(cells, None, self.of_row, _nothing(cells)), strict=True):
            self.of_row[_key(cells, n)] = value

    # -- a row in registers ------------------------------------------------------------------------

    def _unrolled(self, phase: _Phase) -> None:
        reducing = [cells for cells in phase.members if cells.joins]
        sums = [[j.neutral() for j in cells.joins] for cells in reducing]
        for trip, (at, there) in enumerate(self.places):
            for cells in phase.members:
                known = self.of_elements[trip] | self.of_row
                if cells.joins:
                    before = sums.pop(0)
                    found = self._run(cells, at, known, list(before))
                    if there is not None:
                        pairs = zip(found, before, strict=True)
                        found = [arith.SelectOp(there, new, old).result for new, old in pairs]
                    sums.append(found)
                else:
                    found = self._run(cells, at, known, _nothing(cells))
                    known |= zip((_key(cells, n) for n in cells.outputs), found, strict=True)
                self.of_elements[trip] |= {k: v for k, v in known.items() if k not in self.of_row}
        for cells, values in zip(reducing, sums, strict=True):
            self._reduced(cells, values)

    def _reduced(self, cells: _RowCells, values: list[ir.Value]) -> None:
        """What work-items have of a reduction becomes the row's, behind what the output held before."""
        joins = cells.joins
        if self.width > 1:
            values = [GroupReduceOp.create(KINDS[j.op.name], v) for j, v in zip(joins, values, strict=True)]
        self._stand(cells, None)
        cells.known = self.of_row
        held = [cells.load(n) for n in cells.outputs]
        for n, value in zip(cells.outputs, _joined(cells, held, values), strict=True):
            self.of_row[_key(cells, n)] = value

    # -- a long row --------------------------------------------------------------------------------

    def _loop(self, phase: _Phase, later: set[Key]) -> None:
        assert self.local is not None
        reducing = [cells for cells in phase.members if cells.joins]
        neutral = [j.neutral() for cells in reducing for j in cells.joins]
        loop = scf.ForOp(self.local, index_constant(self.group.columns), index_constant(self.width), neutral)
        carried = list(loop.inner_iter_args)
        with ir.InsertionPoint(loop.body):
            known: dict[Key, ir.Value] = dict(self.of_row)
            for cells in phase.members:
                if cells.joins:
                    count = len(cells.joins)
                    before, carried = carried[:count], carried[count:]
                    carried += self._run(cells, loop.induction_variable, known, list(before))
                    continue
                found = self._run(cells, loop.induction_variable, known, _nothing(cells))
                for n, value in zip(cells.outputs, found, strict=True):
                    known[_key(cells, n)] = value
                    if _key(cells, n) in later or self._is_kept(cells, n):
                        cells.store(n, value)
            scf.YieldOp(carried)
        sums = list(loop.results)
        for cells in reducing:
            count = len(cells.joins)
            self._reduced(cells, sums[:count])
            sums = sums[count:]

    # -- what others see ---------------------------------------------------------------------------

    def _is_kept(self, cells: _RowCells, n: int) -> bool:
        """Whether somebody else sees what is written there."""
        return cells.member.accesses[n].memory not in self.private

    def _store(self, cells: list[_RowCells]) -> None:
        """The last value of each array that is kept; a row's by one work-item."""
        last: dict[Key, tuple[_RowCells, int]] = {}
        for each in cells:
            for n in each.outputs:
                if self._is_kept(each, n):
                    last[_key(each, n)] = (each, n)
        rows = {key: at for key, at in last.items() if key in self.of_row}
        if rows:
            with _where(None if self.local is None else lambda: first_item(self.local)):
                for key, (each, n) in rows.items():
                    self._stand(each, None)
                    each.store(n, self.of_row[key])
        elements = {key: at for key, at in last.items() if key not in self.of_row}
        if not self.in_registers or not elements:
            return
        for trip, (at, there) in enumerate(self.places):
            with _where(None if there is None else lambda there=there: scf.IfOp(there)):
                for key, (each, n) in elements.items():
                    self._stand(each, at)
                    each.store(n, self.of_elements[trip][key])


class _where:  # noqa: N801 - reads as ``with _where(condition):``
    """Ops made in the block run where the branch that `make` makes is taken; always where there is none."""

    def __init__(self, make: Callable[[], scf.IfOp] | None) -> None:
        self.make = make

    def __enter__(self) -> None:
        if self.make is not None:
            self.point = ir.InsertionPoint(self.make().then_block)
            self.point.__enter__()

    def __exit__(self, *error: object) -> None:
        if self.make is not None:
            if error[0] is None:
                scf.YieldOp([])
            self.point.__exit__(*error)


def _nothing(cells: _RowCells) -> list[ir.Value | None]:
    """What outputs hold is in memory, or known."""
    return [None for _ in cells.outputs]


def _key(cells: _RowCells, n: int) -> Key:
    key = cells.key(n)
    assert key is not None, "an output is written at the element's place"
    return key


def _joined(cells: _RowCells, a: list[ir.Value], b: list[ir.Value]) -> list[ir.Value]:
    return [j.join(x, y) for j, x, y in zip(cells.joins, a, b, strict=True)]


def _phases(members: list[_RowCells]) -> list[_Phase]:
    """Ops go over the row together as long as none needs what another one of them reduces."""
    phases: list[_Phase] = []
    for cells in members:
        reads = {cells.key(n) for n in range(len(cells.member.op.operands))} - {None}
        writes = {_key(cells, n) for n in cells.outputs}
        reduced = {_key(c, n) for p in phases[-1:] for c in p.members if c.joins for n in c.outputs}
        last = phases[-1] if phases else None
        if cells.is_full and last is not None and last.full and not reads & reduced:
            last.members.append(cells)
            last.reads |= reads
            last.writes |= writes
            continue
        made = _Phase([cells], cells.is_full, reads, writes)
        if (
            not cells.is_full
            and last is not None
            and last.full
            and not (reads | writes) & (last.reads | last.writes)
        ):
            phases.insert(len(phases) - 1, made)  # as a fill: it need not end the ops that go together
        else:
            phases.append(made)
    return phases
