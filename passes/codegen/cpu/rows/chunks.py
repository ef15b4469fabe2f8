"""Few rows, or rows longer than a cache: every pass over them is a function, which threads share chunk by chunk.

Comes in: a `Group`. Goes out: the calls of its functions where its last op stood: a pass leaves what it found of each
chunk, and what follows joins the chunks, in order. Lengths decide about chunks: the number of threads changes no bit.
Long rows go through all passes one after the other, in a loop of the program: they stay in a cache meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.analysis.cost_model.caches import MOST_ROW_BYTES, ROW_BLOCK, SEPARATE_ROW_BYTES
from pykern.passes.analysis.cost_model.threads import COLUMNS_PER_CHUNK, REDUCTION_PARTS
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.codegen.cpu.rows import online
from pykern.passes.codegen.cpu.rows.hosts import hosts_of
from pykern.passes.codegen.cpu.rows.loops import RowLoops
from pykern.passes.codegen.cpu.rows.online import pairs_of
from pykern.passes.codegen.cpu.rows.schedule import ColumnLoop, RowSchedule, schedule_of
from pykern.passes.codegen.cpu.rows.values import Computed, Graph, Loaded, Reduced, Value, Write
from pykern.passes.fusion.row_groups import Group
from pykern.passes.kernels import index_constant


def make_chunks(place: NestContext, group: Group, graph: Graph, team: bool, fits: bool) -> None:
    """Calls of the passes where the group's last op stands; `fits`: the arrays stay in the cache."""
    apart = group.rows > 1 and group.row_bytes >= SEPARATE_ROW_BYTES
    in_cache = group.row_bytes * (1 if apart else group.rows) <= MOST_ROW_BYTES
    pairs = pairs_of(graph, recompute=not in_cache)
    schedule = schedule_of(graph, pairs, keep=in_cache or not pairs, is_near=in_cache)
    hosts = hosts_of(graph, schedule) if fits else {}
    ChunkedRows(place, group, graph, schedule, hosts, team, apart).make()


@dataclass
class ChunkedRows:
    """Makes the functions of one group."""

    place: NestContext
    group: Group
    graph: Graph
    schedule: RowSchedule
    hosts: dict[Value, Write]
    team: bool
    apart: bool
    """Whether a loop of the program takes one row after the other through the passes."""
    kept: dict[Value, ir.Value] = field(default_factory=dict)
    """Memory for what later passes load."""
    found: dict[Value, ir.Value] = field(default_factory=dict)
    """Memory for a reduction's result of each row."""

    def make(self) -> None:
        rows = 1 if self.apart else self.group.rows
        per_row = max(1, min(REDUCTION_PARTS // rows, self.group.columns // COLUMNS_PER_CHUNK))
        blocks = -(-self.group.columns // (per_row * ROW_BLOCK))
        self.length = blocks * ROW_BLOCK
        self.count = -(-self.group.columns // self.length)
        self.tasks = rows * self.count
        self.last = self.group.ops[-1].op
        needed = self.graph.needed()
        self.roots = [v.access.root for v in needed if isinstance(v, Loaded)]
        self.roots += [w.access.root for w in self.graph.writes]
        self.row, self.at, self.memory_at = None, self.last, self.last
        if self.apart:
            self._begin_rows()
        waiting = [v for v in self.schedule.stored if v not in self.hosts]
        self.kept = {v: self._memory([rows, self.group.columns], v) for v in waiting}
        for number, each in enumerate(self.schedule.passes):
            self._pass(number, each)
        if self.schedule.last:
            nest = self._nest([], 1, self.last)
            with nest.inside() as _:
                self._over_rows(nest, lambda loops: loops.write_last())
            nest.call(False)

    def _begin_rows(self) -> None:
        """A loop over rows in the program; what follows is called in it."""
        with ir.InsertionPoint(self.last), self.last.location:
            bounds = index_constant(0), index_constant(self.group.rows)
            loop = scf.ForOp(*bounds, index_constant(1))
            with ir.InsertionPoint(loop.body):
                self.at = scf.YieldOp([]).operation
        self.row, self.memory_at = loop.induction_variable, loop.operation

    def _memory(self, shape: list[int], value: Value) -> ir.Value:
        kind = value.combine.kind if isinstance(value, Reduced) else _op(value).results[0].type
        with ir.InsertionPoint(self.memory_at), self.last.location:
            return memref.AllocOp(ir.MemRefType.get(shape, kind), [], []).result

    def _nest(self, more: list[ir.Value], extent: int, at: ir.Operation) -> Nest:
        outside = [*self.roots, *self.kept.values(), *self.found.values(), *more]
        if self.row is not None and at != self.last:
            outside.append(self.row)
        return Nest(self.place, at, outside, extent, has_body=False)

    def _loops(self, nest: Nest) -> ChunkLoops:
        loops = ChunkLoops(nest, self.group, self.schedule, self.hosts, self.kept, self.found)
        loops.apart = self.apart
        loops.prepare()
        return loops

    def _pass(self, number: int, each: ColumnLoop) -> None:
        """All chunks of all rows, or of a row; then what was found of the chunks is joined."""
        partial = [self._memory([self.tasks], r) for r in each.reductions]
        nest = self._nest(partial, self.tasks, self.at)
        with nest.inside() as (lo, hi):
            loops = self._loops(nest)
            task = scf.ForOp(lo, hi, index_constant(1))
            with ir.InsertionPoint(task.body):
                lower, upper = self._chunk(loops, task.induction_variable)
                loops.known = {}
                loops.begin(number, each)
                neutral = [r.combine.neutral() for r in each.reductions]
                for memory, value in zip(
                    partial, loops.reduce(number, each, neutral, lower, upper), strict=True
                ):
                    memref.StoreOp(value, nest.value(memory), [task.induction_variable])
                scf.YieldOp([])
        nest.call(self.team and self.tasks > 1)
        if each.reductions:
            self._join(number, each, partial)

    def _chunk(self, loops: ChunkLoops, task: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The columns of a task, whose row is set."""
        count, length = index_constant(self.count), index_constant(self.length)
        if self.row is not None:
            loops.row, number = loops.nest.value(self.row), task
        else:
            loops.row, number = arith.DivUIOp(task, count).result, arith.RemUIOp(task, count).result
        lower = arith.MulIOp(number, length).result
        end = arith.AddIOp(lower, length).result
        return lower, arith.MinSIOp(end, index_constant(self.group.columns)).result

    def _join(self, number: int, each: ColumnLoop, partial: list[ir.Value]) -> None:
        found = {r: self._memory([self.group.rows], r) for r in each.reductions}
        nest = self._nest([*partial, *found.values()], 1, self.at)

        def join(loops: ChunkLoops) -> None:
            begin = loops.begin(number, each)
            results = loops.finish(each, begin, self._joined(loops, nest, each, begin, partial))
            for result, memory in zip(results, found.values(), strict=True):
                memref.StoreOp(result, nest.value(memory), [loops.row])

        with nest.inside() as _:
            if self.row is None:
                self._over_rows(nest, join)
            else:
                loops = self._loops(nest)
                loops.row, loops.known = nest.value(self.row), {}
                join(loops)
        nest.call(False)
        self.found |= found

    def _joined(
        self, loops: ChunkLoops, nest: Nest, each: ColumnLoop, begin: list[ir.Value], partial: list[ir.Value]
    ) -> list[ir.Value]:
        """Combine the partial results of a row."""
        pairs = {pair.total: pair for pair in self.schedule.pairs if pair.total in each.reductions}
        start = [
            r.combine.neutral() if r in pairs else b for r, b in zip(each.reductions, begin, strict=True)
        ]
        first = index_constant(0) if self.apart else loops.row
        before = arith.MulIOp(first, index_constant(self.count)).result
        chunk = scf.ForOp(index_constant(0), index_constant(self.count), index_constant(1), start)
        with ir.InsertionPoint(chunk.body):
            at = arith.AddIOp(before, chunk.induction_variable).result
            held = dict(zip(each.reductions, chunk.inner_iter_args, strict=True))
            parts = [memref.LoadOp(nest.value(memory), [at]).result for memory in partial]
            part = dict(zip(each.reductions, parts, strict=True))
            now = {r: r.combine.join(held[r], part[r]) for r in each.reductions if r not in pairs}
            for total, pair in pairs.items():
                base = online.base_of(now[pair.largest])
                scaled = [
                    arith.MulFOp(side[total], pair.factor(side[pair.largest], base)).result
                    for side in (held, part)
                ]
                now[total] = total.combine.join(*scaled)
            scf.YieldOp([now[r] for r in each.reductions])
        return list(chunk.results)

    def _over_rows(self, nest: Nest, body: Callable[[ChunkLoops], None]) -> None:
        loops = self._loops(nest)
        row = scf.ForOp(index_constant(0), index_constant(self.group.rows), index_constant(1))
        with ir.InsertionPoint(row.body):
            loops.row, loops.known = row.induction_variable, {}
            body(loops)
            scf.YieldOp([])


class ChunkLoops(RowLoops):
    """Loops over a chunk of a row; what earlier passes found is read from memory."""

    apart = False
    """Whether what is kept is of one row."""

    def __init__(
        self,
        nest: Nest,
        group: Group,
        schedule: RowSchedule,
        hosts: dict[Value, Write],
        kept: dict[Value, ir.Value],
        found: dict[Value, ir.Value],
    ) -> None:
        self.kept, self.found = kept, found
        super().__init__(nest, group, schedule, hosts)

    def _scratch(self, value: Value) -> ir.Value:
        return self.nest.value(self.kept[value])

    def kept_at(self) -> list[ir.Value]:
        return [index_constant(0) if self.apart else self.row, self.column]

    def _narrow(self, value: Value) -> ir.Value:
        if value in self.found and value not in self.known:
            self.known[value] = memref.LoadOp(self.nest.value(self.found[value]), [self.row]).result
        return super()._narrow(value)


def _op(value: Value) -> ir.Operation:
    assert isinstance(value, Computed)
    return value.op
