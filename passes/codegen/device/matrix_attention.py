"""Attention by an instruction that a subgroup multiplies small matrices with: tensor cores.

Comes in: the elements of attention over f16 or bf16 in a kernel, and a `MatrixAttentionTile`. Goes out: the kernel's
body. Each subgroup has 16 queries, in registers. A block of keys and one of values lie in shared memory; each is
fetched while the other is multiplied. Lanes hold scores as the instruction leaves them, which is, two in a word, how it
takes the powers of them as the left factor of the second product: they stay in registers. Which lane holds what:
`pykern.dialect.matrices`. The steps of the softmax are those of `fma_attention`; four lanes share a row.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.collectives import SubgroupShuffleOp
from pykern.dialect.index_space import GroupIdOp, LocalIdOp
from pykern.dialect.matrices import (
    COLUMNS,
    FLOATS,
    LANES,
    QUAD,
    ROWS,
    WORDS,
    CommitCopiesOp,
    MultiplyMatricesOp,
    WaitCopiesOp,
)
from pykern.dialect.matrix_units import UNITS, MatrixInstruction
from pykern.dialect.memory import BarrierOp
from pykern.passes.analysis.alignment import is_aligned
from pykern.passes.analysis.cost_model.devices import (
    FEWEST_GROUPS,
    MATRIX_ATTENTION_DEPTH,
    MATRIX_ATTENTION_KEYS,
    MATRIX_ATTENTION_SUBGROUPS,
    MATRIX_ATTENTION_WIDTH,
    WAVE_ATTENTION_ITEMS,
)
from pykern.passes.codegen.device.attention_elements import KEYS, QUERY, VALUES, AttentionElements
from pykern.passes.codegen.device.matrix_layout import CHUNK_BYTES, PanelLayout
from pykern.passes.codegen.device.matrix_panel import Panel, PanelSource, packed
from pykern.passes.codegen.device.product_space import added, scaled, split
from pykern.passes.codegen.device.running_softmax import larger, power, subtracted
from pykern.passes.codegen.device.word_layout import CHUNK
from pykern.passes.fusion.attention.calls import AttentionCall, AttentionShape
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import index_constant

_UNIT = "m16n8k16"
TERMS = 2 * WORDS
"""Of an instruction."""


def why_not_attention(found: AttentionCall, unit: str) -> str | None:
    """Why attention is not computed by such instructions; None where it is."""
    query, keys, values = (str(ir.MemRefType(v.type).element_type) for v in list(found.call.operands)[:3])
    if query not in FLOATS or query != keys:
        return f"queries and keys are {query} and {keys}; they multiply two of f16 or two of bf16"
    if values not in FLOATS or str(found.weights) != values:
        return f"values are {values}, their weights {found.weights}; they multiply two of f16 or two of bf16"
    if unit not in UNITS:
        return "this target has none"
    most = MATRIX_ATTENTION_DEPTH
    if UNITS[unit][query, keys].groups == 1:  # each lane holds all terms of its queries
        most //= 2
    return (
        f"queries of {found.shape.depth} elements do not fit in registers"
        if found.shape.depth > most
        else None
    )


@dataclass(frozen=True)
class MatrixAttentionTile:
    """What a group computes: so many `subgroups` times 16 queries, and one of `panels` of columns of their results.

    `copied`: whether their elements lie together in chunks of 16 bytes.
    """

    shape: AttentionShape
    subgroups: int
    panels: int
    copied: tuple[bool, bool, bool]
    """Of queries, keys and values."""
    instruction: MatrixInstruction

    @classmethod
    def of_call(cls, found: AttentionCall, aligned: bool, unit: str) -> MatrixAttentionTile:
        """`aligned`: whether the program's arguments begin at multiples of 16 bytes."""
        shape = found.shape
        panels = -(-shape.width // MATRIX_ATTENTION_WIDTH)
        types = [str(ir.MemRefType(found.call.operands[n].type).element_type) for n in (QUERY, KEYS)]
        instruction = UNITS[unit][types[0], types[1]]
        most = MATRIX_ATTENTION_SUBGROUPS
        if instruction.groups:
            most = WAVE_ATTENTION_ITEMS // instruction.lanes
        sizes = range(most, 0, -1)
        enough = (
            n for n in sizes if shape.batch_count * panels * -(-shape.queries // (n * ROWS)) >= FEWEST_GROUPS
        )
        query, keys, values = (_copies_chunks(found, n, aligned) for n in (QUERY, KEYS, VALUES))
        return cls(shape, 1 << next(enough, 1).bit_length() - 1, panels, (query, keys, values), instruction)

    @property
    def keys(self) -> int:
        """Keys that are met at a time."""
        return MATRIX_ATTENTION_KEYS // (2 if self.instruction.groups == 1 else 1)

    @property
    def items(self) -> int:
        return self.instruction.lanes * self.subgroups

    @property
    def queries(self) -> int:
        return ROWS * self.subgroups

    @property
    def depth(self) -> int:
        """Terms of the first product, in whole loads."""
        terms = max(TERMS, 2 * CHUNK * self.instruction.groups)
        return -(-self.shape.depth // terms) * terms

    @property
    def columns(self) -> int:
        """Columns of the result, in whole loads of two fragments."""
        return -(-self.shape.width // (2 * COLUMNS * self.panels)) * 2 * COLUMNS


def _copies_chunks(found: AttentionCall, n: int, aligned: bool) -> bool:
    """Whether all chunks of keys or values lie together in memory, each from a multiple of 16 bytes on."""
    array, at = found.call.operands[n], found.shape.maps[n]
    *others, last = ir.MemRefType(array.type).get_strides_and_offset()[0]
    fastest = list(at.results)[-1]
    if not (aligned and is_aligned(array)) or last != 1 or not isinstance(fastest, ir.AffineDimExpr):
        return False
    dynamic, chunk = ir.ShapedType.get_dynamic_stride_or_offset(), CHUNK_BYTES // 2
    whole = found.shape.lengths[fastest.position] % chunk == 0
    lines = fastest.position >= len(found.shape.batches)
    return lines and whole and all(s != dynamic and s % chunk == 0 for s in others)


class MatrixAttention:
    """The kernel."""

    def __init__(self, elements: AttentionElements, tile: MatrixAttentionTile) -> None:
        self.elements, self.shape, self.tile = elements, elements.shape, tile
        self.types = [ir.MemRefType(elements.arrays[n].type).element_type for n in (KEYS, VALUES)]
        self.copies = any(tile.copied[1:])

    def _make_panels(self) -> None:
        """Shared memory for a block."""
        elements, tile, block = self.elements, self.tile, MATRIX_ATTENTION_KEYS
        self.keys = self._panel(KEYS, PanelLayout(block, elements.lies_by_terms(KEYS), tile.depth // 2))
        self.values = self._panel(
            VALUES, PanelLayout(tile.columns, elements.lies_by_terms(VALUES), block // 2)
        )

    def _panel(self, n: int, layout: PanelLayout) -> Panel:
        lines, terms = (
            (self.shape.keys, self.shape.depth) if n == KEYS else (self.shape.width, self.shape.keys)
        )
        source = PanelSource(self.elements, n, lines, terms, False, layout.by_terms)
        return Panel(source, layout, self.tile.items, self.tile.copied[n], 1)

    def _place_items(self, blocks: int, columns: int) -> tuple[ir.Value, ir.Value]:
        """Where the work-item stands in the result, of which a group has `columns`. Gives its number and the group's
        first query."""
        number = LocalIdOp.create(2)
        batch, panel = split(GroupIdOp.create(0), self.tile.panels)
        self.elements.place(batch)
        # the last queries first: they have most keys where later ones are masked
        block = arith.SubIOp(index_constant(blocks - 1), GroupIdOp.create(1)).result
        first = scaled(block, self.tile.queries)
        subgroup, self.lane = split(number, LANES)
        in_row, in_column = split(self.lane, QUAD)
        self.row, self.column = added(added(first, scaled(subgroup, ROWS)), in_row), scaled(in_column, 2)
        self.origin = scaled(panel, columns)
        return number, first

    def emit(self, blocks: int) -> None:
        tile, elements, zero = self.tile, self.elements, index_constant(0)
        number, first = self._place_items(blocks, tile.columns)
        self._make_panels()
        self.keys.prepare(number, zero, zero)
        self.values.prepare(number, self.origin, zero)
        queries = [self._queries(term) for term in range(0, tile.depth, TERMS)]
        begin, end = elements.key_range(first, tile.queries)
        self._fetch_keys(begin)
        nothing = constant(self.shape.element, 0)
        low = constant(self.shape.element, float("-inf"))
        cells = [nothing] * (QUAD * tile.columns // COLUMNS)
        loop = scf.ForOp(
            begin, end, index_constant(MATRIX_ATTENTION_KEYS), [low, low, nothing, nothing, *cells]
        )
        with ir.InsertionPoint(loop.body):
            key, held = loop.induction_variable, list(loop.inner_iter_args)
            self._wait()  # the keys are there, and everybody has read the values before
            self.values.fetch(zero, key)
            self._commit()
            scores = self._scores(queries, key)
            tops, totals, shrinks = self._weigh(scores, held[:2], held[2:4])
            self._wait()  # the values are there, and everybody has read the keys
            self._fetch_keys(added(key, MATRIX_ATTENTION_KEYS))
            scf.YieldOp([*tops, *totals, *self._add_values(scores, shrinks, held[4:])])
        if self.copies:
            WaitCopiesOp.create(0)
        _, _, *found = loop.results
        self._finish(found[:2], found[2:])

    def _wait(self) -> None:
        if self.copies:
            WaitCopiesOp.create(0)
        BarrierOp.create()

    def _commit(self) -> None:
        if self.copies:
            CommitCopiesOp.create()

    def _fetch_keys(self, key: ir.Value) -> None:
        self.keys.fetch(index_constant(0), index_constant(0), key)
        self._commit()

    # -- products ----------------------------------------------------------------------------

    def _queries(self, term: int) -> list[ir.Value]:
        """The lane's words of 16 queries and 16 terms."""
        words = []
        for word in range(QUAD):
            row = added(self.row, word % 2 * (ROWS // 2))
            at = added(self.column, term + word // 2 * (TERMS // 2))
            words.append(packed([self.elements.factor(QUERY, row, added(at, n)) for n in (0, 1)]))
        return words

    def _scores(self, queries: list[list[ir.Value]], key: ir.Value) -> list[list[ir.Value]]:
        """Four scores of each eight keys."""
        zero = index_constant(0)
        sums = [[constant(self.shape.element, 0)] * QUAD for _ in range(MATRIX_ATTENTION_KEYS // COLUMNS)]
        for step, query in enumerate(queries):
            for line in range(0, MATRIX_ATTENTION_KEYS, 2 * COLUMNS):
                pair = self.keys.load(zero, line, step * TERMS)
                _multiply(query, pair, sums, line // COLUMNS, self.types[0])
        return self._scored(sums, key)

    def _scored(self, sums: list[list[ir.Value]], key: ir.Value) -> list[list[ir.Value]]:
        """What the program makes of products with the keys from `key` on."""
        return [
            [
                self.elements.score(value, self._row_of(cell), added(key, self._column_of(n, cell)))
                for cell, value in enumerate(four)
            ]
            for n, four in enumerate(sums)
        ]

    def _weights(self, powers: list[list[ir.Value]], term: int) -> list[ir.Value]:
        """The words of the left factor of the second product, of 16 keys."""
        fours = powers[term // COLUMNS : term // COLUMNS + 2]
        return [_rounded(four[at : at + 2], self.types[1]) for four in fours for at in (0, 2)]

    def _add_values(
        self, powers: list[list[ir.Value]], shrinks: list[ir.Value], held: list[ir.Value]
    ) -> list[ir.Value]:
        """The result, scaled down, and the block's powers times its values."""
        held = shrunk(held, shrinks)
        sums = [held[n : n + QUAD] for n in range(0, len(held), QUAD)]
        for term in range(0, MATRIX_ATTENTION_KEYS, TERMS):
            left = self._weights(powers, term)
            for line in range(0, self.tile.columns, 2 * COLUMNS):
                pair = self.values.load(index_constant(0), line, term)
                _multiply(left, pair, sums, line // COLUMNS, self.types[1])
        return [value for four in sums for value in four]

    # -- softmax -----------------------------------------------------------------------------

    def _weigh(
        self, scores: list[list[ir.Value]], tops: list[ir.Value], totals: list[ir.Value]
    ) -> tuple[list[ir.Value], list[ir.Value], list[ir.Value]]:
        """Put powers in the place of scores. The largest scores of the lane's two rows, sums of its own powers, and by
        what those before are scaled down."""
        bases: list[ir.Value | None] = [None, None]
        shrinks: list[ir.Value] = []
        if self.elements.shifted:
            before, tops = tops, [self._largest(scores, half, top) for half, top in enumerate(tops)]
            bases = [subtracted(top) for top in tops]
            shrinks = [power(top, base, rounded=True) for top, base in zip(before, bases, strict=True)]
            totals = [arith.MulFOp(total, by).result for total, by in zip(totals, shrinks, strict=True)]
        totals = list(totals)
        for four in scores:
            for cell in range(QUAD):
                four[cell] = power(four[cell], bases[cell // 2], rounded=True)
                totals[cell // 2] = arith.AddFOp(totals[cell // 2], four[cell]).result
        return tops, totals, shrinks

    def _largest(self, scores: list[list[ir.Value]], half: int, top: ir.Value) -> ir.Value:
        for four in scores:
            for value in four[2 * half : 2 * half + 2]:
                top = larger(value, top)
        for distance in (1, 2):
            top = larger(self._from_lane(top, distance), top)
        return top

    def _from_lane(self, value: ir.Value, distance: int) -> ir.Value:
        """The value of another lane of the row."""
        other = arith.XOrIOp(self.lane, index_constant(distance)).result
        return SubgroupShuffleOp.create(value, other)

    def _finish(self, totals: list[ir.Value], cells: list[ir.Value]) -> None:
        for distance in (1, 2):
            totals = [arith.AddFOp(v, self._from_lane(v, distance)).result for v in totals]
        if self.elements.shifted:  # at least 1
            one = constant(self.shape.element, 1)
            totals = [arith.DivFOp(one, v).result for v in totals]
        for number, value in enumerate(cells):
            n, cell = divmod(number, QUAD)
            total = totals[cell // 2]
            by = arith.MulFOp if self.elements.shifted else arith.DivFOp
            column = added(self.origin, self._column_of(n, cell))
            self.elements.finish(self._row_of(cell), column, by(value, total).result)

    def _row_of(self, cell: int) -> ir.Value:
        return added(self.row, cell // 2 * (ROWS // 2))

    def _column_of(self, n: int, cell: int) -> ir.Value:
        return added(self.column, n * COLUMNS + cell % 2)


def shrunk(held: list[ir.Value], shrinks: list[ir.Value]) -> list[ir.Value]:
    """The result of both rows of a lane, scaled down."""
    if not shrinks:
        return held
    return [arith.MulFOp(v, shrinks[n % QUAD // 2]).result for n, v in enumerate(held)]


def _multiply(
    left: list[ir.Value], pair: list[ir.Value], sums: list[list[ir.Value]], at: int, element: ir.Type
) -> None:
    """Add the products with two fragments to the sums from `at` on."""
    for half in (0, 1):
        right = pair[2 * half : 2 * half + 2]
        sums[at + half] = MultiplyMatricesOp.create(
            left, right, sums[at + half], (str(element), str(element)), _UNIT
        )


def _rounded(two: list[ir.Value], element: ir.Type) -> ir.Value:
    """Two floats of 32 bits as a word of 16-bit floats."""
    return packed([arith.TruncFOp(element, v).result for v in two])
