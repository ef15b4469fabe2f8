"""Where words of a factor's part lie in shared memory, for units whose lanes read words side by side (AMD, and f64 on
NVIDIA).

Comes in: how many lines and words a part has. Goes out: a `WordLayout`, the place of each chunk of four words, for
`word_panel`. A place is the exclusive or of what each bit of a line's and of a chunk's number gives, so that it is free
of conflicts by construction: lanes read 16 bytes each, eight at a time, which take all banks once if their lines differ
in three bits, or in two bits and a chunk (AMD, "Understanding AMD GPU LDS and Bank Conflicts": of 64 lanes the first
four and 20 to 23 read together). Lanes that store what they have transposed differ in bits 2 and 3 of the line instead.
On NVIDIA eight lanes side by side read four chunks of two lines (`neighbours`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir.dialects import arith

from pykern.passes.codegen.device.product_space import added, scaled, split

CHUNK = 4
"""Words that a lane reads at once."""
LINES = 16
"""Lines of an instruction: bits of a line's number above them add up."""
_LEAST_CHUNKS = 4
Number = Any
"""An int, or a value in a kernel."""


@dataclass(frozen=True)
class WordLayout:
    """A factor's part: `lines` rows of the left one, or columns of the right one, of `words` each."""

    lines: int
    words: int
    neighbours: bool = False
    """Whether lanes that read together have lines that differ in the lowest bit, and all chunks of them."""

    @property
    def chunks(self) -> int:
        """Of a line in shared memory: four, or a multiple of eight."""
        chunks = max(_LEAST_CHUNKS, -(-self.words // CHUNK))
        return chunks if chunks == _LEAST_CHUNKS else -(-chunks // 8) * 8

    @property
    def line_words(self) -> int:
        return self.chunks * CHUNK

    @property
    def total(self) -> int:
        """Words of all lines."""
        return self.lines * self.line_words

    @property
    def line_bits(self) -> tuple[int, int, int, int]:
        """What the four lowest bits of a line's number give."""
        if self.chunks == _LEAST_CHUNKS:  # two lines lie in the banks at once: those that differ in bit 2
            at, by = self.line_words, CHUNK
            if (
                self.neighbours
            ):  # those that transpose differ in bits 1 and 2, and in the lowest one of the chunk
                return at, 2 * at ^ 2 * by, 4 * at ^ at, 8 * at ^ by
            return 4 * at ^ 2 * by, 2 * at ^ by, at, 8 * at ^ 2 * by
        at, by = self.line_words, CHUNK
        return at ^ 4 * by, 2 * at ^ by, 4 * at ^ 2 * by, 8 * at ^ 4 * by

    def place(self, line: Number, chunk: Number) -> Number:
        """The first word of a chunk, of numbers or of values in a kernel."""
        above, low = _split(line, LINES)
        found = _scaled(chunk, CHUNK)
        for bit, gives in enumerate(self.line_bits):
            _, one = _split(_split(low, 1 << bit)[0], 2)
            found = _different(found, _scaled(one, gives))
        return _added(_scaled(above, LINES * self.line_words), found)

    def stored_line(self, number: Number) -> Number:
        """The line that work-items store as the `number`-th, so that those side by side take all banks."""
        if self.neighbours or self.chunks != _LEAST_CHUNKS:
            return number
        eight, low = _split(number, 8)
        two, first = _split(low, 2)
        last, middle = _split(two, 2)
        return _added(_scaled(eight, 8), _added(_scaled(first, 4), _added(_scaled(middle, 2), last)))


def _split(value: Number, by: int) -> tuple[Number, Number]:
    return divmod(value, by) if isinstance(value, int) else split(value, by)


def _scaled(value: Number, by: int) -> Number:
    return value * by if isinstance(value, int) else scaled(value, by)


def _added(a: Number, b: Number) -> Number:
    return a + b if isinstance(a, int) and isinstance(b, int) else added(a, b)


def _different(a: Number, b: Number) -> Number:
    """The exclusive or."""
    return a ^ b if isinstance(a, int) and isinstance(b, int) else arith.XOrIOp(a, b).result
