"""Large products of matrices: both factors are copied into the order in which the tiles read them.

Comes in: a `Contraction` without batches, before its op is gone. Goes out: a loop over slices of `DEPTH` terms
that calls three functions: one packs a slice of the left factor into tiles of `ROWS` rows, one a slice of the
right factor into panels of one vector's columns, one multiplies. What a tile reads is then one piece of memory
each, whatever the strides were: rows a power of two apart would fall into the same lines of the first cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.passes.array_programs.nests.contraction import (
    BLOCK_ROWS,
    DEPTH,
    ROWS,
    VECTOR_BYTES,
    Contraction,
    Counted,
    least,
    plus,
    times,
)
from pykern.passes.array_programs.nests.emit import evaluate
from pykern.passes.array_programs.nests.function import Nest, Place
from pykern.passes.kernels import index_constant

FEWEST = 64
"""Rows, columns and terms from which copying costs little beside multiplying."""


def is_large(c: Contraction) -> bool:
    """Whether packing pays."""
    return not c.batch and min(c.length(c.m), c.length(c.n), c.length(c.k)) >= FEWEST


@dataclass
class PackedProduct:
    """Emits the calls before the op, which it moves into the loop over slices."""

    contraction: Contraction
    place: Place
    initial: ir.Value | None
    team: bool

    def emit(self) -> None:
        c, op = self.contraction, self.contraction.space.op
        self.vector = ir.VectorType.get([c.lanes], c.element)
        self.panels = -(-c.length(c.n) // c.lanes)
        depth = min(DEPTH, c.length(c.k))
        left, right, out = op.operands[c.left], op.operands[1 - c.left], op.operands[2]
        with ir.InsertionPoint(op), op.location:
            tiles = self._alloc([c.row_tiles, depth, ROWS])
            panels = self._alloc([self.panels, depth, c.lanes])
            slices = Counted(index_constant(0), index_constant(c.length(c.k)), DEPTH)
            with slices as k:
                inside = arith.ConstantOp(ir.IndexType.get(), 0)  # the op moves behind it
            op.move_after(inside.operation)
        self._pack(c.left, c.m, ROWS, [left, tiles, k], c.row_tiles)
        self._pack(1 - c.left, c.n, c.lanes, [right, panels, k], self.panels)
        self._multiply(tiles, panels, out, k)

    def _alloc(self, shape: list[int]) -> ir.Value:
        return memref.AllocOp(ir.MemRefType.get(shape, self.contraction.element), [], []).result

    # -- packing -----------------------------------------------------------------------------

    def _pack(self, operand: int, along: int, width: int, values: list[ir.Value], count: int) -> None:
        """`width` rows (or columns) of a slice side by side. Beyond the last one it is repeated."""
        c = self.contraction
        nest = Nest(self.place, c.space.op, values, count, has_body=False)
        with nest.inside() as (lo, hi):
            source, target, k = map(nest.value, values)
            terms = arith.SubIOp(least(plus(k, DEPTH), c.length(c.k)), k).result
            expressions = list(c.space.maps[operand].results)
            with Counted(lo, hi, 1) as piece:
                begin = times(piece, width)
                whole = arith.CmpIOp(
                    arith.CmpIPredicate.sle, plus(begin, width), index_constant(c.length(along))
                )
                branch = scf.IfOp(whole.result, has_else=True)
                for block, last in ((branch.then_block, None), (branch.else_block, c.length(along) - 1)):
                    with (
                        ir.InsertionPoint(block),
                        Counted(index_constant(0), terms, 1) as d,
                        Counted(index_constant(0), index_constant(width), 1) as r,
                    ):
                        number = arith.AddIOp(begin, r).result
                        at = {along: number if last is None else least(number, last)}
                        at[c.k] = arith.AddIOp(k, d).result
                        value = memref.LoadOp(source, [evaluate(e, at) for e in expressions]).result
                        memref.StoreOp(value, target, [piece, d, r])
                    with ir.InsertionPoint(block):
                        scf.YieldOp([])
        nest.call(self.team and count > 1)

    # -- multiplying -------------------------------------------------------------------------

    def _multiply(self, tiles: ir.Value, panels: ir.Value, out: ir.Value, k: ir.Value) -> None:
        c = self.contraction
        first = [] if self.initial is None else [self.initial]
        nest = Nest(self.place, c.space.op, [tiles, panels, out, k, *first], c.row_tiles, has_body=False)
        with nest.inside() as (lo, hi):
            self.tiles, self.panel, self.out, self.k = map(nest.value, (tiles, panels, out, k))
            self.start = None if self.initial is None else nest.value(self.initial)
            self.terms = arith.SubIOp(least(plus(self.k, DEPTH), c.length(c.k)), self.k).result
            self.is_first = arith.CmpIOp(arith.CmpIPredicate.eq, self.k, index_constant(0)).result
            edge = ir.MemRefType.get([ROWS, c.lanes], c.element)
            alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), VECTOR_BYTES)
            self.edge = memref.AllocaOp(edge, [], [], alignment=alignment).result
            block = BLOCK_ROWS // ROWS
            with (
                Counted(lo, hi, block) as begin,
                Counted(index_constant(0), index_constant(self.panels), 1) as panel,
                Counted(begin, arith.MinSIOp(plus(begin, block), hi).result, 1) as tile,
            ):
                self._tile(tile, panel)
        nest.call(self.team and c.row_tiles > 1)

    def _tile(self, tile: ir.Value, panel: ir.Value) -> None:
        c = self.contraction
        zero, one = index_constant(0), index_constant(1)
        nothing = ir.DenseElementsAttr.get_splat(self.vector, ir.FloatAttr.get(c.element, 0.0))
        none = arith.ConstantOp(self.vector, nothing).result
        loop = scf.ForOp(zero, self.terms, one, [none] * ROWS)
        with ir.InsertionPoint(loop.body):
            d = loop.induction_variable
            line = vector.LoadOp(self.vector, self.panel, [panel, d, zero]).result
            sums = []
            for r, held in enumerate(loop.inner_iter_args):
                element = memref.LoadOp(self.tiles, [tile, d, index_constant(r)]).result
                wide = vector.BroadcastOp(self.vector, element).result
                sums.append(vector.FMAOp(wide, line, held).result)
            scf.YieldOp(sums)
        row, column = times(tile, ROWS), times(panel, c.lanes)
        fits = [
            arith.CmpIOp(arith.CmpIPredicate.sle, plus(v, size), index_constant(c.length(d))).result
            for v, size, d in ((row, ROWS, c.m), (column, c.lanes, c.n))
        ]
        branch = scf.IfOp(arith.AndIOp(*fits).result, has_else=True)
        with ir.InsertionPoint(branch.then_block):
            for r, value in enumerate(loop.results):
                at = self._at(plus(row, r), column)
                vector.StoreOp(arith.AddFOp(self._held(at, self.vector), value).result, self.out, at)
            scf.YieldOp([])
        with ir.InsertionPoint(branch.else_block):
            self._add_edge(list(loop.results), row, column)
            scf.YieldOp([])

    def _held(self, at: list[ir.Value], kind: ir.Type) -> ir.Value:
        """What the terms are added to: memory, or what the product starts from, which nobody has stored."""
        wide = isinstance(kind, ir.VectorType)
        if self.start is None:
            return self._read(at, wide)
        branch = scf.IfOp(self.is_first, [kind], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([vector.BroadcastOp(kind, self.start).result if wide else self.start])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([self._read(at, wide)])
        return branch.results[0]

    def _read(self, at: list[ir.Value], wide: bool) -> ir.Value:
        if wide:
            return vector.LoadOp(self.vector, self.out, at).result
        return memref.LoadOp(self.out, at).result

    def _add_edge(self, values: list[ir.Value], row: ir.Value, column: ir.Value) -> None:
        """A tile that is cut off by the last row or column: element by element."""
        c = self.contraction
        for r, value in enumerate(values):
            vector.StoreOp(value, self.edge, [index_constant(r), index_constant(0)])
        rows = arith.MinSIOp(index_constant(ROWS), arith.SubIOp(index_constant(c.length(c.m)), row).result)
        columns = arith.MinSIOp(
            index_constant(c.lanes), arith.SubIOp(index_constant(c.length(c.n)), column).result
        )
        with (
            Counted(index_constant(0), rows.result, 1) as i,
            Counted(index_constant(0), columns.result, 1) as j,
        ):
            at = self._at(arith.AddIOp(row, i).result, arith.AddIOp(column, j).result)
            part = memref.LoadOp(self.edge, [i, j]).result
            memref.StoreOp(arith.AddFOp(self._held(at, c.element), part).result, self.out, at)

    def _at(self, row: ir.Value, column: ir.Value) -> list[ir.Value]:
        c = self.contraction
        return [evaluate(e, {c.m: row, c.n: column}) for e in c.space.maps[2].results]
