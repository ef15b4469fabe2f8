"""Attention by matrix cores of AMD's GPUs, whose lanes hold words of a line that lie side by side.

Comes in: the elements of attention over f16 or bf16 in a kernel, and a `MatrixAttentionTile`. Goes out: the kernel's
body. Both products are transposed: keys times queries, then values times powers, so that a query is a column of either,
and one lane of each group of 16 has all that belongs to it. What a lane has of the scores are eight keys side by side
of each block, since it reads the lines of keys in that order; rounded, these are the four words that it is to have of
the second product's right factor: they stay in registers. On RDNA 3, where a lane has all words, halves exchange them.
Blocks of keys and values lie in shared memory; the next ones are loaded into registers while these are multiplied. The
steps of the softmax are those of `fma_attention`.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.collectives import SubgroupShuffleOp
from pykern.dialect.index_space import GroupIdOp, LocalIdOp
from pykern.dialect.matrices import LoadWordsOp, MultiplyMatricesOp
from pykern.dialect.matrix_units import Types
from pykern.dialect.memory import BarrierOp
from pykern.passes.codegen.device.attention_elements import KEYS, QUERY, VALUES, AttentionElements
from pykern.passes.codegen.device.matrix_attention import MatrixAttentionTile
from pykern.passes.codegen.device.matrix_panel import PanelSource, packed
from pykern.passes.codegen.device.product_space import added, scaled, split
from pykern.passes.codegen.device.running_softmax import larger, power, subtracted
from pykern.passes.codegen.device.word_layout import CHUNK, LINES, WordLayout
from pykern.passes.codegen.device.word_panel import WordPanel
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import index_constant

_SIDE = 2 * CHUNK
"""Elements of 16 bits in a chunk: keys side by side that a lane has."""


class WaveAttention:
    """The kernel."""

    def __init__(self, elements: AttentionElements, tile: MatrixAttentionTile, unit: str) -> None:
        self.elements, self.shape, self.tile, self.unit = elements, elements.shape, tile, unit
        self.instruction = tile.instruction
        self.kinds = [ir.MemRefType(elements.arrays[n].type).element_type for n in (KEYS, VALUES)]
        self.groups = self.instruction.lanes // LINES
        self.together = _SIDE // len(self.instruction.cells)
        """Instructions whose sums are the keys that a lane has side by side."""
        self.keys = self._panel(KEYS, WordLayout(tile.keys, tile.depth // 2))
        self.values = self._panel(VALUES, WordLayout(tile.columns, tile.keys // 2))

    def _panel(self, n: int, layout: WordLayout) -> WordPanel:
        shape, tile = self.shape, self.tile
        lines, terms = (shape.keys, shape.depth) if n == KEYS else (shape.width, shape.keys)
        whole = terms == tile.depth if n == KEYS else terms % tile.keys == 0
        source = PanelSource(self.elements, n, lines, terms, True, self.elements.lies_by_terms(n))
        return WordPanel(source, layout, tile.items, tile.copied[n], 1, self.instruction, whole)

    def emit(self, blocks: int) -> None:
        tile, elements, zero = self.tile, self.elements, index_constant(0)
        number = LocalIdOp.create(2)
        batch, panel = split(GroupIdOp.create(0), tile.panels)
        elements.place(batch)
        # the last queries first: they have most keys where later ones are masked
        block = arith.SubIOp(index_constant(blocks - 1), GroupIdOp.create(1)).result
        first = scaled(block, tile.queries)
        subgroup, self.lane = split(number, self.instruction.lanes)
        self.group, in_group = split(self.lane, LINES)
        self.query = added(added(first, scaled(subgroup, LINES)), in_group)
        self.origin = scaled(panel, tile.columns)
        self.keys.prepare(number, zero, zero, self._key_lines)
        self.values.prepare(number, self.origin, zero)
        queries = self._queries()
        begin, end = elements.key_range(first, tile.queries)
        self.keys.finish(zero, self.keys.begin(zero, zero, begin))
        nothing = constant(self.shape.element, 0)
        low = constant(self.shape.element, float("-inf"))
        cells = [nothing] * (tile.columns // LINES * len(self.instruction.cells))
        loop = scf.ForOp(begin, end, index_constant(tile.keys), [low, nothing, *cells])
        with ir.InsertionPoint(loop.body):
            key, (top, total, *held) = loop.induction_variable, loop.inner_iter_args
            BarrierOp.create()  # the keys are there, and everybody has read the values before
            values = self.values.begin(zero, key)
            scores = self._scores(queries, key)
            top, total, shrink = self._weigh(scores, top, total)
            self.values.finish(zero, values)
            BarrierOp.create()  # the values are there, and everybody has read the keys
            keys = self.keys.begin(zero, zero, added(key, tile.keys))
            held = self._add_values(scores, shrink, held)
            self.keys.finish(zero, keys)
            scf.YieldOp([top, total, *held])
        _, total, *cells = loop.results
        self._finish(total, cells)

    # -- products ----------------------------------------------------------------------------

    def _key_lines(self, row: ir.Value) -> list[ir.Value]:
        """The key of an instruction's row, so that the rows whose sums a lane has are keys side by side."""
        sums, (step, _) = len(self.instruction.cells), self.instruction.steps
        if step == 1:  # rows of a lane are `groups` apart
            at, group = split(row, self.groups)
        else:
            group, at = split(row, sums)
        return [added(scaled(group, _SIDE), added(at, sums * n)) for n in range(self.together)]

    def _queries(self) -> list[list[ir.Value]]:
        """The lane's words of its query, for each instruction along the terms."""
        words = []
        groups = self.instruction.groups
        for n in range(self.tile.depth // _SIDE // groups):
            chunk = index_constant(n) if groups == 1 else added(self.group, n * groups)
            words += self._query_words(scaled(chunk, _SIDE))
        return _cut(words, self.instruction.words[1])

    def _query_words(self, term: ir.Value) -> list[ir.Value]:
        """A chunk of the lane's query; zeros beyond the last term, the last query for those beyond."""
        if not self.tile.copied[QUERY]:
            values = [self.elements.factor(QUERY, self.query, added(term, n)) for n in range(_SIDE)]
            return [packed(values[n : n + 2]) for n in range(0, _SIDE, 2)]
        shape = self.shape
        known = arith.CmpIOp(arith.CmpIPredicate.ult, term, index_constant(shape.depth)).result
        at = arith.MinUIOp(term, index_constant(shape.depth - _SIDE)).result
        query = arith.MinUIOp(self.query, index_constant(shape.queries - 1)).result
        words = LoadWordsOp.create(*self.elements.source(QUERY, query, at), CHUNK)
        return [arith.SelectOp(known, word, constant(word.type, 0)).result for word in words]

    def _scores(self, queries: list[list[ir.Value]], key: ir.Value) -> list[list[ir.Value]]:
        """Scores of the lane's query and eight keys side by side, block by block."""
        nothing = constant(self.shape.element, 0)
        sums = [[nothing] * len(self.instruction.cells) for _ in range(self.tile.keys // LINES)]
        given = iter(queries)
        for step in range(self.keys.steps):
            for left in self.keys.fragments(index_constant(0), step, self.tile.keys):
                query = next(given)
                sums = [self._multiply(a, query, held, 0) for a, held in zip(left, sums, strict=True)]
        several = [
            [value for held in sums[n : n + self.together] for value in held]
            for n in range(0, len(sums), self.together)
        ]
        own = added(key, scaled(self.group, _SIDE))
        return [
            [
                self.elements.score(value, self.query, added(own, block * _SIDE * self.groups + n))
                for n, value in enumerate(values)
            ]
            for block, values in enumerate(several)
        ]

    def _add_values(
        self, powers: list[list[ir.Value]], shrink: ir.Value | None, held: list[ir.Value]
    ) -> list[ir.Value]:
        """The result, scaled down, and the block's values times its powers."""
        if shrink is not None:
            held = [arith.MulFOp(value, shrink).result for value in held]
        sums = _cut(held, len(self.instruction.cells))
        words = [word for eight in powers for word in self._words(eight)]
        given = iter(_cut(words, self.instruction.words[1]))
        for step in range(self.values.steps):
            for left in self.values.fragments(index_constant(0), step, self.tile.columns):
                right = next(given)
                sums = [self._multiply(a, right, each, 1) for a, each in zip(left, sums, strict=True)]
        return [value for each in sums for value in each]

    def _words(self, eight: list[ir.Value]) -> list[ir.Value]:
        """Powers of eight keys as words; on RDNA 3 those of both halves of the subgroup, in the order of the keys."""
        rounded = [arith.TruncFOp(self.kinds[1], value).result for value in eight]
        own = [packed(rounded[n : n + 2]) for n in range(0, _SIDE, 2)]
        if self.instruction.groups > 1:
            return own
        others = [self._from_lane(word, LINES) for word in own]
        lower = arith.CmpIOp(arith.CmpIPredicate.eq, self.group, index_constant(0)).result
        pairs = list(zip(own, others, strict=True))
        return [
            *(arith.SelectOp(lower, mine, other).result for mine, other in pairs),
            *(arith.SelectOp(lower, other, mine).result for mine, other in pairs),
        ]

    def _multiply(
        self, left: list[ir.Value], right: list[ir.Value], sums: list[ir.Value], kind: int
    ) -> list[ir.Value]:
        types: Types = (str(self.kinds[kind]), str(self.kinds[kind]))
        return MultiplyMatricesOp.create(left, right, sums, types, self.unit)

    # -- softmax -----------------------------------------------------------------------------

    def _weigh(
        self, scores: list[list[ir.Value]], top: ir.Value, total: ir.Value
    ) -> tuple[ir.Value, ir.Value, ir.Value | None]:
        """Put powers in the place of scores. The query's largest score, the sum of the lane's own powers, and by what
        those before are scaled down."""
        base: ir.Value | None = None
        shrink: ir.Value | None = None
        if self.elements.shifted:
            before = top
            for eight in scores:
                for value in eight:
                    top = larger(value, top)
            for distance in self._distances():
                top = larger(self._from_lane(top, distance), top)
            base = subtracted(top)
            shrink = power(before, base, rounded=True)
            total = arith.MulFOp(total, shrink).result
        for eight in scores:
            for n, value in enumerate(eight):
                eight[n] = power(value, base, rounded=True)
                total = arith.AddFOp(total, eight[n]).result
        return top, total, shrink

    def _distances(self) -> list[int]:
        """Between lanes that have the same query."""
        return [LINES << n for n in range(self.groups.bit_length() - 1)]

    def _from_lane(self, value: ir.Value, distance: int) -> ir.Value:
        other = arith.XOrIOp(self.lane, index_constant(distance)).result
        return SubgroupShuffleOp.create(value, other)

    def _finish(self, total: ir.Value, cells: list[ir.Value]) -> None:
        for distance in self._distances():
            total = arith.AddFOp(total, self._from_lane(total, distance)).result
        if self.elements.shifted:  # at least 1
            total = arith.DivFOp(constant(self.shape.element, 1), total).result
        by = arith.MulFOp if self.elements.shifted else arith.DivFOp
        own = added(self.origin, scaled(self.group, self.instruction.steps[0]))
        for n, several in enumerate(_cut(cells, len(self.instruction.cells))):
            for (down, _), value in zip(self.instruction.cells, several, strict=True):
                self.elements.finish(self.query, added(own, n * LINES + down), by(value, total).result)


def _cut(values: list[ir.Value], count: int) -> list[list[ir.Value]]:
    """Parts of so many values."""
    return [values[n : n + count] for n in range(0, len(values), count)]
