"""Copies of narrow factors for instructions that sum several terms: these lie side by side.

Comes in: what `packing` takes, and the instruction. Goes out: a function that fills
`[outer dimensions.., tiles, groups of terms, width, terms of a group]`, zeros where there is no row, column or term.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref, vector

from pykern.passes.codegen.cpu.contraction.narrow import Dot
from pykern.passes.codegen.cpu.contraction.packing import Packing
from pykern.passes.ir.constants import constant
from pykern.passes.ir.lengths import Number, as_value, least, minus, plus, times
from pykern.passes.ir.loops import Counted
from pykern.passes.kernels import index_constant


@dataclass
class NarrowPacking(Packing):
    """Packs one factor (0: left, 1: right) for `dot`."""

    dot: Dot

    def _tile(self, at: dict[int, Number], place: list[ir.Value], begin: Number, count: int) -> None:
        p, many = self.product, self.dot.terms
        [term] = p.k
        bound = least(minus(p.lengths[term], self.start), self.slices.step)
        whole: Number = bound // many if isinstance(bound, int) else _quotient(bound, many)
        groups = -(-self.slices.step // many)
        with Counted(index_constant(0), as_value(whole), 1, alone=True) as g:
            first = plus(self.start, times(g, many))
            terms = [{**at, term: plus(first, q)} for q in range(many)]
            self._group(terms, [*place, g], begin, count)
        if isinstance(whole, int) and whole == groups:
            return
        with Counted(as_value(whole), index_constant(groups), 1, alone=True) as g:
            for q in range(many):
                self._at_the_end(at, plus(times(g, many), q), bound, [*place, g], begin, count, q)

    def _group(
        self, terms: list[dict[int, Number]], place: list[ir.Value], begin: Number, count: int
    ) -> None:
        """The terms of one group."""
        strides = self.product.strides(self.number)
        zero = index_constant(0)
        if strides[self.along] == 1 and count == self.width:
            lines = [self._vector(each, begin, count) for each in terms]
            while len(lines) > 1:
                half = len(lines) // 2
                lines = [
                    vector.InterleaveOp(a, b).result for a, b in zip(lines[:half], lines[half:], strict=True)
                ]
            vector.StoreOp(lines[0], self.into, [*place, zero, zero])
            return
        along_terms = strides[self.product.k[0]] == 1
        for r in range(self.width):
            if along_terms and r < count:
                value = self._vector(terms[0], self._row(begin, r), len(terms))
                vector.StoreOp(value, self.into, [*place, index_constant(r), zero])
                continue
            for q, each in enumerate(terms):
                value = self._element(each, self._row(begin, r)) if r < count else constant(self.dot.kind, 0)
                memref.StoreOp(value, self.into, [*place, index_constant(r), index_constant(q)])

    def _at_the_end(
        self,
        at: dict[int, Number],
        number: Number,
        bound: Number,
        place: list[ir.Value],
        begin: Number,
        count: int,
        q: int,
    ) -> None:
        """One term of a group that has not all: there may be none, then it is zero."""
        [term] = self.product.k
        there = arith.CmpIOp(arith.CmpIPredicate.slt, as_value(number), as_value(bound)).result
        inside = arith.SelectOp(there, as_value(number), index_constant(0)).result
        for r in range(self.width):
            value = constant(self.dot.kind, 0)
            if r < count:
                found = self._element({**at, term: plus(inside, self.start)}, self._row(begin, r))
                value = arith.SelectOp(there, found, value).result
            memref.StoreOp(value, self.into, [*place, index_constant(r), index_constant(q)])

    def _vector(self, at: dict[int, Number], row: Number, count: int) -> ir.Value:
        """`count` elements from a place on, along whatever they lie along."""
        access = self.product.accesses[self.number]
        [(source, _)] = self.factor.operands
        kind = ir.VectorType.get([count], ir.MemRefType(source.type).element_type)
        value = vector.LoadOp(kind, source, access.place({**at, self.along: row})).result
        return self.dot.narrowed(self.number, value)

    def _element(self, at: dict[int, Number], row: Number) -> ir.Value:
        access = self.product.accesses[self.number]
        [(source, _)] = self.factor.operands
        value = memref.LoadOp(source, access.place({**at, self.along: row})).result
        return self.dot.narrowed(self.number, value)


def _quotient(number: ir.Value, by: int) -> ir.Value:
    return arith.DivUIOp(number, index_constant(by)).result
