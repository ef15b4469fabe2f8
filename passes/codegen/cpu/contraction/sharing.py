"""How threads share the tiles of a packed product: tiles of rows, or tiles of rows in each panel.

Comes in: how many tiles of rows there are, and how many make a block. Goes out: whether threads take pieces alike of
what is numbered panel by panel, in each of them row by row: 11 tiles of rows were 6 and 5, 11 in each of 4 panels are
22 and 22. Who computes a tile changes nothing in it.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from pykern.passes.analysis.cost_model.threads import EVEN_SHARE
from pykern.passes.ir.lengths import Number, as_value, least, minus, most, plus, times
from pykern.passes.kernels import index_constant

Span = tuple[Number, Number]
"""The first one, and how many."""


def by_panels(rows: int, block: int) -> bool:
    """Whether panels are shared, too. Only where the left factor is one block: each panel goes by it alone anyway."""
    return rows <= block and (rows + 1) // 2 * 2 > EVEN_SHARE * rows


def panels_between(rows: int, lo: ir.Value, hi: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The panels that hold the tiles `lo` to `hi`, counted through all of them."""
    return as_value(_divided(lo, rows)), as_value(_divided(plus(hi, rows - 1), rows))


def rows_in(panel: ir.Value, rows: int, lo: ir.Value, hi: ir.Value) -> Span:
    """Of the tiles `lo` to `hi` those in one panel."""
    before = times(panel, rows)
    begin = most(minus(lo, before), 0)
    return begin, most(minus(least(minus(hi, before), rows), begin), 0)


def _divided(number: Number, by: int) -> Number:
    """The quotient of a number that is not negative."""
    return number if by == 1 else arith.DivUIOp(as_value(number), index_constant(by)).result
