"""Where the elements of a product's tile lie in shared memory, so that no two lanes meet in a bank.

Comes in: how a factor lies in memory. Goes out: a `PanelLayout`, the place of each word, for `matrix_panel`. Elements
that are side by side in memory are so in shared memory, two in a word; whether a lane then gets pairs of terms or of
lines is made up for by the instruction that loads small matrices, which transposes them. Four words, 16 bytes, are a
chunk. Chunks of a row are permuted by exclusive or, so that the same chunk of eight rows lies in eight groups of banks.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.dialect.matrices import LANES
from pykern.dialect.matrix_units import MatrixInstruction
from pykern.passes.analysis.cost_model.devices import MATRIX_TILES, MATRIX_WAVES, MATRIX_WORDS

CHUNK_WORDS, CHUNK_BYTES = LANES // 8, LANES // 2
"""Words and bytes of a chunk. Eight chunks take all banks."""
HALVES = CHUNK_BYTES // CHUNK_WORDS // 2
"""Elements of 16 bits in a word."""


@dataclass(frozen=True)
class MatrixTile:
    """What a group computes: a square of the result, with so many subgroups along rows and columns.

    `slots`: how often its factors lie in shared memory. `copied`: which of them are copied there in chunks.
    """

    side: int
    row_subgroups: int
    column_subgroups: int
    slots: int
    copied: tuple[bool, ...]
    lanes: int = LANES

    @classmethod
    def of_side(cls, side: int, copied: tuple[bool, ...], instruction: MatrixInstruction) -> MatrixTile:
        """The tile of the cost model."""
        if instruction.groups:
            return cls(side, *MATRIX_WAVES[instruction.lanes][side], 2, copied, instruction.lanes)
        ahead, loaded = next(rest for each, *rest in MATRIX_TILES if each == side)
        return cls(side, *(ahead if all(copied) else loaded), copied)

    @property
    def items(self) -> int:
        return self.lanes * self.row_subgroups * self.column_subgroups

    @property
    def own_rows(self) -> int:
        """Rows of a subgroup."""
        return self.side // self.row_subgroups

    @property
    def own_columns(self) -> int:
        """Columns of a subgroup."""
        return self.side // self.column_subgroups


@dataclass(frozen=True)
class PanelLayout:
    """A factor's part: `lines` rows of the left one, or columns of the right one, of some `terms` each."""

    lines: int
    by_terms: bool
    """Whether terms are side by side; else the lines are."""
    words_of_terms: int = MATRIX_WORDS
    """Words of a line."""
    packed: int = HALVES
    """Elements in a word."""

    @property
    def terms(self) -> int:
        return self.words_of_terms * self.packed

    @property
    def chunk(self) -> int:
        """Elements of a chunk."""
        return CHUNK_WORDS * self.packed

    @property
    def outer(self) -> int:
        """Rows in shared memory: one for each line, or for each term."""
        return self.lines if self.by_terms else self.terms

    @property
    def filled_words(self) -> int:
        """Words of a row that there are elements for."""
        return (self.terms if self.by_terms else self.lines) // self.packed

    @property
    def row_chunks(self) -> int:
        """A power of two, or a multiple of eight, so that chunks can be permuted."""
        chunks = -(-self.filled_words // CHUNK_WORDS)
        return -(-chunks // 8) * 8 if chunks > 8 else 1 << (chunks - 1).bit_length()

    @property
    def row_words(self) -> int:
        return self.row_chunks * CHUNK_WORDS

    @property
    def words(self) -> int:
        return self.outer * self.row_words

    @property
    def shared_banks(self) -> int:
        """Rows that lie in the banks once: several short ones."""
        return max(1, 8 // self.row_chunks)

    @property
    def permutations(self) -> int:
        """How many rows in turn have their chunks in another order."""
        return min(8, self.row_chunks)

    def word(self, outer: int, word: int) -> int:
        """The place of a row's word."""
        chunk, rest = divmod(word, CHUNK_WORDS)
        permuted = chunk ^ (outer // self.shared_banks % self.permutations)
        return outer * self.row_words + permuted * CHUNK_WORDS + rest
