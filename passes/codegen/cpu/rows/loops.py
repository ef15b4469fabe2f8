"""Loops over the columns of a row, for the passes of a `RowSchedule`.

Comes in: a nest, a `Group`, its schedule. Goes out: loops at the insertion point. Who makes functions:
`emit`, `chunks`.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.analysis.cost_model.caches import LINE_BYTES, LONG_ROW_BYTES, ROW_BLOCK
from pykern.passes.analysis.cost_model.lengths import SUM_BLOCK
from pykern.passes.analysis.cost_model.operations import STORE_COST
from pykern.passes.analysis.rows import BufferKind, RowOperand
from pykern.passes.codegen.cpu.loop_nest.function import Nest
from pykern.passes.codegen.cpu.rows import online
from pykern.passes.codegen.cpu.rows.schedule import ColumnLoop, RowSchedule
from pykern.passes.codegen.cpu.rows.values import Computed, Loaded, Value, Write
from pykern.passes.fusion.row_groups import Group
from pykern.passes.ir.memory import bytes_of
from pykern.passes.kernels import index_constant


class RowLoops:
    """Emits the loops at the insertion point."""

    def __init__(
        self, nest: Nest, group: Group, schedule: RowSchedule, hosts: dict[Value, Write] | None = None
    ) -> None:
        self.nest, self.rows, self.columns, self.schedule = nest, group.rows, group.columns, schedule
        self.hosts = hosts or {}
        self.partial: dict[int, ir.Value] = {}
        self.part: ir.Value | None = None
        self.views: dict[tuple[ir.Value, BufferKind], ir.Value] = {}
        self.scratch = {value: self._scratch(value) for value in schedule.stored if value not in self.hosts}
        below = [pair.difference.inputs[0] for pair in schedule.pairs]
        self.lines = {value: self._line(value) for value in dict.fromkeys(below) if self._is_costly(value)}

    def _scratch(self, value: Value) -> ir.Value:
        assert isinstance(value, Computed)
        kind = ir.MemRefType.get([self.columns], value.op.results[0].type)
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), LINE_BYTES)
        is_long = bytes_of(kind) > LONG_ROW_BYTES
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
        self.prepare()
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
        self.prepare()
        loop = scf.ForOp(lo, hi, index_constant(1))
        with ir.InsertionPoint(loop.body):
            self.row = loop.induction_variable
            self.known: dict[Value, ir.Value] = {}
            for number, each in enumerate(self.schedule.passes):
                self._pass(number, each)
            self.write_last()
            scf.YieldOp([])

    def write_last(self) -> None:
        """Values of the row, when all passes are done."""
        values = [self._narrow(write.value) for write in self.schedule.last]
        for write, value in zip(self.schedule.last, values, strict=True):
            memref.StoreOp(value, self._view(write.access), [self.row])

    def prepare(self) -> None:
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
                if isinstance(value, Loaded) and value.access.is_memory:
                    self._view(value.access)

    # -- one pass over a row -----------------------------------------------------------------

    def _pass(self, number: int, each: ColumnLoop) -> None:
        begin = self.begin(number, each)
        found = self.reduce(number, each, begin, index_constant(0), index_constant(self.columns))
        self.known.update(zip(each.reductions, self.finish(each, begin, found), strict=True))

    def begin(self, number: int, each: ColumnLoop) -> list[ir.Value]:
        """What the reductions of a pass begin with; what it needs of other passes is at hand afterwards."""
        used = [v for value in each.values if not self._is_loaded(value, number) for v in value.operands]
        used += [w.value for w in each.writes] + [v for r in each.reductions for v in r.operands]
        for value in used:
            if not value.is_wide and value not in each.reductions:
                self._narrow(value)
        return [self._narrow(r.initial) for r in each.reductions]

    def reduce(
        self, number: int, each: ColumnLoop, begin: list[ir.Value], lower: ir.Value, upper: ir.Value
    ) -> list[ir.Value]:
        """One pass over some columns. Totals of pairs leave out what they begin with, and lie below the maximum."""
        if any(pair.total in each.reductions for pair in self.schedule.pairs):
            return self._online(number, each, begin, lower, upper)
        sums = bool(each.reductions) and all(r.combine.is_float_sum for r in each.reductions)
        if sums and self.columns > 2 * SUM_BLOCK:
            return self._in_blocks(number, each, begin, lower, upper)
        return self._columns(number, each, lower, upper, begin)

    def finish(self, each: ColumnLoop, begin: list[ir.Value], found: list[ir.Value]) -> list[ir.Value]:
        """The results of a pass from what `reduce` gave."""
        known = dict(zip(each.reductions, found, strict=True))
        results = dict(known)
        for pair in self.schedule.pairs:
            if pair.total in known:
                total = pair.finish(known[pair.largest], known[pair.total])
                initial = begin[each.reductions.index(pair.total)]
                results[pair.total] = pair.total.combine.join(initial, total)
        return [results[r] for r in each.reductions]

    def _in_blocks(
        self, number: int, each: ColumnLoop, begin: list[ir.Value], lower: ir.Value, upper: ir.Value
    ) -> list[ir.Value]:
        """Terms are added up in blocks, whose sums join the others: long sums keep their digits."""
        loop = scf.ForOp(lower, upper, index_constant(SUM_BLOCK), begin)
        with ir.InsertionPoint(loop.body):
            start, end = _block(loop, SUM_BLOCK, upper)
            neutral = [r.combine.neutral() for r in each.reductions]
            parts = self._columns(number, each, start, end, neutral)
            held = loop.inner_iter_args
            scf.YieldOp([r.combine.join(a, b) for r, a, b in zip(each.reductions, held, parts, strict=True)])
        return list(loop.results)

    def _online(
        self, number: int, each: ColumnLoop, begin: list[ir.Value], lower: ir.Value, upper: ir.Value
    ) -> list[ir.Value]:
        """Of each block the maxima first, then the sums below them; everything else goes with the maxima."""
        pairs = {pair.total: pair for pair in self.schedule.pairs if pair.total in each.reductions}
        first = ColumnLoop([r for r in each.reductions if r not in pairs], each.writes, each.values)
        start = [
            r.combine.neutral() if r in pairs else b for r, b in zip(each.reductions, begin, strict=True)
        ]
        loop = scf.ForOp(lower, upper, index_constant(ROW_BLOCK), start)
        with ir.InsertionPoint(loop.body):
            at, end = _block(loop, ROW_BLOCK, upper)
            held = dict(zip(each.reductions, loop.inner_iter_args, strict=True))
            neutral = [r.combine.neutral() for r in first.reductions]

            def keep(here: dict[Value, ir.Value]) -> None:
                for value in dict.fromkeys(pair.difference.inputs[0] for pair in pairs.values()):
                    if value not in self.lines:
                        continue
                    line = self.lines[value]
                    memref.StoreOp(here[value], line, [arith.SubIOp(self.column, at).result])

            parts = self._columns(number, first, at, end, neutral, keep)
            now = {r: r.combine.join(held[r], v) for r, v in zip(first.reductions, parts, strict=True)}
            for total, pair in pairs.items():
                base = online.base_of(now[pair.largest])
                scaled = arith.MulFOp(held[total], pair.factor(held[pair.largest], base)).result
                now[total] = total.combine.join(scaled, self._sum_below(number, pair, base, at, end, each))
            scf.YieldOp([now[r] for r in each.reductions])
        return list(loop.results)

    def _sum_below(
        self,
        number: int,
        pair: online.OnlineSum,
        base: ir.Value,
        at: ir.Value,
        end: ir.Value,
        each: ColumnLoop,
    ) -> ir.Value:
        loop = scf.ForOp(at, end, index_constant(1), [pair.total.combine.neutral()])
        with ir.InsertionPoint(loop.body):
            self.column = loop.induction_variable
            value = pair.difference.inputs[0]
            if value in self.lines:
                here = memref.LoadOp(self.lines[value], [arith.SubIOp(self.column, at).result]).result
            else:
                here = self._recomputed(value, number, each)
            power = pair.power(here, base)
            scf.YieldOp([pair.total.combine.join(loop.inner_iter_args[0], power)])
        return loop.results[0]

    def _recomputed(self, value: Value, number: int, each: ColumnLoop) -> ir.Value:
        """A value of the current column and what it is made of."""
        here: dict[Value, ir.Value] = dict(self.known)
        wanted = {value}
        for one in reversed(each.values):
            if one in wanted and not self._is_loaded(one, number):
                wanted.update(one.operands)
        for one in each.values:
            if one in wanted:
                here[one] = self._wide(one, number, here)
        return here[value]

    def _is_costly(self, value: Value) -> bool:
        return not isinstance(value, Loaded) and self.schedule.costs.get(value, 0) > STORE_COST

    def _line(self, value: Value) -> ir.Value:
        """Scratch for a block."""
        assert isinstance(value, Computed)
        kind = ir.MemRefType.get([ROW_BLOCK], value.op.results[0].type)
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), LINE_BYTES)
        return memref.AllocaOp(kind, [], [], alignment=alignment).result

    def _columns(
        self,
        number: int,
        each: ColumnLoop,
        lower: ir.Value,
        upper: ir.Value,
        begin: list[ir.Value],
        then: Callable[[dict[Value, ir.Value]], None] | None = None,
    ) -> list[ir.Value]:
        loop = scf.ForOp(lower, upper, index_constant(1), begin)
        with ir.InsertionPoint(loop.body):
            self.column = loop.induction_variable
            here: dict[Value, ir.Value] = dict(self.known)
            for value in each.values:
                here[value] = self._wide(value, number, here)
            for value in each.values:
                if self.schedule.stored.get(value) == number and not self._is_written(value):
                    memref.StoreOp(here[value], *self._place(value))
            if then is not None:
                then(here)
            for write in each.writes:
                self._write(write, here[write.value])
            held = loop.inner_iter_args
            scf.YieldOp(
                [r.combine.join(a, here[r.added]) for r, a in zip(each.reductions, held, strict=True)]
            )
        return list(loop.results)

    def kept_at(self) -> list[ir.Value]:
        """The indices of the current column in scratch memory."""
        return [self.column]

    def _place(self, value: Value) -> tuple[ir.Value, list[ir.Value]]:
        """The memory and the indices at which a value of the current column is kept."""
        if value in self.hosts:
            return self._view(self.hosts[value].access), [self.row, self.column]
        return self.scratch[value], self.kept_at()

    def _is_written(self, value: Value) -> bool:
        """Whether it waits where it is going to stay."""
        return value in self.hosts and self.hosts[value].value is value

    def _is_loaded(self, value: Value, number: int) -> bool:
        return self.schedule.stored.get(value, number) < number

    def _wide(self, value: Value, number: int, here: dict[Value, ir.Value]) -> ir.Value:
        """A value of the current row and column."""
        if isinstance(value, Loaded):
            at = [self.column] if value.kind is BufferKind.LINE else [self.row, self.column]
            return memref.LoadOp(self._view(value.access), at).result
        if self._is_loaded(value, number):
            return memref.LoadOp(*self._place(value)).result
        assert isinstance(value, Computed)
        return _cloned_onto(value, [here[v] for v in value.inputs])

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
            if isinstance(value, Loaded):
                self.known[value] = self._load(value)
            else:
                assert isinstance(value, Computed)
                self.known[value] = _cloned_onto(value, [self._narrow(v) for v in value.inputs])
        return self.known[value]

    def _load(self, value: Loaded) -> ir.Value:
        if not value.access.is_memory:
            return self.nest.value(value.access.root)
        memory = self._view(value.access)
        rank = ir.MemRefType(memory.type).rank
        at = [self.row] if value.kind is BufferKind.ROW else [index_constant(0)] * rank
        return memref.LoadOp(memory, at).result

    def _view(self, access: RowOperand) -> ir.Value:
        """The buffer as rows and columns."""
        key = access.root, access.kind
        if key not in self.views:
            self.views[key] = _shaped(self.nest.value(access.root), self._shape(access))
        return self.views[key]

    def _shape(self, access: RowOperand) -> list[int] | None:
        shapes = {
            BufferKind.CELL: [self.rows, self.columns],
            BufferKind.ROW: [self.rows],
            BufferKind.LINE: [self.columns],
        }
        return shapes.get(access.kind)


def _block(loop: scf.ForOp, size: int, upper: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The columns of an iteration of a loop over blocks."""
    start = loop.induction_variable
    return start, arith.MinSIOp(arith.AddIOp(start, index_constant(size)).result, upper).result


def _cloned_onto(value: Computed, operands: list[ir.Value]) -> ir.Value:
    made = value.op.clone()
    for number, operand in enumerate(operands):
        made.operands[number] = operand
    return made.results[0]


def _shaped(memory: ir.Value, shape: list[int] | None) -> ir.Value:
    """A dense buffer with another shape of as many elements."""
    kind = ir.MemRefType(memory.type)
    if shape is None or list(kind.shape) == shape:
        return memory
    if kind.rank == 0:
        return memref.ExpandShapeOp(ir.MemRefType.get(shape, kind.element_type), memory, [], [], shape).result
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
