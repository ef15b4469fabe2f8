"""Attention in tiles: a block of queries meets the keys block by block, with a running maximum and sum.

Comes in: the call of a `.tiles` function. Goes out: two nests that pack keys and values into panels of one vector's
width, and one that takes a block of queries of one batch at a time. It holds 48 x 256 scores, never more:

    scores = score(queries @ keys)            in register tiles of 6 queries and a panel of keys
    top'   = max(top, max(scores)),  shrink = exp(top - top')
    power  = exp(scores - top'),     sums   = sums * shrink + sum(power)
    result = result * shrink + power @ values;      at the end result / sums

The sum is kept in lanes. A row of -inf alone gives NaN, as NumPy's softmax does, but only at its end: until
then its maximum counts as 0. exp may be approximated where it falls below 2^-126: the largest term is 1.
"""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import arith, memref, scf, vector
from mlir.dialects import math as math_dialect

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.caches import ATTENTION_BLOCK_KEYS, ATTENTION_BLOCK_TILES
from pykern.passes.analysis.cost_model.registers import ATTENTION_TILE_QUERIES, VECTOR_BYTES
from pykern.passes.analysis.cost_model.threads import PARALLEL_WORK
from pykern.passes.codegen.cpu.attention.lanes import KeyLanes
from pykern.passes.codegen.cpu.attention.panels import (
    PanelShape,
    joined,
    least,
    pack,
    plus,
    split,
    times,
)
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.fusion.attention.calls import AttentionCall
from pykern.passes.ir.constants import constant
from pykern.passes.ir.loops import Counted
from pykern.passes.kernels import index_constant

ONCE = "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"
QUICK = "#arith.fastmath<afn,nnan,nsz>"


def make_attention(place: NestContext, found: AttentionCall, threads: bool) -> None:
    """Put nests in the place of a call."""
    call = found.call
    shape = PanelShape(found.shape.lengths, found.shape.maps, found.shape.element)
    keys = pack(place, call, shape, 1, threads)
    values = pack(place, call, shape, 2, threads)
    blocks = -(-shape.queries // (ATTENTION_TILE_QUERIES * ATTENTION_BLOCK_TILES))
    extent = math.prod(shape.batches) * blocks
    query, _, _, *others = call.operands
    nest = Nest(place, call, [query, keys, values, *others], extent, has_body=False)
    with nest.inside() as (lo, hi):
        nest.function.attributes[kern.ATTENTION] = ir.UnitAttr.get()
        given = [nest.value(v) for v in (query, keys, values, *others)]
        with Counted(lo, hi, 1) as task:
            Block(nest, shape, given, found.score, found.shifted).emit(task, blocks)
    work = extent * ATTENTION_TILE_QUERIES * ATTENTION_BLOCK_TILES * shape.keys * (shape.depth + shape.width)
    nest.call(threads and extent > 1 and work > PARALLEL_WORK)
    call.erase()


class Block:
    """One block of queries of one batch."""

    def __init__(
        self, nest: Nest, shape: PanelShape, given: list[ir.Value], score: ir.Operation, shifted: bool
    ) -> None:
        self.nest, self.shape, self.score, self.shifted = nest, shape, score, shifted
        self.query, self.keys, self.values, *self.others, self.out = given
        self.element = shape.element
        self.vector = ir.VectorType.get([shape.lanes], shape.element)
        self.zero = index_constant(0)

    def emit(self, task: ir.Value, blocks: int) -> None:
        s = self.shape
        block = arith.RemUIOp(task, index_constant(blocks)).result
        self.batch = split(arith.DivUIOp(task, index_constant(blocks)).result, list(range(len(s.batches))), s)
        self.first = times(block, ATTENTION_TILE_QUERIES * ATTENTION_BLOCK_TILES)
        left = arith.SubIOp(index_constant(s.queries), self.first).result
        most = index_constant(ATTENTION_TILE_QUERIES * ATTENTION_BLOCK_TILES)
        self.rows = arith.MinSIOp(most, left).result
        self.tiles = arith.CeilDivUIOp(self.rows, index_constant(ATTENTION_TILE_QUERIES)).result
        self.key_batch = joined(self.batch, s.batches_of(1), s)
        self.value_batch = joined(self.batch, s.batches_of(2), s)
        self._scratch()
        self._take_queries()
        keys = self._keys()
        with Counted(self.zero, keys, ATTENTION_BLOCK_KEYS) as begin:
            end = arith.MinSIOp(plus(begin, ATTENTION_BLOCK_KEYS), keys).result
            self._multiply_keys(begin, end)
            (self._weigh if self.shifted else self._sum_powers)(begin, end)
            self._add_values(begin, end)
        self._finish()

    def _keys(self) -> ir.Value:
        """The number of keys up to the last one that the block's last query may attend to."""
        s = self.shape
        last = s.key_offsets(self.score).last
        if last is None:
            return index_constant(s.keys)
        after = arith.AddIOp(self.first, arith.AddIOp(self.rows, index_constant(last)).result).result
        return least(arith.MaxSIOp(after, self.zero).result, s.keys)

    def _scratch(self) -> None:
        rows = ATTENTION_TILE_QUERIES * ATTENTION_BLOCK_TILES
        self.taken = self._alloca([ATTENTION_BLOCK_TILES, self.shape.depth, ATTENTION_TILE_QUERIES])
        self.scores = self._alloca([rows, ATTENTION_BLOCK_KEYS])
        self.sums = self._alloca([rows, self.shape.lanes])
        self.tops = self._alloca([rows])
        self.result = self._alloca([rows, self.shape.width_panels * self.shape.lanes])

    def _alloca(self, lengths: list[int]) -> ir.Value:
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), VECTOR_BYTES)
        with ir.InsertionPoint(self.nest.views):
            return memref.AllocaOp(
                ir.MemRefType.get(lengths, self.element), [], [], alignment=alignment
            ).result

    def _take_queries(self) -> None:
        """Copy the queries into the order of the tiles; beyond the last query it is repeated."""
        s = self.shape
        with Counted(self.zero, self.tiles, 1) as tile, Counted(self.zero, index_constant(s.depth), 1) as d:
            for r in range(ATTENTION_TILE_QUERIES):
                row = least(
                    arith.AddIOp(self.first, plus(times(tile, ATTENTION_TILE_QUERIES), r)).result,
                    s.queries - 1,
                )
                at = {**self.batch, s.dimension("query"): row, s.dimension("depth"): d}
                taken = s.widened(memref.LoadOp(self.query, s.at(0, at)).result)
                memref.StoreOp(taken, self.taken, [tile, d, index_constant(r)])
        with Counted(self.zero, times(self.tiles, ATTENTION_TILE_QUERIES), 1) as row:
            memref.StoreOp(constant(self.element, float("-inf")), self.tops, [row])
            vector.StoreOp(constant(self.vector, 0.0), self.sums, [row, self.zero])
            with Counted(self.zero, index_constant(s.width_panels * s.lanes), s.lanes) as column:
                vector.StoreOp(constant(self.vector, 0.0), self.result, [row, column])

    # -- products ----------------------------------------------------------------------------

    def _multiply_keys(self, begin: ir.Value, end: ir.Value) -> None:
        s = self.shape
        with Counted(begin, end, s.lanes) as key, Counted(self.zero, self.tiles, 1) as tile:
            panel = arith.DivUIOp(key, index_constant(s.lanes)).result
            nothing = constant(self.vector, 0.0)
            loop = scf.ForOp(
                self.zero, index_constant(s.depth), index_constant(1), [nothing] * ATTENTION_TILE_QUERIES
            )
            with ir.InsertionPoint(loop.body):
                d = loop.induction_variable
                line = vector.LoadOp(self.vector, self.keys, [self.key_batch, panel, d, self.zero]).result
                terms = [
                    memref.LoadOp(self.taken, [tile, d, index_constant(r)]).result
                    for r in range(ATTENTION_TILE_QUERIES)
                ]
                scf.YieldOp(self._fma(terms, line, list(loop.inner_iter_args)))
            column = arith.SubIOp(key, begin).result
            for r, product in enumerate(loop.results):
                row = plus(times(tile, ATTENTION_TILE_QUERIES), r)
                vector.StoreOp(self._scored(product, row, key), self.scores, [row, column])

    def _fma(self, terms: list[ir.Value], line: ir.Value, held: list[ir.Value]) -> list[ir.Value]:
        wide = [vector.BroadcastOp(self.vector, term).result for term in terms]
        return [vector.FMAOp(w, line, h).result for w, h in zip(wide, held, strict=True)]

    def _scored(self, product: ir.Value, row: ir.Value, key: ir.Value) -> ir.Value:
        """The scores of a vector of keys; -inf beyond the last key."""
        s = self.shape
        query = least(arith.AddIOp(self.first, row).result, s.queries - 1)
        at = {**self.batch, s.dimension("query"): query, s.dimension("key"): key}
        lanes = KeyLanes(s.lanes, key, s.keys)
        indices = [at[b] for b in range(len(s.batches))] + [query, key]
        reads = self.others[: len(s.maps) - 4]
        given: list[ir.Value] = []
        for operand, memory in enumerate(reads, 3):
            given.append(lanes.load(memory, s.at(operand, at), _reads_keys(s, operand)))
        scalars = self.others[len(reads) :]
        known = [product, *indices, *given, *scalars]
        value = lanes.run(self.score, known, key=len(s.batches) + 2)
        return lanes.within(value, float("-inf"))

    def _add_values(self, begin: ir.Value, end: ir.Value) -> None:
        s = self.shape
        count = arith.SubIOp(end, begin).result
        with (
            Counted(self.zero, index_constant(s.width_panels), 1) as panel,
            Counted(self.zero, self.tiles, 1) as tile,
        ):
            column = times(panel, s.lanes)
            rows = [plus(times(tile, ATTENTION_TILE_QUERIES), r) for r in range(ATTENTION_TILE_QUERIES)]
            held = [vector.LoadOp(self.vector, self.result, [row, column]).result for row in rows]
            loop = scf.ForOp(self.zero, count, index_constant(1), held)
            with ir.InsertionPoint(loop.body):
                n = loop.induction_variable
                key = arith.AddIOp(begin, n).result
                line = vector.LoadOp(
                    self.vector, self.values, [self.value_batch, panel, key, self.zero]
                ).result
                terms = [memref.LoadOp(self.scores, [row, n]).result for row in rows]
                scf.YieldOp(self._fma(terms, line, list(loop.inner_iter_args)))
            for row, value in zip(rows, loop.results, strict=True):
                vector.StoreOp(value, self.result, [row, column])

    # -- softmax -----------------------------------------------------------------------------

    def _weigh(self, begin: ir.Value, end: ir.Value) -> None:
        """Replace scores by their exponentials, and scale the result so far down where a new maximum has come."""
        s = self.shape
        quick = ir.Attribute.parse(QUICK)
        columns = times(
            arith.CeilDivUIOp(arith.SubIOp(end, begin).result, index_constant(s.lanes)).result, s.lanes
        )
        with Counted(self.zero, times(self.tiles, ATTENTION_TILE_QUERIES), 1) as row:
            before = memref.LoadOp(self.tops, [row]).result
            low = constant(self.vector, float("-inf"))
            find = scf.ForOp(self.zero, columns, index_constant(s.lanes), [low])
            with ir.InsertionPoint(find.body):
                line = vector.LoadOp(self.vector, self.scores, [row, find.induction_variable]).result
                scf.YieldOp([self._larger(line, find.inner_iter_args[0])])
            kind = ir.Attribute.parse("#vector.kind<maximumf>")
            flags = ir.Attribute.parse("#arith.fastmath<nnan,nsz>")
            found = vector.ReductionOp(self.element, kind, find.results[0], fastmath=flags).result
            top = self._larger(found, before)
            memref.StoreOp(top, self.tops, [row])
            is_low = arith.CmpFOp(arith.CmpFPredicate.OEQ, top, constant(self.element, float("-inf"))).result
            base = arith.SelectOp(is_low, constant(self.element, 0.0), top).result
            shrink = math_dialect.ExpOp(arith.SubFOp(before, base).result, fastmath=quick).result
            wide = vector.BroadcastOp(self.vector, shrink).result
            bases = vector.BroadcastOp(self.vector, base).result
            total = vector.LoadOp(self.vector, self.sums, [row, self.zero]).result
            loop = scf.ForOp(self.zero, columns, index_constant(s.lanes), [arith.MulFOp(total, wide).result])
            loop.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(ONCE)
            with ir.InsertionPoint(loop.body):
                at = [row, loop.induction_variable]
                line = vector.LoadOp(self.vector, self.scores, at).result
                power = math_dialect.ExpOp(arith.SubFOp(line, bases).result, fastmath=quick).result
                vector.StoreOp(power, self.scores, at)
                scf.YieldOp([arith.AddFOp(loop.inner_iter_args[0], power).result])
            vector.StoreOp(loop.results[0], self.sums, [row, self.zero])
            same = arith.CmpFOp(arith.CmpFPredicate.OEQ, shrink, constant(self.element, 1.0)).result
            branch = scf.IfOp(same, has_else=True)
            with ir.InsertionPoint(branch.then_block):
                scf.YieldOp([])
            with ir.InsertionPoint(branch.else_block):
                with Counted(self.zero, index_constant(s.width_panels * s.lanes), s.lanes) as column:
                    held = vector.LoadOp(self.vector, self.result, [row, column]).result
                    vector.StoreOp(arith.MulFOp(held, wide).result, self.result, [row, column])
                scf.YieldOp([])

    def _sum_powers(self, begin: ir.Value, end: ir.Value) -> None:
        """The same without a running maximum, where the program subtracts none."""
        s = self.shape
        count = arith.CeilDivUIOp(arith.SubIOp(end, begin).result, index_constant(s.lanes)).result
        with Counted(self.zero, times(self.tiles, ATTENTION_TILE_QUERIES), 1) as row:
            total = vector.LoadOp(self.vector, self.sums, [row, self.zero]).result
            loop = scf.ForOp(self.zero, times(count, s.lanes), index_constant(s.lanes), [total])
            loop.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(ONCE)
            with ir.InsertionPoint(loop.body):
                at = [row, loop.induction_variable]
                power = math_dialect.ExpOp(vector.LoadOp(self.vector, self.scores, at).result).result
                vector.StoreOp(power, self.scores, at)
                scf.YieldOp([arith.AddFOp(loop.inner_iter_args[0], power).result])
            vector.StoreOp(loop.results[0], self.sums, [row, self.zero])

    def _larger(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """`a` where it is larger, else `b`: a NaN in `a` is passed over, it comes into the sum."""
        return arith.SelectOp(arith.CmpFOp(arith.CmpFPredicate.OGT, a, b).result, a, b).result

    def _finish(self) -> None:
        s = self.shape
        flags = ir.Attribute.parse("#arith.fastmath<reassoc>")
        with Counted(self.zero, self.rows, 1) as row:
            lanes = vector.LoadOp(self.vector, self.sums, [row, self.zero]).result
            kind = ir.Attribute.parse("#vector.kind<add>")
            total = vector.ReductionOp(self.element, kind, lanes, fastmath=flags).result
            at = {**self.batch, s.dimension("query"): arith.AddIOp(self.first, row).result}
            with Counted(self.zero, index_constant(s.width), 1) as column:
                at[s.dimension("width")] = column
                value = memref.LoadOp(self.result, [row, column]).result
                value = s.narrowed(arith.DivFOp(value, total).result, self.out)
                memref.StoreOp(value, self.out, s.at(len(s.maps) - 1, at))


def _reads_keys(shape: PanelShape, operand: int) -> bool:
    """Whether an operand of the scores differs from key to key: then its last dimension is the key."""
    return list(shape.maps[operand].results)[-1:] == [ir.AffineDimExpr.get(shape.dimension("key"))]
