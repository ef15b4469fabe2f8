"""The pass: each linalg op of a program becomes a function of its own, called where the op was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.dialect import attributes as kern
from pykern.environment.machine import cpu
from pykern.passes.analysis.cost_model.caches import LAST_CACHE_BYTES
from pykern.passes.analysis.cost_model.threads import (
    FEWEST_SHARED_ITERATIONS,
    INNERMOST_GRAIN,
    PARALLEL_WORK,
    REDUCTION_PARTS,
)
from pykern.passes.analysis.reductions import allow_reordering, combines
from pykern.passes.analysis.space import Space, space_of
from pykern.passes.codegen.cpu.attention.tiles import make_attention
from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.codegen.cpu.contraction.schedule_contraction import (
    build,
    scheduled_product,
)
from pykern.passes.codegen.cpu.contraction.transposed_factor import is_better_transposed, transpose_right
from pykern.passes.codegen.cpu.dual_matvec import DualMatvec
from pykern.passes.codegen.cpu.loop_nest.emit import Loops
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.codegen.cpu.loop_nest.parts import join_parts
from pykern.passes.codegen.cpu.rows.emit import make_rows
from pykern.passes.codegen.cpu.transposed.direct import DirectSquares
from pykern.passes.codegen.cpu.transposed.find import Transposition, transposition_of
from pykern.passes.codegen.cpu.transposed.staged import StagedSquares
from pykern.passes.framework import Pass
from pykern.passes.fusion.attention.calls import AttentionCall
from pykern.passes.fusion.planner import FusionGroup, FusionPlanner, GroupForms, StartedPair
from pykern.passes.fusion.row_groups import Group, RowForms
from pykern.passes.fusion.starts import Starts
from pykern.passes.ir import structured
from pykern.passes.ir.loops import over_cells
from pykern.passes.kernels import index_constant, named, programs
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class MakeNests(Pass):
    """Turn linalg ops on buffers into functions of loops.

    In:  programs with linalg.generic, linalg.fill, memref.copy on buffers of static shape.
    Out: per op, or group of ops that work row by row (`rows`),
         `func.func @<program>.nest<n>(buffers, scalars, lo, hi)`, marked `kern.noalias` where its
         buffers are distinct, which runs the part `lo..hi` of one loop. Where the work is worth threads
         the program calls `<nest>.team`, declared only: a target makes it.
    """

    name: ClassVar[str] = "kern-make-nests"
    threads: bool = True
    machine: str = ""
    """The processor that schedules are for (`pykern.environment.machine.cpu`); empty: this one."""
    schedules: str = ""
    """Schedules of the contractions, in order, with semicolons; empty ones are the cost model's."""
    ordered: bool = False
    """Whether sums keep their order, as those of a kernel without `fastmath` do."""
    cache_bytes: int = LAST_CACHE_BYTES
    """Arrays of this size and more are written past the cache."""

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            copies_to_generics(function)
            planner = FusionPlanner(module, function, self._forms())
            place, schedules = NestContext(module, function), self.schedules.split(";")
            maker = Maker(
                place, planner, self.threads, self.machine, schedules, self.ordered, self.cache_bytes
            )
            for group in planner.groups():
                maker.make(group)

    def _forms(self) -> GroupForms:
        if self.ordered:
            return GroupForms()
        return GroupForms(RowForms(), (cpu(self.machine).l2, self.cache_bytes))


@dataclass
class Split:
    """What the arguments `lo` and `hi` count: chunks of `grain` iterations of a group, or parts of a reduction."""

    group: int
    grain: int
    extent: int
    parts: bool = False


@dataclass
class Maker:
    """Makes the functions of one program."""

    place: NestContext
    planner: FusionPlanner
    threads: bool
    machine: str
    schedules: list[str]
    ordered: bool
    cache_bytes: int

    def make(self, group: FusionGroup) -> None:
        """Functions for a group, in place of its ops."""
        if isinstance(group, AttentionCall):
            make_attention(self.place, group, self.threads)
        elif isinstance(group, Group):
            make_rows(self.place, group, self.threads, self.cache_bytes)
        elif isinstance(group, StartedPair):
            self.dual_matvec(group)
        else:
            self.generic(group.op, group.starts)

    def generic(self, op: ir.Operation, start: Starts) -> None:
        if not self.ordered:
            allow_reordering(op)
        space = space_of(op)
        split = _split(space)
        if not space.iterations:
            self._nothing(space, start)
        elif (product := scheduled_product(space, self.ordered)) is not None:
            self._product(self._with_transposed_factor(product), start[0])
        elif (transposition := transposition_of(space, cpu(self.machine), self.cache_bytes)) is not None:
            self._whole(space, _blocks(space, transposition), start, transposition)
        elif split.parts and not self.ordered:
            self._in_parts(space, split, start)
        else:
            self._whole(space, Split(-1, 1, 1) if split.parts else split, start)
        op.erase()

    def dual_matvec(self, started: StartedPair) -> None:
        """One function for products of one matrix with vectors from both sides, and what lies between."""
        pair, target = started.pair, cpu(self.machine)
        team = self.threads and space_of(pair.rows.op).work > PARALLEL_WORK
        DualMatvec(self.place, pair, started.starts, target, team).build(pair.last)
        for op in (pair.rows.op, *pair.between, pair.columns.op):
            self.planner.erase(op)

    def _nothing(self, space: Space, start: Starts) -> None:
        """No iterations: a reduction leaves what it starts from, anything else leaves nothing."""
        if (
            all(value is None for value in start)
            or 0 in ir.MemRefType(space.op.operands[space.inputs].type).shape
        ):
            return
        outs = list(space.op.operands)[space.inputs :]
        nest = Nest(self.place, space.op, [*outs, *(v for v in start if v is not None)], 1, has_body=False)
        with nest.inside() as _:
            for out, first in zip(outs, start, strict=True):
                if first is not None:
                    value, place = nest.value(first), nest.value(out)
                    shape = ir.MemRefType(out.type).shape
                    over_cells(shape, lambda at: memref.StoreOp(value, place, at))  # noqa: B023
        nest.call(False)

    def _with_transposed_factor(self, product: Product) -> Product:
        """The product, its right factor transposed by a function of its own where that pays."""
        if (self.schedules and self.schedules[0]) or not is_better_transposed(product, cpu(self.machine)):
            return product
        self.generic(transpose_right(product), [None])
        again = scheduled_product(space_of(product.op), self.ordered)
        assert again is not None
        return again

    def _product(self, product: Product, start: ir.Value | None) -> None:
        team = self.threads and product.space.work > PARALLEL_WORK
        asked = self.schedules.pop(0) if self.schedules else ""
        for op in build(self.place, product, start, team, self.machine, asked):
            self.planner.erase(op)

    def _whole(
        self,
        space: Space,
        split: Split,
        start: Starts,
        transposition: Transposition | None = None,
    ) -> None:
        outside = [*space.op.operands, *(v for v in start if v is not None)]
        nest = Nest(self.place, space.op, outside, split.extent)
        team = self.threads and split.extent > 1 and space.work > PARALLEL_WORK
        with nest.inside() as (lo, hi):
            loops = self._loops(nest, space, start, transposition)
            if split.group >= 0:
                loops.bounds[split.group] = _chunk(lo, hi, split.grain, space.lengths[split.group])
            loops.emit()
            loops.indices_to_counters()
        if transposition is not None and transposition.staged:
            # what its loops do not read themselves counts, too
            nest.function.attributes[kern.ROWS] = ir.UnitAttr.get()
        nest.call(team)

    def _loops(self, nest: Nest, space: Space, start: Starts, transposition: Transposition | None) -> Loops:
        initial = [None if v is None else nest.value(v) for v in start]
        if transposition is not None:
            form = StagedSquares if transposition.staged else DirectSquares
            return form(
                space, [nest.value(v) for v in space.op.operands], initial, None, transposition=transposition
            )
        joins = None if self.ordered else combines(space.op)
        return Loops(space, [nest.value(v) for v in space.op.operands], initial, joins)

    def _in_parts(self, space: Space, split: Split, start: Starts) -> None:
        """A reduction in a fixed number of parts, then the parts one after the other."""
        outs = list(space.op.operands)[space.inputs :]
        with ir.InsertionPoint(space.op), space.op.location:
            partial = [
                memref.AllocOp(
                    ir.MemRefType.get(
                        [split.extent, *ir.MemRefType(v.type).shape], ir.MemRefType(v.type).element_type
                    ),
                    [],
                    [],
                ).result
                for v in outs
            ]
        joins = combines(space.op)
        assert joins is not None
        nest = Nest(self.place, space.op, [*list(space.op.operands)[: space.inputs], *partial], split.extent)
        with nest.inside() as (lo, hi):
            loop = scf.ForOp(lo, hi, index_constant(1))
            with ir.InsertionPoint(loop.body):
                part = loop.induction_variable
                inputs = [nest.value(v) for v in list(space.op.operands)[: space.inputs]]
                neutral = [c.neutral() for c in joins]
                operands = [*inputs, *(nest.value(v) for v in partial)]
                bounds = {split.group: _chunk(part, None, split.grain, space.lengths[split.group])}
                loops = Loops(space, operands, list(neutral), joins, [part], bounds)
                loops.emit()
                loops.indices_to_counters()
                scf.YieldOp([])
        nest.call(self.threads)
        join_parts(self.place, space.op, joins, partial, outs, start)


# -- what is cut ----------------------------------------------------------------------------------


def _split(space: Space) -> Split:
    """The loop that threads share."""
    parallel = space.parallel
    widest = max((space.lengths[g] for g in parallel), default=0)
    length = space.lengths[space.reduced[0]] if space.reduced else 0
    large = widest < FEWEST_SHARED_ITERATIONS and length >= REDUCTION_PARTS and space.work > PARALLEL_WORK
    if large and not any(map(space.moves_output, space.reduced)) and combines(space.op) is not None:
        grain = -(-length // REDUCTION_PARTS)
        return Split(space.reduced[0], grain, -(-length // grain), parts=True)
    if not parallel:
        return Split(-1, 1, 1)
    group = (
        parallel[0]
        if space.lengths[parallel[0]] >= FEWEST_SHARED_ITERATIONS
        else max(parallel, key=lambda g: space.lengths[g])
    )
    grain = INNERMOST_GRAIN if group == space.order[-1] else 1
    return Split(group, grain, max(1, -(-space.lengths[group] // grain)))


def _blocks(space: Space, transposition: Transposition) -> Split:
    """What threads share where squares are transposed: loops around the blocks, or blocks."""
    for group in space.order:
        if (
            group not in (transposition.lane, transposition.line)
            and space.lengths[group] >= FEWEST_SHARED_ITERATIONS
        ):
            return Split(group, 1, space.lengths[group])
    line, lane = (
        Split(group, transposition.blocks[group], -(-space.lengths[group] // transposition.blocks[group]))
        for group in (transposition.line, transposition.lane)
    )
    return lane if line.extent < FEWEST_SHARED_ITERATIONS and lane.extent > line.extent else line


def _chunk(lo: ir.Value, hi: ir.Value | None, grain: int, length: int) -> tuple[ir.Value, ir.Value]:
    """Iterations of the chunks lo..hi, or of the chunk `lo` alone."""
    size = index_constant(grain)
    after = arith.AddIOp(lo, index_constant(1)).result if hi is None else hi
    begin = arith.MulIOp(lo, size).result if grain > 1 else lo
    end = arith.MulIOp(after, size).result if grain > 1 else after
    return begin, arith.MinSIOp(end, index_constant(length)).result


def _described(kind: ir.MemRefType) -> str:
    return f"{kind.element_type}[{', '.join(map(str, kind.shape))}]"


def copies_to_generics(function: ir.Operation) -> None:
    """memref.copy of dense or strided buffers, as a linalg.generic."""
    for copy in named(function, "memref.copy"):
        source, target = copy.operands
        remark(copy, f"kept a copy: {_described(ir.MemRefType(source.type))}")
        every = ir.AffineMap.get_identity(ir.MemRefType(source.type).rank)
        with ir.InsertionPoint(copy), copy.location:
            structured.copy(source, target, [every, every])
        copy.erase()
