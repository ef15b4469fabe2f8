"""The direct form: both factors are read where they are.

Comes in: a `Job`. Goes out: one function, in which each tile reads rows of the left factor element by element
and the right factor in vectors. For small products, matrix times vector, convolutions of few channels.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from mlir.dialects import arith, memref

from pykern.passes.array_programs.nests.function import Nest
from pykern.passes.array_programs.nests.parts import over
from pykern.passes.kernels import index_constant
from pykern.passes.schedules.access import as_value, least, plus, times, window
from pykern.passes.schedules.contraction import Contraction
from pykern.passes.schedules.loops import Counted, When
from pykern.passes.schedules.nests import PIECES, Job, Range, cut, feeding, reading, row_of


@dataclass
class Direct:
    """Builds the function and its call."""

    job: Job

    def build(self) -> None:
        job, p = self.job, self.job.product
        self.row = row_of(p)
        self.sizes = dict.fromkeys(p.parallel, 1)
        """Iterations of a piece."""
        if self.row is not None:
            self.sizes[self.row] = job.schedule.rows
        self.sizes[p.lane] = job.columns
        self.streamed = bool(job.schedule.depth)
        if self.streamed:
            self.sizes[p.k[0]] = job.schedule.depth
            self.sizes[p.lane] *= max(1, job.schedule.block)
        shared = self._shared()
        length, size = p.lengths[shared], self.sizes[shared]
        whole, extent = length // size, -(-length // size)
        passed = [*p.outside, *job.passed]
        nest = Nest(job.place, p.op, passed, extent, has_body=False)
        self.nest = nest
        with nest.inside() as (lo, hi):
            self.operands = [p.view(n, nest.value(p.operand(n))) for n in range(3)]
            self.start = None if job.start is None else nest.value(job.start)
            if whole:
                with Counted(lo, as_value(least(hi, whole)), 1) as t:
                    self._piece(shared, (times(t, size), size))
            if length % size:
                behind = arith.CmpIOp(arith.CmpIPredicate.sgt, hi, index_constant(whole)).result
                with When(behind):
                    self._piece(shared, (whole * size, length % size))
        job.finish(nest)
        nest.call(job.team and extent > 1)

    def _shared(self) -> int:
        """The dimension that threads share."""
        p = self.job.product
        if self.streamed:
            return p.lane
        order = [d for d in p.parallel if d not in (self.row, p.lane)]
        order += [d for d in (self.row, p.lane) if d is not None]
        pieces = {d: -(-p.lengths[d] // self.sizes[d]) for d in order}
        return next((d for d in order if pieces[d] >= PIECES), max(order, key=lambda d: pieces[d]))

    def _piece(self, shared: int, piece: Range) -> None:
        """The contractions of one piece: full tiles, and what is left of rows and lanes."""
        p = self.job.product
        ranges: dict[int, Range] = {d: (0, length) for d, length in enumerate(p.lengths)}
        ranges[shared] = piece
        if self.streamed:
            self._stream(ranges)
            return
        free = [d for d in (self.row, p.lane) if d is not None and d != shared]
        for parts in itertools.product(*(cut(p.lengths[d], self.sizes[d]) for d in free)):
            self._part({**ranges, **dict(zip(free, parts, strict=True))})

    def _stream(self, ranges: dict[int, Range]) -> None:
        """Few rows: the right factor goes by once, some of its lines at a time, and sums stay in the first cache."""
        p, out = self.job.product, self.job.product.accesses[2]
        if self.start is not None:
            target, start = window(self.operands[2], out, ranges), self.start
            shape = [ranges[s.factors[0][0]][1] for s in out.sums]
            over([n for n in shape if isinstance(n, int)], [], lambda at: memref.StoreOp(start, target, at))
        begin, length = ranges[p.lane]
        assert isinstance(length, int)
        term = p.k[0]
        lanes = [(plus(begin, at), many) for at, many in cut(length, self.job.columns)]
        terms = cut(p.lengths[term], self.job.schedule.depth)
        rows = [None] if self.row is None else cut(p.lengths[self.row], self.sizes[self.row])
        for some, each, row in itertools.product(terms, lanes, rows):
            chosen = {**ranges, term: some, p.lane: each}
            if self.row is not None and row is not None:
                chosen[self.row] = row
            self._part(chosen)

    def _is_whole(self, ranges: dict[int, Range]) -> bool:
        """Whether no row and no column is missing."""
        cut_off = (
            isinstance(length := ranges[d][1], int) and length < self.sizes[d]
            for d in (self.row, self.job.product.lane)
            if d is not None
        )
        return not any(cut_off)

    def _part(self, ranges: dict[int, Range]) -> None:
        job, p = self.job, self.job.product
        count = len(p.lengths)
        identity = {d: d for d in range(count)}
        Contraction(
            operands=[window(v, a, ranges) for v, a in zip(self.operands, p.accesses, strict=True)],
            maps=[a.map(identity) for a in p.accesses],
            dimensions=count,
            terms=p.k,
            marks=job.marks(-1 if self.row is None else self.row, p.lane, self._is_whole(ranges)),
            start=None if self.streamed else self.start,
            product=p,
            part=len(job.parts),
            **feeding(job, self.nest, ranges, count),
            **reading(job, self.nest, ranges, count, lambda access: access),
        ).emit()
        tiles = [
            self.sizes[d] if d in p.parallel and ranges[d][1] != self.sizes[d] else 0 for d in range(count)
        ]
        for d in (self.row, p.lane):
            if d is not None and isinstance(length := ranges[d][1], int) and length < self.sizes[d]:
                tiles[d] = 0
        if self.streamed:
            job.parts.append(self._streaming(ranges, tiles))
            return
        outer, inner = list(tiles), [0] * count
        inner[p.lane], outer[p.lane] = tiles[p.lane], 0
        if self.row is not None and p.lengths[self.row] > p.lengths[p.lane]:  # a panel stays, rows go by
            inner, outer = [0] * count, list(tiles)
            inner[self.row], outer[self.row] = tiles[self.row], 0
        job.parts.append([outer, inner])

    def _streaming(self, ranges: dict[int, Range], tiles: list[int]) -> list[list[int]]:
        """Slices of terms first, then rows and vectors."""
        p = self.job.product
        term, lane = p.k[0], p.lane
        slices, inner = [0] * len(tiles), list(tiles)
        if ranges[term][1] != self.sizes[term] and _at_least(ranges[term], self.sizes[term]):
            slices[term] = self.sizes[term]
        inner[lane] = self.job.columns if _at_least(ranges[lane], self.job.columns + 1) else 0
        return [slices, inner]


def _at_least(part: Range, size: int) -> bool:
    return isinstance(part[1], int) and part[1] >= size
