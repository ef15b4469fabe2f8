"""A factor's part of a tile in shared memory: how it gets there, and how a subgroup loads its fragments.

Comes in: a factor of a product in a kernel, and its `PanelLayout`. Goes out: `Panel`, which fills one of several slots
while another is read. Where 16 bytes of the factor lie together they are copied past the registers; else elements are
loaded, or computed, one by one, and stored as words once the slot is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect.matrices import LANES, ROWS, WORDS, CopyAsyncOp, LoadMatricesOp
from pykern.dialect.memory import SharedOp
from pykern.passes.analysis.alignment import is_aligned
from pykern.passes.analysis.cost_model.devices import MATRIX_LOADS
from pykern.passes.codegen.device.matrix_layout import CHUNK_BYTES, CHUNK_WORDS, PanelLayout
from pykern.passes.codegen.device.product_space import ProductSpace, added, scaled, split
from pykern.passes.ir.constants import constant
from pykern.passes.ir.loops import Counted
from pykern.passes.kernels import index_constant


def copies_chunks(product: ProductSpace, n: int, aligned: bool, transposes_bytes: bool) -> bool:
    """Whether all chunks of a factor lie together in memory, each from a multiple of 16 bytes on.

    `aligned`: whether the program's arguments begin so. `transposes_bytes`: whether terms of bytes need not lie side
    by side.
    """
    array = product.space.op.operands[n]
    size = ir.MemRefType(array.type).element_type.width // 8
    chunk = CHUNK_BYTES // size
    if size == 1 and not transposes_bytes and not product.lies_by_terms(n):
        return False
    if product.group.prologues[n] is not None or not (aligned and is_aligned(array)):
        return False
    fastest = (product.terms if product.lies_by_terms(n) else (product.rows, product.columns)[n])[-1]
    *others, last = ir.MemRefType(array.type).get_strides_and_offset()[0]
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    whole = product.space.lengths[fastest] % chunk == 0 and _last_group(product, n) == fastest
    return whole and last == 1 and all(s != dynamic and s % chunk == 0 for s in others)


def _last_group(product: ProductSpace, n: int) -> int:
    """The group along which a factor's elements lie side by side."""
    last = ir.AffineDimExpr(list(product.space.maps[n].results)[-1]).position
    return next(k for k, group in enumerate(product.space.groups) if last in group)


class Factors(Protocol):
    """Whoever knows the elements of a kernel's factors, by their numbers."""

    def factor(self, n: int, line: ir.Value, term: ir.Value) -> ir.Value:
        """An element; of the last line for lines beyond, 0 for terms beyond."""
        ...

    def source(self, n: int, line: ir.Value, term: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
        """Where an element lies: memory and indices."""
        ...


@dataclass(frozen=True)
class PanelSource:
    """Factor number `n` of a kernel: how many lines and terms it has, and which side of the product it is."""

    elements: Factors
    n: int
    lines: int
    terms: int
    is_left: bool
    by_terms: bool
    """Whether its terms are side by side in memory."""


class Panel:
    """One factor."""

    def __init__(
        self, source: PanelSource, layout: PanelLayout, items: int, copied: bool, slots: int
    ) -> None:
        self.elements, self.n, self.layout = source.elements, source.n, layout
        self.line_count, self.term_count, self.is_left = source.lines, source.terms, source.is_left
        self.items, self.copied, self.by_terms = items, copied, source.by_terms
        self.shared = SharedOp.create((slots * layout.words,), ir.IntegerType.get_signless(32))
        self.unit = CHUNK_WORDS if self.copied else 1
        """Words that a work-item fetches at once."""

    def prepare(self, number: ir.Value, origin: ir.Value, own: ir.Value) -> None:
        """What does not change from step to step.

        `number`: the work-item; `origin`, `own`: the first line of the group, and that of the subgroup in it.
        """
        layout = self.layout
        self.number, self.origin = number, origin
        self.parts = layout.outer * layout.filled_words // self.unit // self.items
        self.places = [self._part(index_constant(part)) for part in range(self.parts)]
        self.lane = self._lane(number, own)

    def _part(self, part: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
        """Line, term and place of what the work-item fetches as the `part`-th."""
        at = added(self.number, scaled(part, self.items))
        if self.layout.by_terms and not self.by_terms:  # neighbours load what lies side by side
            inner, outer = split(at, self.layout.outer)
        else:
            outer, inner = split(at, self.layout.filled_words // self.unit)
        word = scaled(inner, self.unit)
        element = scaled(word, self.layout.packed)
        line, term = (outer, element) if self.layout.by_terms else (element, outer)
        return added(self.origin, line), term, self._place(outer, word)

    def _place(self, outer: ir.Value, word: ir.Value) -> ir.Value:
        """`PanelLayout.word` of values."""
        chunk, rest = split(word, CHUNK_WORDS)
        return added(scaled(outer, self.layout.row_words), added(self._chunk(outer, chunk), rest))

    def _chunk(self, outer: ir.Value, chunk: ir.Value) -> ir.Value:
        """The first word of a chunk in its row."""
        turn = split(split(outer, self.layout.shared_banks)[0], self.layout.permutations)[1]
        return scaled(arith.XOrIOp(chunk, turn).result, CHUNK_WORDS)

    def _lane(self, number: ir.Value, own: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The row of shared memory, and the chunk in it, that the lane has of the first four matrices of the subgroup.

        Of the left factor the second matrix has further lines, and the third further terms; of the right one the other
        way round, as two of its fragments are loaded at once.
        """
        matrix, row = split(split(number, LANES)[1], 8)
        second, first = split(matrix, 2)
        lines, terms = (first, second) if self.is_left else (second, first)
        outer, chunk = (lines, terms) if self.layout.by_terms else (terms, lines)
        outer = added(row, scaled(outer, 8))
        if self.layout.by_terms:
            return added(outer, own), chunk
        return outer, added(chunk, split(own, self.layout.chunk)[0])

    def begin(self, slot: ir.Value, begin: ir.Value) -> list[ir.Value]:
        """Start to fetch the terms from `begin` on: into the slot, or into registers, which are given."""
        if self.copied:
            self._copy(slot, begin)
            return []
        return [self._loaded(line, added(begin, term)) for line, term, _ in self.places]

    def fetch(self, slot: ir.Value, begin: ir.Value, first: ir.Value | None = None) -> None:
        """Fetch the terms from `begin` on, of lines from `first` on; whoever reads them waits for copies, and for the
        group."""
        if self.copied:
            self._copy(slot, begin, first)
            return
        together = math.gcd(self.parts, MATRIX_LOADS)  # more addresses would take all registers
        with Counted(index_constant(0), index_constant(self.parts), together, alone=True) as step:
            places = [self._part(added(step, n)) for n in range(together)]
            lines = [line if first is None else added(first, line) for line, _, _ in places]
            terms = [added(begin, term) for _, term, _ in places]
            words = [self._loaded(line, term) for line, term in zip(lines, terms, strict=True)]
            self.finish(slot, words, [place for _, _, place in places])

    def _loaded(self, line: ir.Value, term: ir.Value) -> ir.Value:
        """A word of elements."""
        numbers = range(self.layout.packed)
        if self.layout.by_terms:
            return packed([self.elements.factor(self.n, line, added(term, n)) for n in numbers])
        return packed([self.elements.factor(self.n, added(line, n), term) for n in numbers])

    def _copy(self, slot: ir.Value, begin: ir.Value, first: ir.Value | None = None) -> None:
        """Beyond the last line the last ones are copied again, and beyond the last term zeros."""
        depth, in_chunk, chunk = self.term_count, self.layout.by_terms, self.layout.chunk
        whole_steps = depth % self.layout.terms == 0
        if whole_steps:  # the whole group asks once
            count, begin = _bytes_before(begin, depth), _at_most(begin, depth - self.layout.terms)
        for line, term, place in self.places:
            line = line if first is None else added(first, line)
            term = added(begin, term)
            if not whole_steps:
                count, term = _bytes_before(term, depth), _at_most(term, depth - (chunk if in_chunk else 1))
            if self.line_count % self.layout.lines or first is not None:
                line = _at_most(line, self.line_count - (1 if in_chunk else chunk))
            source, indices = self.elements.source(self.n, line, term)
            CopyAsyncOp.create(
                count, self.shared, added(scaled(slot, self.layout.words), place), source, indices
            )

    def finish(self, slot: ir.Value, loaded: list[ir.Value], places: list[ir.Value] | None = None) -> None:
        """Store what `begin` has loaded."""
        for word, place in zip(loaded, places or [place for *_, place in self.places], strict=False):
            memref.StoreOp(word, self.shared, [added(scaled(slot, self.layout.words), place)])

    @property
    def steps(self) -> int:
        """How often `fragments` loads to get all terms of a slot."""
        return self.layout.words_of_terms // WORDS

    def fragments(self, slot: ir.Value, step: int, lines: int) -> list[list[list[ir.Value]]]:
        """For the one instruction along the terms of a step, the lane's fragments of the first `lines` lines of its
        subgroup. A load gives one of the left factor, two of the right one."""
        loads = [self.load(slot, line, step * WORDS * self.layout.packed) for line in range(0, lines, ROWS)]
        if self.is_left:
            return [loads]
        return [[pair[half : half + 2] for pair in loads for half in (0, 2)]]

    def load(self, slot: ir.Value, line: int, term: int) -> list[ir.Value]:
        """The lane's words of 16 lines and eight words of terms, from these on in the subgroup's part."""
        layout, (outer, chunk) = self.layout, self.lane
        down, across = (line, term // layout.chunk) if layout.by_terms else (term, line // layout.chunk)
        word = self._chunk(outer, added(chunk, across))  # rows eight apart have one order of chunks
        place = added(scaled(outer, layout.row_words), word)
        place = added(added(scaled(slot, layout.words), place), down * layout.row_words)
        return LoadMatricesOp.create(self.shared, place, transposed=not layout.by_terms)


def _bytes_before(term: ir.Value, depth: int) -> ir.Value:
    """The bytes of a chunk that are there: all before the last term, none behind."""
    word = ir.IntegerType.get_signless(32)
    known = arith.CmpIOp(arith.CmpIPredicate.ult, term, index_constant(depth)).result
    return arith.SelectOp(known, constant(word, CHUNK_BYTES), constant(word, 0)).result


def _at_most(value: ir.Value, most: int) -> ir.Value:
    return arith.MinUIOp(value, index_constant(most)).result


def packed(elements: Sequence[ir.Value]) -> ir.Value:
    """Elements of 16 or 8 bits as a word, the first one in its lowest bits."""
    word, bits = ir.IntegerType.get_signless(32), 32 // len(elements)
    total = None
    for n, value in enumerate(elements):
        if isinstance(value.type, ir.FloatType):
            value = arith.BitcastOp(ir.IntegerType.get_signless(bits), value).result
        value = arith.ExtUIOp(word, value).result
        moved = value if total is None else arith.ShLIOp(value, constant(word, n * bits)).result
        total = moved if total is None else arith.OrIOp(total, moved).result
    assert total is not None
    return total
