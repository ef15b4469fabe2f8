"""The dots form: a matrix times a vector, both lying along the terms.

Comes in: a `Job` whose right factor has the rows and the terms, whose left factor has the terms alone. Goes out: one
function; some rows at a time, a vector of partial sums each, added up across its lanes at the end. The order of sums
depends on the lengths alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from pykern.dialect import attributes as kern
from pykern.passes.codegen.cpu.contraction.factors import Factor
from pykern.passes.codegen.cpu.contraction.nests import Job
from pykern.passes.codegen.cpu.contraction.schedule import attribute
from pykern.passes.codegen.cpu.loop_nest.function import Nest
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, as_value, least, plus, times
from pykern.passes.ir.loops import Counted, When, leave_alone
from pykern.passes.kernels import index_constant


@dataclass
class MatrixVector:
    """Builds the function and its call."""

    job: Job

    def build(self) -> None:
        job, p = self.job, self.job.product
        self.width, self.unroll = job.lanes, job.schedule.unroll
        self.kind = ir.VectorType.get([self.width], p.element)
        length, rows = p.lengths[p.lane], job.schedule.rows
        whole, extent = length // rows, -(-length // rows)
        nest = Nest(job.place, p.op, [*p.outside, *job.passed], extent, has_body=False)
        with nest.inside() as (lo, hi):
            self.factors = [Factor(p, n, nest.value) for n in (0, 1)]
            self.out = p.view(2, nest.value(p.operand(2)))
            self.start = None if job.start is None else nest.value(job.start)
            if whole:
                with Counted(lo, as_value(least(hi, whole)), 1) as t:
                    self._rows(times(t, rows), rows)
            if length % rows:
                behind = arith.CmpIOp(arith.CmpIPredicate.sgt, hi, index_constant(whole)).result
                with When(behind):
                    self._rows(whole * rows, length % rows)
        nest.function.attributes[kern.SCHEDULE] = attribute(job.schedule)
        nest.call(job.team and extent > 1)

    def _rows(self, begin: Number, rows: int) -> None:
        """Sums of some rows."""
        p = self.job.product
        length, wide = p.lengths[p.k[0]], self.width * self.unroll
        main = length - length % wide
        sums = [constant(self.kind, 0)] * (rows * self.unroll)
        if main:
            loop = scf.ForOp(index_constant(0), index_constant(main), index_constant(wide), sums)
            leave_alone(loop.operation)
            with ir.InsertionPoint(loop.body):
                scf.YieldOp(
                    self._terms(begin, rows, loop.induction_variable, wide, list(loop.inner_iter_args))
                )
            sums = list(loop.results)
        if length % wide:
            sums = self._terms(begin, rows, main, length % wide, sums)
        for r in range(rows):
            total = sums[r]
            for u in range(1, self.unroll):
                total = arith.AddFOp(total, sums[u * rows + r]).result
            self._store(plus(begin, r), total)

    def _terms(
        self, begin: Number, rows: int, term: Number, count: int, sums: list[ir.Value]
    ) -> list[ir.Value]:
        """`count` terms from `term` on: vectors of the vector, each multiplied with those of every row."""
        p, made = self.job.product, list(sums)
        for u, at in enumerate(range(0, count, self.width)):
            many = min(self.width, count - at)
            where: dict[int, Number] = {p.k[0]: plus(term, at)}
            shared = self.factors[0].vector(where, p.k[0], self.width, many)
            for r in range(rows):
                line = self.factors[1].vector({**where, p.lane: plus(begin, r)}, p.k[0], self.width, many)
                made[u * rows + r] = vector.FMAOp(line, shared, made[u * rows + r]).result
        return made

    def _store(self, row: Number, total: ir.Value) -> None:
        """The lanes of a row's sum, added up."""
        p = self.job.product
        place = p.accesses[2].place({p.lane: row})
        element = vector.ReductionOp(
            p.element,
            ir.Attribute.parse("#vector.kind<add>"),
            total,
            fastmath=ir.Attribute.parse("#arith.fastmath<reassoc>"),
        ).result
        held = self.start if self.start is not None else memref.LoadOp(self.out, place).result
        memref.StoreOp(arith.AddFOp(held, element).result, self.out, place)
