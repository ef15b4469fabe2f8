"""The packed form: both factors are copied into the order in which the tiles read them.

Comes in: a `Job`. Goes out: a loop over batches and slices of terms around three calls: one copies a slice of the
left factor into tiles of rows, one a slice of the right factor into panels of columns, one multiplies.
The packed contraction has dimensions of its own: outer ones of the left factor, `i` tiles of rows, outer ones of the
right, `j` panels, then `r` rows, `c` columns and `k` terms within a tile.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.threads import FEWEST_SHARED_ITERATIONS
from pykern.passes.codegen.cpu.contraction import copies
from pykern.passes.codegen.cpu.contraction.block_packing import packing_of
from pykern.passes.codegen.cpu.contraction.contraction import Contraction
from pykern.passes.codegen.cpu.contraction.edges import Edges, roomy
from pykern.passes.codegen.cpu.contraction.narrow import dot_for
from pykern.passes.codegen.cpu.contraction.narrow_packing import NarrowPacking
from pykern.passes.codegen.cpu.contraction.needed import conditions
from pykern.passes.codegen.cpu.contraction.nests import Job, Range, reading, row_of
from pykern.passes.codegen.cpu.contraction.packing import Slice
from pykern.passes.codegen.cpu.contraction.sharing import by_panels, panels_between, rows_in
from pykern.passes.codegen.cpu.loop_nest.function import Nest
from pykern.passes.ir.affine import Access, Sum, window
from pykern.passes.ir.lengths import Number, as_value, least, minus, most, plus, times
from pykern.passes.ir.loops import Counted
from pykern.passes.kernels import index_constant

Tiles = tuple[Range, Range]
"""Tiles along a dimension, and rows (columns) of each."""


@dataclass
class Packed:
    """Builds the loop, its functions and their calls."""

    job: Job

    def build(self) -> None:
        p, s = self.job.product, self.job.schedule
        row = row_of(p)
        assert row is not None
        self.row = row
        self.outer = (
            tuple(d for d in p.m if d != row),
            tuple(d for d in p.n if d != p.lane),
        )
        self.i = len(self.outer[0])
        self.j = self.i + 1 + len(self.outer[1])
        self.r, self.c, self.k = self.j + 1, self.j + 2, self.j + 3
        self.dot = dot_for(p, self.job.cpu)
        self.dimensions = self.k + (1 if self.dot is None else 2)  # the last: terms of a group
        self.slices = self._slices()
        self.counts = (-(-p.lengths[row] // s.rows), -(-p.lengths[p.lane] // self.job.columns))
        left, right = self._loops()
        packings = []
        for number, (along, wide, into) in enumerate(
            ((row, s.rows, left), (p.lane, self.job.columns, right))
        ):
            facts = (self.job, number, along, wide, self.slices, into)
            packing = packing_of(*facts) if self.dot is None else NarrowPacking(*facts, self.dot)
            packing.build(self.start, self.at)
            packings.append(packing)
        copies.call(self.job, packings)
        self._multiply(left, right)

    def _slices(self) -> Slice:
        """Slices alike, of about the schedule's depth."""
        p, depth = self.job.product, self.job.schedule.depth
        length = p.lengths[p.k[0]]
        step = max(1, min(length, depth // p.size(p.k[1:]))) if depth else length
        # terms that are not there are not multiplied; an instruction that sums groups of them takes zeros
        return Slice(p, -(-length // -(-length // step)), self.dot is not None or bool(p.needed))

    def _loops(self) -> tuple[ir.Value, ir.Value]:
        """Memory for both copies, and loops over batches and slices, into which the op moves."""
        p = self.job.product
        op = p.op
        self.at: dict[int, ir.Value] = {}
        self.start: Number = 0
        with op.location:
            with ir.InsertionPoint(op):
                left, right = (
                    self._alloc([*(p.lengths[d] for d in outer), count], wide)
                    for outer, count, wide in zip(
                        self.outer, self.counts, (self.job.schedule.rows, self.job.columns), strict=True
                    )
                )
            loops = [(d, 1) for d in p.batch]
            if self.slices.count > 1:
                loops.append((p.k[0], self.slices.step))
            for d, step in loops:
                with (
                    ir.InsertionPoint(op),
                    Counted(index_constant(0), index_constant(p.lengths[d]), step) as number,
                ):
                    inside = arith.ConstantOp(ir.IndexType.get(), 0)
                op.move_after(inside.operation)
                if d in p.batch:
                    self.at[d] = number
                else:
                    self.start = number
        return left, right

    def _alloc(self, tiles: list[int], wide: int) -> ir.Value:
        shape, element = [*tiles, self.groups, wide], self.job.product.element
        if self.dot is not None:
            shape, element = [*shape, self.dot.terms], self.dot.kind
        return memref.AllocOp(ir.MemRefType.get(shape, element), [], []).result

    @property
    def groups(self) -> int:
        """Steps of a tile through the terms of a slice."""
        return -(-self.slices.terms // (1 if self.dot is None else self.dot.terms))

    def _multiply(self, left: ir.Value, right: ir.Value) -> None:
        job, p = self.job, self.job.product
        out = p.op.operands[2]
        passed = [left, right, out, *self.at.values()]
        passed += job.passed
        passed += [] if isinstance(self.start, int) else [self.start]
        extents = [p.lengths[o[0]] if o else n for o, n in zip(self.outer, self.counts, strict=True)]
        self.shared = 0 if extents[0] >= FEWEST_SHARED_ITERATIONS or extents[0] >= extents[1] else 1
        extent = extents[self.shared]
        folds = job.team and extent > 1 and self._grows_along(self.shared)
        tiles, panels = self.counts
        both = job.team and not folds and not any(self.outer) and by_panels(tiles, job.schedule.block)
        extent = -(-extent // 2) if folds else tiles * panels if both else extent
        nest = Nest(job.place, p.op, passed, extent, has_body=False)
        self.nest = nest
        with nest.inside() as (lo, hi):
            nest.function.attributes[kern.IN_VECTORS] = ir.UnitAttr.get()
            self.values = (nest.value(left), nest.value(right), p.view(2, nest.value(out)))
            self.begin = None if job.start is None else nest.value(job.start)
            self.first = self.last = None
            self.start_inside = self.start if isinstance(self.start, int) else nest.value(self.start)
            if job.start is not None and not isinstance(start := self.start_inside, int):
                self.first = arith.CmpIOp(arith.CmpIPredicate.eq, start, index_constant(0)).result
                if job.reader is not None:
                    final = index_constant((self.slices.count - 1) * self.slices.step)
                    self.last = arith.CmpIOp(arith.CmpIPredicate.eq, start, final).result
            batch: dict[int, Range] = {d: (nest.value(v), 1) for d, v in self.at.items()}
            self.clips = self._can_clip()
            if folds:
                with Counted(index_constant(0), index_constant(2), 1) as side:
                    begin, end = _mirrored(side, lo, hi, extents[self.shared])
                    self._parts(batch, {self.shared: (begin, minus(end, begin))})
            elif both:
                with Counted(*panels_between(tiles, lo, hi), 1) as panel:
                    self._parts(batch, {0: rows_in(panel, tiles, lo, hi), 1: (panel, 1)})
            else:
                self._parts(batch, {self.shared: (lo, minus(hi, lo))})
        job.finish(nest)
        nest.call(job.team and nest.extent > 1)

    def _grows_along(self, side: int) -> bool:
        """Whether tiles have the more to do the further they lie, as those of a triangle: threads take as many from
        its end as from its beginning."""
        p = self.job.product
        return not self.outer[side] and any((self.row, p.lane)[side] in form.dimensions for form in p.needed)

    def _parts(self, batch: dict[int, Range], own: dict[int, Range]) -> None:
        """`own`: of the left (0) and right (1) factor, the tiles that are the thread's."""
        self.own = own
        for rows in self._tiles(0, self.row, self.job.schedule.rows):
            for columns in self._tiles(1, self.job.product.lane, self.job.columns):
                self._part(rows, columns, batch)

    def _tiles(self, side: int, dimension: int, size: int) -> list[Tiles]:
        """The full tiles, then the one that is cut off; of those that are shared, the thread's own.

        Together where what is cut off is stored with care.
        """
        if self.clips:
            own = self.own.get(side) if not self.outer[side] else None
            return [(own or (0, self.counts[side]), (0, size))]
        whole, rest = divmod(self.job.product.lengths[dimension], size)
        begin, many, last = 0, whole, 1
        if side in self.own and not self.outer[side]:
            lo, hi = self.own[side][0], plus(*self.own[side])
            begin, many = least(lo, whole), minus(least(hi, whole), least(lo, whole))
            last = minus(most(hi, whole), most(lo, whole))
        return [t for t in (((begin, many), (0, size)), ((whole, last), (0, rest))) if _is_some(t)]

    def _can_clip(self) -> bool:
        """Whether one tile's code can do for all: sums that are finished, and rows and columns of the result's own."""
        p, reader = self.job.product, self.job.reader
        if p.needed or p.ordered:
            return False
        accesses = [p.accesses[2]]
        if reader is not None:
            accesses += [reader.access, *(a for _, a in reader.operands if a is not None)]
        return all(_is_alone(a, d) for a in accesses for d in (self.row, p.lane) if d in a.dimensions)

    def _edges(self, rows: Tiles, columns: Tiles) -> Edges | None:
        """The edges at which tiles reach beyond the result."""
        p, places = self.job.product, self._places()
        found = []
        for d, size, (begin, _) in (
            (self.row, self.job.schedule.rows, rows[0]),
            (p.lane, self.job.columns, columns[0]),
        ):
            length = p.lengths[d]
            too_far = self.clips and length % size != 0
            found.append((places[d], times(begin, size), length) if too_far else None)
        term = None
        if not self.slices.is_filled and self.slices.is_short:
            there = times(self.slices.bound(self.start_inside), p.size(p.k[1:]))
            term = (Sum(((self.k, 1),)), 0, there)
        return Edges(*found, term) if any(found) or term is not None else None

    def _part(self, rows: Tiles, columns: Tiles, batch: dict[int, Range]) -> None:
        job, p = self.job, self.job.product
        ranges: dict[int, Range] = dict(batch)
        packed: dict[int, Range] = {self.k: (0, self.groups)}
        if self.dot is not None:
            packed[self.k + 1] = (0, self.dot.terms)
        for side, base in ((0, 0), (1, self.i + 1)):
            for n, d in enumerate(self.outer[side]):
                own = self.own.get(side) if n == 0 else None
                packed[base + n] = ranges[d] = own or (0, p.lengths[d])
        packed[self.i], packed[self.r] = rows
        packed[self.j], packed[self.c] = columns
        ranges[self.row] = _elements(rows, job.schedule.rows)
        ranges[p.lane] = _elements(columns, job.columns)
        accesses = self._accesses()
        views = [window(v, a, packed) for v, a in zip(self.values, accesses[:2], strict=False)]
        edges, room = self._edges(rows, columns), {}
        if self.clips:
            sizes = (job.schedule.rows, job.columns)
            room = {d: n * by for d, n, by in zip((self.row, p.lane), self.counts, sizes, strict=True)}
        out = roomy(self.values[2], p.accesses[2], room)
        identity = {d: d for d in range(self.dimensions)}
        Contraction(
            operands=[*views, window(out, p.accesses[2], ranges)],
            maps=[a.map(identity) for a in accesses],
            dimensions=self.dimensions,
            terms=tuple(range(self.k, self.dimensions)),
            product=self.dot,
            marks=job.marks(self.r, self.c, rows[1][1] == job.schedule.rows and columns[1][1] == job.columns),
            start=self.begin,
            first=self.first,
            last=self.last,
            part=len(job.parts),
            edges=edges,
            needed=conditions(p.needed, ranges, self._places()),
            **reading(job, self.nest, ranges, self.dimensions, self._packed_access, room),
        ).emit()
        job.parts.append(self._tilings(rows))

    def _accesses(self) -> tuple[Access, Access, Access]:
        """The accesses of left, right and out over the packed dimensions."""
        single = [Sum(((d, 1),)) for d in range(self.dimensions)]
        group = single[self.k + 1 :]
        return (
            Access((*single[: self.i], single[self.i], single[self.k], single[self.r], *group)),
            Access((*single[self.i + 1 : self.j], single[self.j], single[self.k], single[self.c], *group)),
            self._packed_access(self.job.product.accesses[2]),
        )

    def _packed_access(self, access: Access) -> Access:
        """Indices of the product as sums of packed dimensions; a batch is one element of its window."""
        places = self._places()
        return Access(tuple(_renamed(s, places) for s in access.sums))

    def _places(self) -> dict[int, Sum]:
        """The product's dimensions as sums of packed ones."""
        p = self.job.product
        places = {d: Sum(((n, 1),)) for n, d in enumerate(self.outer[0])}
        places |= {d: Sum(((self.i + 1 + n, 1),)) for n, d in enumerate(self.outer[1])}
        places[self.row] = Sum(((self.i, self.job.schedule.rows), (self.r, 1)))
        places[p.lane] = Sum(((self.j, self.job.columns), (self.c, 1)))
        return places

    def _tilings(self, rows: Tiles) -> list[list[int]]:
        """Blocks of row tiles, then panels, then tiles: a panel and the tile stay in the first cache."""
        block, panel, tile = ([0] * self.dimensions for _ in range(3))
        for n in range(self.i):
            block[n] = 1
        if rows[0][1] != 1:
            block[self.i] = self.job.schedule.block
        for n in range(self.i + 1, self.j + 1):
            panel[n] = 1
        tile[self.i] = 1
        return [block, panel, tile]


def _mirrored(side: ir.Value, lo: ir.Value, hi: ir.Value, extent: int) -> tuple[ir.Value, ir.Value]:
    """`lo..hi` on the side 0, as many tiles from the end on the other; the one in the middle is no tile of both."""
    first = arith.CmpIOp(arith.CmpIPredicate.eq, side, index_constant(0)).result
    begin, end = as_value(most(minus(extent, hi), hi)), as_value(minus(extent, lo))
    return arith.SelectOp(first, lo, begin).result, arith.SelectOp(first, hi, end).result


def _is_alone(access: Access, dimension: int) -> bool:
    """Whether a dimension is an index of its own, and part of no other."""
    return [s for s in access.sums if dimension in s.dimensions] == [Sum(((dimension, 1),))]


def _is_some(tiles: Tiles) -> bool:
    return tiles[0][1] != 0 and tiles[1][1] != 0


def _elements(tiles: Tiles, size: int) -> Range:
    """Rows (columns) that tiles cover."""
    (begin, many), (_, count) = tiles
    return (times(begin, size), times(many, count))


def _renamed(each: Sum, places: dict[int, Sum]) -> Sum:
    return Sum(
        tuple((d, f * by) for old, by in each.factors if old in places for d, f in places[old].factors)
    )
