"""How threads share the tiles of a packed product: tiles of rows, or tiles of rows in parts of the panels.

Comes in: how many tiles of rows and panels of columns there are, and how many of rows make a block. Goes out: into how
many parts the panels are cut. Threads take pieces alike of what is numbered part by part, in it row by row: 11 tiles
of rows were 6 and 5, 11 in each of 4 panels are 22 and 22. Who computes a tile changes nothing in it.
"""

from __future__ import annotations

import itertools

from mlir import ir
from mlir.dialects import arith

from pykern.passes.kernels import index_constant
from pykern.passes.schedules.access import Number, as_value, least, minus, most, plus, times

TEAMS = (2, 4, 8)
"""Numbers of threads that are to be busy alike."""
PARTS = (1, 2, 4)
AGAIN = 0.01
"""What a part costs that goes through all blocks of the left factor again, of the whole time."""

Span = tuple[Number, Number]
"""The first one, and how many."""


def parts_of(rows: int, panels: int, block: int) -> int:
    """Parts of the panels. Where the left factor is one block, each panel goes by it alone anyway."""
    if rows <= block:
        return panels
    return min(
        (p for p in PARTS if p <= panels), key=lambda parts: slack(rows, panels, parts) + AGAIN * parts
    )


def slack(rows: int, panels: int, parts: int) -> float:
    """The busiest thread's time over its share, in the mean of all teams."""
    return sum(busiest(rows, panels, parts, team) * team for team in TEAMS) / (len(TEAMS) * rows * panels)


def busiest(rows: int, panels: int, parts: int, team: int) -> int:
    """Tiles of the thread with most of them."""
    bounds = [rows * parts * n // team for n in range(team + 1)]
    wide = [panels * (part + 1) // parts - panels * part // parts for part in range(parts)]
    return max(
        sum(w * max(0, min(hi - n * rows, rows) - max(lo - n * rows, 0)) for n, w in enumerate(wide))
        for lo, hi in itertools.pairwise(bounds)
    )


def parts_between(rows: int, lo: ir.Value, hi: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The parts that hold the tiles `lo` to `hi`, counted through all of them."""
    return as_value(_divided(lo, rows)), as_value(_divided(plus(hi, rows - 1), rows))


def rows_in(part: ir.Value, rows: int, lo: ir.Value, hi: ir.Value) -> Span:
    """Of the tiles `lo` to `hi` those in one part."""
    before = times(part, rows)
    begin = most(minus(lo, before), 0)
    return begin, most(minus(least(minus(hi, before), rows), begin), 0)


def panels_of(part: ir.Value, panels: int, parts: int) -> Span:
    """The panels of a part."""
    if panels % parts == 0:
        return times(part, panels // parts), panels // parts
    begin = _divided(times(part, panels), parts)
    return begin, minus(_divided(times(plus(part, 1), panels), parts), begin)


def _divided(number: Number, by: int) -> Number:
    """Of what is not negative."""
    return number if by == 1 else arith.DivUIOp(as_value(number), index_constant(by)).result
