"""Few rows and a large right factor: it goes by once, some of its lines at a time, and sums stay in the first cache.

Comes in: a `Job` whose schedule has a depth (lines at a time) and a block (vectors of each that go by). Goes out: one
function. Lines that go by whole are shared among threads: each part of them has sums of its own, which a second
function adds up in order. How many parts there are depends on the sizes alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.analysis.cost_model.threads import (
    FACTOR_PART_BYTES,
    FACTOR_PARTS,
    FEWEST_SHARED_ITERATIONS,
)
from pykern.passes.codegen.cpu.contraction.direct import Direct
from pykern.passes.codegen.cpu.contraction.nests import Range, cut
from pykern.passes.codegen.cpu.loop_nest.function import Nest
from pykern.passes.ir.affine import DYNAMIC, window
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, as_value, plus
from pykern.passes.ir.loops import over_cells
from pykern.passes.kernels import index_constant


@dataclass
class Streamed(Direct):
    """Builds the functions and their calls."""

    def build(self) -> None:
        job, p = self.job, self.job.product
        self.partial: ir.Value | None = None
        self.shape = [p.lengths[s.factors[0][0]] for s in p.accesses[2].sums]
        self.count = self._parts() if job.team and not p.ordered else 1
        if self.count > 1:
            kind = ir.MemRefType.get([self.count, *self.shape], p.element)
            with ir.InsertionPoint(p.op), p.op.location:
                self.partial = memref.AllocOp(kind, [], []).result
            self.more.append(self.partial)
        super().build()
        if self.partial is not None:
            self._join(self.partial)

    def _parts(self) -> int:
        """Parts that the terms are cut into."""
        p, schedule = self.job.product, self.job.schedule
        lane, [term] = p.lengths[p.lane], p.k
        if self.job.columns * schedule.block < lane:
            return 1
        size = lane * p.lengths[term] * p.bits // 8
        count = max(1, min(FACTOR_PARTS, size // FACTOR_PART_BYTES, p.lengths[term] // schedule.depth))
        return -(-p.lengths[term] // self._size(count))

    def _size(self, count: int) -> int:
        """Terms of a part, so that slices are full."""
        depth = self.job.schedule.depth
        return -(-self.job.product.lengths[self.job.product.k[0]] // (count * depth)) * depth

    def _sizes(self) -> dict[int, int]:
        job, p = self.job, self.job.product
        sizes = super()._sizes()
        sizes[p.lane] = self._lanes(
            p.lengths[p.lane], sizes[p.lane], sizes[p.lane] * max(1, job.schedule.block)
        )
        sizes[p.k[0]] = self._size(self.count) if self.count > 1 else job.schedule.depth
        return sizes

    def _lanes(self, length: int, columns: int, most: int) -> int:
        """Of a chunk of the lines: chunks alike, and as many as two, four or eight threads share evenly. 2100 as 2048
        and the rest were one thread's work."""
        chunks = -(-length // most)
        if chunks == 1:
            return most
        chunks = 1 << (chunks - 1).bit_length() if chunks < FEWEST_SHARED_ITERATIONS else chunks
        return -(-length // (chunks * columns)) * columns

    def _shared(self) -> int:
        return self.job.product.k[0] if self.count > 1 else self.job.product.lane

    def _chunk(self, number: Number, shared: int, chunk: Range) -> None:
        p = self.job.product
        ranges: dict[int, Range] = {d: (0, length) for d, length in enumerate(p.lengths)}
        ranges[shared] = chunk
        given = start = self.start
        if self.partial is not None:
            self.operands[2] = self._part_of(self.nest.value(self.partial), number)
            start = constant(p.element, 0)
        if start is not None:
            target = window(self.operands[2], p.accesses[2], ranges)
            shape = [ranges[s.factors[0][0]][1] for s in p.accesses[2].sums]
            over_cells([n for n in shape if isinstance(n, int)], lambda at: memref.StoreOp(start, target, at))
        self.start = None  # tiles add to memory
        self._stream(ranges)
        self.start = given

    def _stream(self, ranges: dict[int, Range]) -> None:
        p, schedule = self.job.product, self.job.schedule
        term = p.k[0]
        (begin, length), (first, many) = ranges[p.lane], ranges[term]
        assert isinstance(length, int) and isinstance(many, int)
        lanes = [(plus(begin, at), count) for at, count in cut(length, self.job.columns)]
        terms = [(plus(first, at), count) for at, count in cut(many, schedule.depth)]
        rows = [None] if self.row is None else cut(p.lengths[self.row], self.sizes[self.row])
        for some, each, row in itertools.product(terms, lanes, rows):
            chosen = {**ranges, term: some, p.lane: each}
            if self.row is not None and row is not None:
                chosen[self.row] = row
            self._part(chosen)

    def _tilings(self, ranges: dict[int, Range]) -> list[list[int]]:
        """Slices of terms first, then rows and vectors."""
        p, depth = self.job.product, self.job.schedule.depth
        term, lane = p.k[0], p.lane
        inner = self._tiles(ranges)
        slices = [0] * len(inner)
        if ranges[term][1] != depth and _at_least(ranges[term], depth):
            slices[term] = depth
        inner[lane] = self.job.columns if _at_least(ranges[lane], self.job.columns + 1) else 0
        return [slices, inner]

    # -- parts -------------------------------------------------------------------------------

    def _part_of(self, partial: ir.Value, number: Number) -> ir.Value:
        """The sums of one part."""
        kind = ir.MemRefType(partial.type)
        strides, _ = kind.get_strides_and_offset()
        layout = ir.StridedLayoutAttr.get(DYNAMIC, strides[1:])
        return memref.subview(
            partial,
            [as_value(number), *[0] * len(self.shape)],
            [1, *self.shape],
            [1] * kind.rank,
            result_type=ir.MemRefType.get(self.shape, kind.element_type, layout),
        )

    def _join(self, partial: ir.Value) -> None:
        """A function that adds the parts to what the sums start from."""
        job, p = self.job, self.job.product
        out = p.operand(2)
        outside = [partial, out, *([] if job.start is None else [job.start])]
        nest = Nest(job.place, p.op, outside, 1, has_body=False)
        add = arith.AddFOp if isinstance(p.element, ir.FloatType) else arith.AddIOp
        with nest.inside() as _:
            into, parts = p.view(2, nest.value(out)), nest.value(partial)

            def total(at: list[ir.Value]) -> None:
                held = memref.LoadOp(into, at).result if job.start is None else nest.value(job.start)
                for n in range(self.count):
                    held = add(held, memref.LoadOp(parts, [index_constant(n), *at]).result).result
                memref.StoreOp(held, into, at)

            over_cells(self.shape, total)
        nest.call(False)


def _at_least(part: Range, size: int) -> bool:
    return isinstance(part[1], int) and part[1] >= size
