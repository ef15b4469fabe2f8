"""The direct form: both factors are read where they are.

Comes in: a `Job`. Goes out: one function, in which each tile reads rows of the left factor element by element
and the right factor in vectors. For small products, matrix times vector, convolutions of few channels. Read next:
`streamed`, which is for few rows.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith

from pykern.passes.analysis.cost_model.threads import FEWEST_SHARED_ITERATIONS
from pykern.passes.codegen.cpu.contraction.contraction import Contraction
from pykern.passes.codegen.cpu.contraction.needed import conditions, singles
from pykern.passes.codegen.cpu.contraction.nests import Job, Range, cut, feeding, reading, row_of
from pykern.passes.codegen.cpu.loop_nest.function import Nest
from pykern.passes.ir.affine import window
from pykern.passes.ir.lengths import Number, as_value, least, times
from pykern.passes.ir.loops import Counted, When
from pykern.passes.kernels import index_constant


@dataclass
class Direct:
    """Builds the function and its call."""

    job: Job
    more: list[ir.Value] = field(default_factory=list)
    """The values that the function needs besides factors and result."""

    def build(self) -> None:
        job, p = self.job, self.job.product
        self.row = row_of(p)
        self.sizes = self._sizes()
        shared = self._shared()
        length, size = p.lengths[shared], self.sizes[shared]
        whole, extent = length // size, -(-length // size)
        passed = [*p.outside, *job.passed, *self.more]
        nest = Nest(job.place, p.op, passed, extent, has_body=False)
        self.nest = nest
        with nest.inside() as (lo, hi):
            self.operands = [p.view(n, nest.value(p.operand(n))) for n in range(3)]
            self.start = None if job.start is None else nest.value(job.start)
            if whole:
                with Counted(lo, as_value(least(hi, whole)), 1) as t:
                    self._chunk(t, shared, (times(t, size), size))
            if length % size:
                behind = arith.CmpIOp(arith.CmpIPredicate.sgt, hi, index_constant(whole)).result
                with When(behind):
                    self._chunk(whole, shared, (whole * size, length % size))
        job.finish(nest)
        nest.call(job.team and extent > 1)

    def _sizes(self) -> dict[int, int]:
        """The iterations of a chunk, along each dimension."""
        p = self.job.product
        sizes = dict.fromkeys(p.parallel, 1)
        if self.row is not None:
            sizes[self.row] = self.job.schedule.rows
        return {**sizes, p.lane: self.job.columns}

    def _shared(self) -> int:
        """The dimension that threads share."""
        p = self.job.product
        order = [d for d in p.parallel if d not in (self.row, p.lane)]
        order += [d for d in (self.row, p.lane) if d is not None]
        chunks = {d: -(-p.lengths[d] // self.sizes[d]) for d in order}
        return next(
            (d for d in order if chunks[d] >= FEWEST_SHARED_ITERATIONS), max(order, key=lambda d: chunks[d])
        )

    def _chunk(self, number: Number, shared: int, chunk: Range) -> None:
        """Emit the contractions of one chunk: full tiles, and the remainders of rows and lanes."""
        p = self.job.product
        ranges: dict[int, Range] = {d: (0, length) for d, length in enumerate(p.lengths)}
        ranges[shared] = chunk
        free = [d for d in (self.row, p.lane) if d is not None and d != shared]
        for parts in itertools.product(*(cut(p.lengths[d], self.sizes[d]) for d in free)):
            self._part({**ranges, **dict(zip(free, parts, strict=True))})

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
            start=self.start,
            product=p,
            part=len(job.parts),
            needed=conditions(p.needed, ranges, singles(count)),
            **feeding(job, self.nest, ranges, count),
            **reading(job, self.nest, ranges, count, lambda access: access),
        ).emit()
        job.parts.append(self._tilings(ranges))

    def _tilings(self, ranges: dict[int, Range]) -> list[list[int]]:
        """Tiles that go by while the other factor's stay."""
        p = self.job.product
        tiles = self._tiles(ranges)
        count = len(p.lengths)
        outer, inner = list(tiles), [0] * count
        inner[p.lane], outer[p.lane] = tiles[p.lane], 0
        if self.row is not None and p.lengths[self.row] > p.lengths[p.lane]:  # a panel stays, rows go by
            inner, outer = [0] * count, list(tiles)
            inner[self.row], outer[self.row] = tiles[self.row], 0
        return [outer, inner]

    def _tiles(self, ranges: dict[int, Range]) -> list[int]:
        """The size of a tile along each dimension; 0 where it is not cut."""
        p = self.job.product
        tiles = [
            self.sizes[d] if d in p.parallel and ranges[d][1] != self.sizes[d] else 0
            for d in range(len(p.lengths))
        ]
        for d in (self.row, p.lane):
            if d is not None and isinstance(length := ranges[d][1], int) and length < self.sizes[d]:
                tiles[d] = 0
        return tiles
