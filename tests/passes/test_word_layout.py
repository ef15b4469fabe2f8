"""Where words of a product's factors lie on AMD, and of f64 on NVIDIA: no two of an access in one bank."""

from __future__ import annotations

import itertools

import pytest

from pykern.passes.analysis.cost_model.devices import MATRIX_TILES, MATRIX_WORDS
from pykern.passes.codegen.device.word_layout import CHUNK, WordLayout

LAYOUTS = [
    *(WordLayout(side, MATRIX_WORDS) for side, _, _ in MATRIX_TILES),
    *(
        WordLayout(lines, words)
        for lines, words in ((64, 8), (64, 24), (64, 32), (80, 32), (64, 64), (64, 128))
    ),
]
NEIGHBOURS = [WordLayout(side, MATRIX_WORDS, neighbours=True) for side, _, _ in MATRIX_TILES]
"""Of f64 on NVIDIA."""
over_layouts = pytest.mark.parametrize("layout", LAYOUTS, ids=str)


def banks(layout, lines_and_chunks):
    """The groups of four banks that chunks lie in."""
    return {layout.place(line, chunk) // CHUNK % 8 for line, chunk in lines_and_chunks}


@pytest.mark.parametrize("layout", [*LAYOUTS, *NEIGHBOURS], ids=str)
def test_each_word_has_a_place_of_its_own(layout):
    places = {layout.place(line, chunk) for line in range(layout.lines) for chunk in range(layout.chunks)}
    assert places == set(range(0, layout.total, CHUNK))
    assert CHUNK * layout.chunks >= layout.words


@over_layouts
def test_lanes_that_read_together_take_all_banks(layout):
    """Of a wave of 64 lanes 0 to 3 read with 20 to 23, and so on; of one of 32, eight lanes side by side."""
    for first, chunk in itertools.product(range(0, layout.lines, 16), range(layout.chunks)):
        for group in (0, 8):
            side_by_side = [(first + group + n, chunk) for n in range(8)]
            assert len(banks(layout, side_by_side)) == 8
            for half in (0, 4):
                near = [(first + group + half + n, chunk) for n in range(4)]
                far = [(first + group + (4 - half) + n, chunk ^ 1) for n in range(4)]
                assert len(banks(layout, near + far)) == 8


@over_layouts
def test_lanes_that_store_chunks_take_all_banks(layout):
    filled = -(-layout.words // CHUNK)
    if filled % 4:
        return  # lines that are not whole in shared memory
    every = [(layout.stored_line(n // filled), n % filled) for n in range(layout.lines * filled)]
    assert len(set(every)) == len(every)
    for first in range(0, len(every), 8):
        assert len(banks(layout, every[first : first + 8])) == 8 or filled % 8


@over_layouts
def test_lanes_that_store_transposed_blocks_take_all_banks(layout):
    """Of four terms and four lines: two blocks fill a chunk. Sixteen lanes store 8 bytes each: of two chunks, and of
    lines that are four apart."""
    for line, chunk in itertools.product(range(4), range(0, layout.chunks, 2)):
        lines = [(line + 4 * n, chunk + m) for n in range(4) for m in range(2)]
        assert len(banks(layout, lines)) == 8


@pytest.mark.parametrize("layout", NEIGHBOURS, ids=str)
def test_lanes_of_neighbouring_lines_take_all_banks(layout):
    """Eight lanes read, or store, four chunks of two lines; or store two chunks of four lines that they transposed."""
    lines = range(layout.lines)
    every = [(layout.stored_line(line), chunk) for line in lines for chunk in range(4)]
    transposed = [
        (8 * block + 2 * line + odd, 2 * pair + chunk)
        for pair in range(2)
        for odd in range(2)
        for block in range(layout.lines // 8)
        for line in range(4)
        for chunk in range(2)
    ]
    assert set(transposed) == set(every)
    for order in (every, transposed):
        for first in range(0, len(order), 8):
            assert len(banks(layout, order[first : first + 8])) == 8
