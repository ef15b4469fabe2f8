"""Where a product's factors lie in shared memory: each word once, and no two of an access in one bank."""

from __future__ import annotations

import itertools

import pytest

from pykern.dialect.matrix_units import UNITS
from pykern.passes.analysis.cost_model.devices import (
    MATRIX_ATTENTION_DEPTH,
    MATRIX_ATTENTION_KEYS,
    MATRIX_ATTENTION_WIDTH,
    MATRIX_TILES,
)
from pykern.passes.codegen.device.matrix_layout import CHUNK_WORDS, MatrixTile, PanelLayout

BANKS = 32
LAYOUTS = [
    PanelLayout(lines, by_terms)
    for lines, by_terms in itertools.product([side for side, _, _ in MATRIX_TILES], (False, True))
]
ATTENTION = [
    PanelLayout(lines, by_terms, terms // 2)
    for (lines, terms), by_terms in itertools.product(
        [(MATRIX_ATTENTION_KEYS, depth) for depth in (16, 48, 80, 128, 256)] + [(80, MATRIX_ATTENTION_KEYS)],
        (False, True),
    )
]
over_layouts = pytest.mark.parametrize("layout", LAYOUTS, ids=str)
over_all = pytest.mark.parametrize("layout", [*LAYOUTS, *ATTENTION], ids=str)


def chunk_banks(layout, rows_and_chunks):
    """The groups of four banks that chunks lie in."""
    return {layout.word(row, chunk * CHUNK_WORDS) // CHUNK_WORDS % 8 for row, chunk in rows_and_chunks}


@over_all
def test_each_word_has_a_place_of_its_own(layout):
    places = {layout.word(row, word) for row in range(layout.outer) for word in range(layout.row_words)}
    assert places == set(range(layout.words))
    assert 2 * layout.words >= layout.lines * layout.terms
    assert 2 * layout.words == layout.lines * layout.terms or layout in ATTENTION, "chunks that nobody fills"


@over_all
def test_eight_rows_of_a_matrix_lie_in_all_banks(layout):
    """What eight lanes of `ldmatrix` read at once."""
    for first, chunk in itertools.product(range(0, layout.outer, 8), range(layout.row_chunks)):
        assert len(chunk_banks(layout, [(first + row, chunk) for row in range(8)])) == 8


@over_layouts
def test_eight_copies_lie_in_all_banks(layout):
    """What eight lanes write at once, chunk by chunk."""
    every = [(row, chunk) for row in range(layout.outer) for chunk in range(layout.row_chunks)]
    for first in range(0, len(every), 8):
        assert len(chunk_banks(layout, every[first : first + 8])) == 8


@over_layouts
def test_words_that_a_subgroup_stores_lie_in_all_banks(layout):
    every = [layout.word(row, word) for row in range(layout.outer) for word in range(layout.row_words)]
    for first in range(0, len(every), BANKS):
        assert len({place % BANKS for place in every[first : first + BANKS]}) == BANKS


@pytest.mark.parametrize("copied", [(True, True), (True, False)])
@pytest.mark.parametrize("side", [side for side, _, _ in MATRIX_TILES])
def test_slots_fit_in_what_code_may_ask_for(side, copied):
    words = 2 * PanelLayout(side, True).words
    instruction = UNITS["m16n8k16"]["f16", "f16"]
    assert MatrixTile.of_side(side, copied, instruction).slots * words * 4 <= 48 * 1024


def test_keys_and_values_of_attention_fit_too():
    keys = PanelLayout(MATRIX_ATTENTION_KEYS, True, MATRIX_ATTENTION_DEPTH // 2)
    values = PanelLayout(MATRIX_ATTENTION_WIDTH, False, MATRIX_ATTENTION_KEYS // 2)
    assert (keys.words + values.words) * 4 <= 48 * 1024
