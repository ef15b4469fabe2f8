"""A factor's part of a tile in shared memory, for units whose lanes read words side by side (AMD, and f64
on NVIDIA).

Comes in: a factor of a product in a kernel, and its `WordLayout`. Goes out: `WordPanel`, which loads one part into
registers while another is multiplied, and stores it into a slot once that is free. Terms of a line lie side by side in
shared memory. Where they do so in the factor too, they are moved 16 bytes at a time. Where the lines do, a work-item
transposes small blocks in its registers. Else elements are loaded, or computed, one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.dialect.matrices import LoadWordsOp, StoreWordsOp
from pykern.dialect.matrix_units import MatrixInstruction
from pykern.dialect.memory import SharedOp
from pykern.passes.codegen.device.matrix_panel import PanelSource, packed
from pykern.passes.codegen.device.product_space import added, scaled, split
from pykern.passes.codegen.device.word_layout import CHUNK, LINES, WordLayout
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import index_constant

_BLOCKS = (4, 4), (2, 4), (4, 2), (2, 2), (1, 2)
"""Terms and lines that a work-item transposes."""
_SPREAD = 32
"""Bytes of successive terms that work-items side by side store, so that they take all banks."""


_Fetch = Callable[[ir.Value, ir.Value], list[list[ir.Value]]]
"""The words of each line, of an element's line and term on."""


@dataclass(frozen=True)
class _Place:
    """What a work-item fetches at once: from which line and term on, and where its lines go."""

    line: ir.Value
    term: ir.Value
    stored: tuple[ir.Value, ...]


class WordPanel:
    """One factor."""

    def __init__(
        self,
        source: PanelSource,
        layout: WordLayout,
        items: int,
        copied: bool,
        slots: int,
        instruction: MatrixInstruction,
        whole: bool,
    ) -> None:
        """`copied`: whether elements lie side by side from multiples of 16 bytes on. `whole`: no part reaches beyond
        the last term."""
        self.source, self.layout, self.items, self.whole = source, layout, items, whole
        self.instruction = instruction
        self.size = instruction.bits // 8
        self.height = instruction.rows
        """Lines of an instruction: as many of both factors."""
        self.terms = layout.words * 4 // self.size
        self.shared = SharedOp.create((slots * layout.total,), ir.IntegerType.get_signless(32))
        self.block, self.fetch_one = self._block(copied)

    # -- what a work-item fetches ------------------------------------------------------------------

    def _block(self, copied: bool) -> tuple[tuple[int, int], _Fetch]:
        """Terms and lines that a work-item fetches at once, and how it loads them."""
        if copied and self.source.by_terms:
            chunks = [(n * 4 // self.size, 1) for n in (CHUNK, 2, 1) if n * 4 >= self.size]
            if (fits := self._fitting(chunks)) is not None:
                return fits, self._chunk
        elif copied:
            blocks = [each for each in _BLOCKS if all(4 <= n * self.size <= 16 for n in each)]
            if (fits := self._fitting(blocks)) is not None:
                return fits, self._transposed
        return (max(1, 4 // self.size), 1), self._elements

    def _fitting(self, blocks: list[tuple[int, int]]) -> tuple[int, int] | None:
        """The first one of which all work-items have as many."""
        for terms, lines in blocks:
            count = self.terms // terms * (self.layout.lines // lines)
            if self.terms % terms == 0 and self.layout.lines % lines == 0 and count % self.items == 0:
                return terms, lines
        return None

    def prepare(
        self,
        number: ir.Value,
        origin: ir.Value,
        own: ir.Value,
        lines: Callable[[ir.Value], list[ir.Value]] | None = None,
    ) -> None:
        """What does not change from step to step: see `Panel.prepare`.

        `lines`: for the number of a line of an instruction, which line of the part it is, of so many instructions one
        after the other.
        """
        self.number, self.origin = number, origin
        terms, height = self.block
        self.parts = self.terms // terms * (self.layout.lines // height) // self.items
        self.places = [self._place(added(number, part * self.items)) for part in range(self.parts)]
        in_group = split(number, self.instruction.lanes)[1]
        groups, height = self.instruction.groups, self.height
        line, group = (
            split(in_group, groups) if self.instruction.lanes_of_line else split(in_group, height)[::-1]
        )
        chunks = [
            index_constant(n) if groups == 1 else added(group, n * groups)
            for n in range(-(-self.layout.words // (CHUNK * groups)))
        ]
        found = [added(line, n) for n in range(0, LINES, height)] if lines is None else lines(line)
        self.read = [[self.layout.place(added(own, one), chunk) for chunk in chunks] for one in found]

    def _place(self, at: ir.Value) -> _Place:
        terms, lines = self.block
        along = self.terms // terms
        if self.fetch_one == self._transposed:
            near = min(along, _SPREAD // (terms * self.size))
            at, inner = split(at, near)
            outer, line = split(at, self.layout.lines // lines)
            term = added(inner, scaled(outer, near))
        elif self.source.by_terms:
            line, term = split(at, along)
            line = self.layout.stored_line(line)
        else:
            term, line = split(at, self.layout.lines // lines)
        line, term = scaled(line, lines), scaled(term, terms)
        chunk, rest = split(term, CHUNK * 4 // self.size)
        word = split(scaled(rest, self.size), 4)[0]
        stored = tuple(added(self.layout.place(added(line, n), chunk), word) for n in range(lines))
        return _Place(added(self.origin, line), term, stored)

    # -- fetching ----------------------------------------------------------------------------------

    def begin(self, slot: ir.Value, begin: ir.Value, first: ir.Value | None = None) -> list[list[ir.Value]]:
        """Load the terms from `begin` on, of lines from `first` on: the words of each line."""
        if self.whole:  # what is loaded behind the last step is not read
            begin = _at_most(begin, self.source.terms - self.terms)
        found = []
        for place in self.places:
            line = place.line if first is None else added(first, place.line)
            if self.source.lines % self.layout.lines or first is not None:
                line = _at_most(line, self.source.lines - self.block[1])
            found += self.fetch_one(line, added(begin, place.term))
        return found

    def _chunk(self, line: ir.Value, term: ir.Value) -> list[list[ir.Value]]:
        return [self._words(line, term, self.block[0])]

    def _transposed(self, line: ir.Value, term: ir.Value) -> list[list[ir.Value]]:
        terms, lines = self.block
        rows = [self._split(self._words(line, added(term, n), 1, lines)) for n in range(terms)]
        return [_joined([row[n] for row in rows]) for n in range(lines)]

    def _elements(self, line: ir.Value, term: ir.Value) -> list[list[ir.Value]]:
        source = self.source
        values = [source.elements.factor(source.n, line, added(term, n)) for n in range(self.block[0])]
        return [_joined([_bits(value) for value in values])]

    def _words(self, line: ir.Value, term: ir.Value, terms: int, lines: int = 1) -> list[ir.Value]:
        """Words that lie side by side in memory; zeros beyond the last term."""
        source, known = self.source, None
        if not self.whole:
            last = index_constant(source.terms)
            known = arith.CmpIOp(arith.CmpIPredicate.ult, term, last).result
            term = _at_most(term, source.terms - terms)
        memory, indices = source.elements.source(source.n, line, term)
        words = LoadWordsOp.create(memory, indices, terms * lines * self.size // 4)
        if known is None:
            return words
        zero = constant(words[0].type, 0)
        return [arith.SelectOp(known, word, zero).result for word in words]

    def _split(self, words: list[ir.Value]) -> list[ir.Value]:
        """Elements of words, as integers of their size; two words where they are larger."""
        if self.size >= 4:
            return [
                word if self.size == 4 else _wide(words[n], words[n + 1])
                for n, word in enumerate(words)
                if n % (self.size // 4) == 0
            ]
        kind = ir.IntegerType.get_signless(8 * self.size)
        shifts = range(0, 32, 8 * self.size)
        moved = [
            arith.ShRUIOp(word, constant(word.type, by)).result if by else word
            for word in words
            for by in shifts
        ]
        return [arith.TruncIOp(kind, value).result for value in moved]

    def finish(self, slot: ir.Value, loaded: list[list[ir.Value]]) -> None:
        """Store what `begin` has loaded."""
        places = [stored for place in self.places for stored in place.stored]
        first = scaled(slot, self.layout.total)
        for at, words in zip(places, loaded, strict=True):
            StoreWordsOp.create(self.shared, added(first, at), words)

    # -- reading -----------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        """How often `fragments` reads to get all terms of a slot."""
        return -(-self.layout.words // (CHUNK * self.instruction.groups * self._loads))

    @property
    def _loads(self) -> int:
        """Chunks that a lane reads for one fragment."""
        return max(1, self.instruction.words[0] // CHUNK)

    def fragments(self, slot: ir.Value, step: int, lines: int) -> list[list[list[ir.Value]]]:
        """For each instruction along the terms of a step, the lane's words of the lines of each instruction, of the
        first `lines` lines of its subgroup."""
        words = self.instruction.words[0]
        first = scaled(slot, self.layout.total)
        found: list[list[list[ir.Value]]] = [[] for _ in range(max(1, CHUNK // words))]
        for number in range(lines // self.height):
            several, one = divmod(number, len(self.read))
            beyond = several * len(self.read) * self.height * self.layout.line_words
            held: list[ir.Value] = []
            for place in self.read[one][step * self._loads : (step + 1) * self._loads]:
                held += LoadWordsOp.create(self.shared, [added(added(first, place), beyond)], CHUNK)
            for at, fragments in enumerate(found):
                fragments.append(held[at * words : (at + 1) * words])
        return found


def _at_most(value: ir.Value, most: int) -> ir.Value:
    return arith.MinUIOp(value, index_constant(most)).result


def _bits(value: ir.Value) -> ir.Value:
    if not isinstance(value.type, ir.FloatType):
        return value
    return arith.BitcastOp(ir.IntegerType.get_signless(value.type.width), value).result


def _wide(low: ir.Value, high: ir.Value) -> ir.Value:
    """64 bits of two words."""
    wide = ir.IntegerType.get_signless(64)
    moved = arith.ShLIOp(arith.ExtUIOp(wide, high).result, constant(wide, 32)).result
    return arith.OrIOp(moved, arith.ExtUIOp(wide, low).result).result


def _joined(elements: list[ir.Value]) -> list[ir.Value]:
    """Integers of any size, one after the other, as words."""
    bits, word = elements[0].type.width, ir.IntegerType.get_signless(32)
    if bits < 32:
        each = 32 // bits
        return [packed(elements[n : n + each]) for n in range(0, len(elements), each)]
    if bits == 32:
        return elements
    halves = [
        arith.ShRUIOp(value, constant(value.type, by)).result if by else value
        for value in elements
        for by in (0, 32)
    ]
    return [arith.TruncIOp(word, value).result for value in halves]
