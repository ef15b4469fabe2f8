"""The loop over rows: a group of ops becomes one function.

Comes in: a `Group`. Goes out: the call of a `func.func` where the group's last op stood; the ops are gone.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.array_programs.arena import bytes_of
from pykern.passes.array_programs.nests.combine import allow_reordering
from pykern.passes.array_programs.nests.emit import BLOCK
from pykern.passes.array_programs.nests.function import Nest, Place
from pykern.passes.array_programs.nests.parts import join_parts
from pykern.passes.array_programs.nests.rows.find import LONG_BYTES, Group
from pykern.passes.array_programs.nests.rows.ops import SAME_BUFFER, Access, Kind
from pykern.passes.array_programs.nests.rows.schedule import Pass, Schedule, schedule_of
from pykern.passes.array_programs.nests.rows.values import Computed, Given, Graph, Value, Write, graph_of
from pykern.passes.kernels import index_constant

ROWS = "kern.rows"
"""Mark of the function: its loops take one row of all its arrays after the other."""
PARALLEL_WORK = 200_000
"""Elementary operations (about 0.3 ns each) from which a fork and join of 1-2 us is worth it."""
PARTS = 64
"""Parts that rows are cut into where columns are summed, whatever the number of threads."""
FEWEST_ROWS = 16
"""Rows of a part: joining the parts is to cost little beside them."""
ALIGNMENT = 64


def make_rows(place: Place, group: Group, threads: bool) -> None:
    """Put a loop over rows in the place of a group's ops."""
    for each in group.ops:
        if each.reduces is not None:
            allow_reordering(each.op)
    graph, private = graph_of(group), group.private
    if graph.writes:
        _make(place, group, graph, threads)
    for each in reversed(group.ops):
        each.op.erase()
    for root in private:
        _erase_views(root)


def _make(place: Place, group: Group, graph: Graph, threads: bool) -> None:
    last = group.ops[-1].op
    needed = graph.needed()
    roots = [v.access.root for v in needed if isinstance(v, Given)]
    sums = [w for w in graph.writes if w.combine is not None]
    roots += [w.access.root for w in graph.writes if w.combine is None]
    grain = max(FEWEST_ROWS, -(-group.rows // PARTS)) if sums else 1
    extent = -(-group.rows // grain)
    with ir.InsertionPoint(last), last.location:
        partial = [memref.AllocOp(_kind([extent, group.columns], w), [], []).result for w in sums]
    nest = Nest(place, last, [*roots, *partial], extent, has_body=False)
    with nest.inside() as (lo, hi):
        nest.function.attributes[ROWS] = ir.UnitAttr.get()
        loops = RowLoops(nest, group, schedule_of(graph))
        if sums:
            loops.in_parts(lo, hi, grain, sums, partial)
        else:
            loops.over(lo, hi)
        loops.free()
    work = group.rows * group.columns * sum(2 if v.is_wide else 0 for v in needed)
    nest.call(threads and extent > 1 and work > PARALLEL_WORK)
    if sums:
        joins = [w.combine for w in sums]
        join_parts(place, last, joins, partial, [w.access.root for w in sums], [None] * len(sums))


class RowLoops:
    """Emits the loops at the insertion point."""

    def __init__(self, nest: Nest, group: Group, schedule: Schedule) -> None:
        self.nest, self.rows, self.columns, self.schedule = nest, group.rows, group.columns, schedule
        self.partial: dict[int, ir.Value] = {}
        self.part: ir.Value | None = None
        self.views: dict[tuple[ir.Value, Kind], ir.Value] = {}
        self.scratch = {value: self._scratch(value) for value in schedule.stored}

    def _scratch(self, value: Value) -> ir.Value:
        assert isinstance(value, Computed)
        kind = ir.MemRefType.get([self.columns], value.op.results[0].type)
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ALIGNMENT)
        is_long = bytes_of(kind) > LONG_BYTES
        return (memref.AllocOp if is_long else memref.AllocaOp)(kind, [], [], alignment=alignment).result

    def free(self) -> None:
        """Scratch that is too long for the stack."""
        for memory in self.scratch.values():
            if memory.owner.operation.name == "memref.alloc":
                memref.DeallocOp(memory)

    def in_parts(
        self, lo: ir.Value, hi: ir.Value, grain: int, sums: list[Write], partial: list[ir.Value]
    ) -> None:
        """Parts lo..hi of `grain` rows each; every part sums up lines of its own."""
        self.partial = {id(w): self.nest.value(v) for w, v in zip(sums, partial, strict=True)}
        self._prepare()
        loop = scf.ForOp(lo, hi, index_constant(1))
        with ir.InsertionPoint(loop.body):
            self.part = loop.induction_variable
            for write in sums:
                assert write.combine is not None
                column = scf.ForOp(index_constant(0), index_constant(self.columns), index_constant(1))
                with ir.InsertionPoint(column.body):
                    at = [self.part, column.induction_variable]
                    memref.StoreOp(write.combine.neutral(), self.partial[id(write)], at)
                    scf.YieldOp([])
            begin = arith.MulIOp(self.part, index_constant(grain)).result
            end = arith.AddIOp(begin, index_constant(grain)).result
            self.over(begin, arith.MinSIOp(end, index_constant(self.rows)).result)
            scf.YieldOp([])

    def over(self, lo: ir.Value, hi: ir.Value) -> None:
        """Rows lo..hi."""
        self._prepare()
        loop = scf.ForOp(lo, hi, index_constant(1))
        with ir.InsertionPoint(loop.body):
            self.row = loop.induction_variable
            self.known: dict[Value, ir.Value] = {}
            for number, each in enumerate(self.schedule.passes):
                self._pass(number, each)
            values = [self._narrow(write.value) for write in self.schedule.last]
            for write, value in zip(self.schedule.last, values, strict=True):
                memref.StoreOp(value, self._view(write.access), [self.row])
            scf.YieldOp([])

    def _prepare(self) -> None:
        """Views are made before the loops."""
        writes = [w for each in self.schedule.passes for w in each.writes if w.combine is None]
        for write in (*writes, *self.schedule.last):
            self._view(write.access)
        waiting: list[Value] = [w.value for w in (*writes, *self.schedule.last)]
        waiting += [v for each in self.schedule.passes for v in (*each.values, *each.reductions)]
        seen: set[Value] = set()
        while waiting:
            value = waiting.pop()
            if value not in seen:
                seen.add(value)
                waiting += value.operands
                if isinstance(value, Given) and value.access.is_memory:
                    self._view(value.access)

    # -- one pass over a row -----------------------------------------------------------------

    def _pass(self, number: int, each: Pass) -> None:
        used = [v for value in each.values if not self._is_loaded(value, number) for v in value.operands]
        used += [w.value for w in each.writes] + [v for r in each.reductions for v in r.operands]
        for value in used:
            if not value.is_wide:
                self._narrow(value)
        begin = [self._narrow(r.initial) for r in each.reductions]
        lower, upper = index_constant(0), index_constant(self.columns)
        sums = bool(each.reductions) and all(r.combine.is_float_sum for r in each.reductions)
        if sums and self.columns > 2 * BLOCK:
            found = self._in_blocks(number, each, begin)
        else:
            found = self._columns(number, each, lower, upper, begin)
        self.known.update(zip(each.reductions, found, strict=True))

    def _in_blocks(self, number: int, each: Pass, begin: list[ir.Value]) -> list[ir.Value]:
        """Terms are added up in blocks, whose sums join the others: long sums keep their digits."""
        size, end = index_constant(BLOCK), index_constant(self.columns)
        loop = scf.ForOp(index_constant(0), end, size, begin)
        with ir.InsertionPoint(loop.body):
            lower = loop.induction_variable
            upper = arith.MinSIOp(arith.AddIOp(lower, size).result, end).result
            neutral = [r.combine.neutral() for r in each.reductions]
            parts = self._columns(number, each, lower, upper, neutral)
            held = loop.inner_iter_args
            scf.YieldOp([r.combine.join(a, b) for r, a, b in zip(each.reductions, held, parts, strict=True)])
        return list(loop.results)

    def _columns(
        self, number: int, each: Pass, lower: ir.Value, upper: ir.Value, begin: list[ir.Value]
    ) -> list[ir.Value]:
        loop = scf.ForOp(lower, upper, index_constant(1), begin)
        with ir.InsertionPoint(loop.body):
            self.column = loop.induction_variable
            here: dict[Value, ir.Value] = dict(self.known)
            for value in each.values:
                here[value] = self._wide(value, number, here)
            for value in each.values:
                if self.schedule.stored.get(value) == number:
                    memref.StoreOp(here[value], self.scratch[value], [self.column])
            for write in each.writes:
                self._write(write, here[write.value])
            held = loop.inner_iter_args
            scf.YieldOp(
                [r.combine.join(a, here[r.added]) for r, a in zip(each.reductions, held, strict=True)]
            )
        return list(loop.results)

    def _is_loaded(self, value: Value, number: int) -> bool:
        return self.schedule.stored.get(value, number) < number

    def _wide(self, value: Value, number: int, here: dict[Value, ir.Value]) -> ir.Value:
        """A value of the current row and column."""
        if isinstance(value, Given):
            at = [self.column] if value.kind is Kind.LINE else [self.row, self.column]
            return memref.LoadOp(self._view(value.access), at).result
        if self._is_loaded(value, number):
            return memref.LoadOp(self.scratch[value], [self.column]).result
        assert isinstance(value, Computed)
        return _again(value, [here[v] for v in value.inputs])

    def _write(self, write: Write, value: ir.Value) -> None:
        if write.combine is None:
            memref.StoreOp(value, self._view(write.access), [self.row, self.column])
            return
        assert self.part is not None
        memory, at = self.partial[id(write)], [self.part, self.column]
        memref.StoreOp(write.combine.join(memref.LoadOp(memory, at).result, value), memory, at)

    def _narrow(self, value: Value) -> ir.Value:
        """A value that is the same for all columns; reductions are known after their pass."""
        if value not in self.known:
            if isinstance(value, Given):
                self.known[value] = self._load(value)
            else:
                assert isinstance(value, Computed)
                self.known[value] = _again(value, [self._narrow(v) for v in value.inputs])
        return self.known[value]

    def _load(self, value: Given) -> ir.Value:
        if not value.access.is_memory:
            return self.nest.value(value.access.root)
        memory = self._view(value.access)
        rank = ir.MemRefType(memory.type).rank
        at = [self.row] if value.kind is Kind.ROW else [index_constant(0)] * rank
        return memref.LoadOp(memory, at).result

    def _view(self, access: Access) -> ir.Value:
        """The buffer as rows and columns."""
        key = access.root, access.kind
        if key not in self.views:
            self.views[key] = _shaped(self.nest.value(access.root), self._shape(access))
        return self.views[key]

    def _shape(self, access: Access) -> list[int] | None:
        shapes = {Kind.CELL: [self.rows, self.columns], Kind.ROW: [self.rows], Kind.LINE: [self.columns]}
        return shapes.get(access.kind)


def _again(value: Computed, operands: list[ir.Value]) -> ir.Value:
    made = value.op.clone()
    for number, operand in enumerate(operands):
        made.operands[number] = operand
    return made.results[0]


def _shaped(memory: ir.Value, shape: list[int] | None) -> ir.Value:
    """A dense buffer with another shape of as many elements."""
    kind = ir.MemRefType(memory.type)
    if shape is None or list(kind.shape) == shape:
        return memory
    if kind.rank > 1:
        flat = 1
        for length in kind.shape:
            flat *= length
        flat_kind = ir.MemRefType.get([flat], kind.element_type)
        memory = memref.CollapseShapeOp(flat_kind, memory, [list(range(kind.rank))]).result
    if len(shape) == 1:
        return memory
    wide = ir.MemRefType.get(shape, kind.element_type)
    return memref.ExpandShapeOp(wide, memory, [[0, 1]], [], shape).result


def _kind(shape: list[int], write: Write) -> ir.MemRefType:
    return ir.MemRefType.get(shape, ir.MemRefType(write.access.root.type).element_type)


def _erase_views(root: ir.Value) -> None:
    for use in list(root.uses):
        op = use.owner.operation
        if op.name in SAME_BUFFER:
            _erase_views(op.results[0])
            op.erase()
