"""A square matrix in vectors, one a row, transposed by exchanges between registers.

Comes in: as many vectors as each has elements. Goes out: the columns. Who asks: copies of factors (`block_packing`),
transposed ops, and sums of several rows at once (`ordered`).
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import vector

from pykern.passes.analysis.cost_model.registers import EXCHANGE_BITS


def transposed_square(lines: list[ir.Value], bits: int) -> list[ir.Value]:
    """Transpose a square matrix that is held in vectors, one a row."""
    wide = len(lines)
    columns = [list(range(wide))] * wide  # of the square that the elements of each line came from
    for size, low, high in exchanges(wide, min(wide, max(1, EXCHANGE_BITS // bits))):
        made, came = list(lines), list(columns)
        for n in (n for n in range(wide) if not n & size):
            for place, mask in ((n, low), (n + size, high)):
                made[place] = vector.ShuffleOp(lines[n], lines[n + size], mask).result
                both = columns[n] + columns[n + size]
                came[place] = [both[m] for m in mask]
        lines, columns = made, came
    return [line for _, line in sorted(zip((c[0] for c in columns), lines, strict=True), key=lambda x: x[0])]


def exchanges(wide: int, part: int) -> list[tuple[int, list[int], list[int]]]:
    """Steps that transpose a square: lines so far apart change groups of so many elements, by two shuffles.

    Groups smaller than a part stay in their part of a register: one instruction each.
    """
    steps = []
    size = 1
    while size < wide:
        unit = part if size < part else wide
        low, high = (
            [
                source + begin + half + group + n
                for begin in range(0, wide, unit)
                for group in range(0, unit // 2, size)
                for source in (0, wide)
                for n in range(size)
            ]
            for half in (0, unit // 2)
        )
        steps.append((size, low, high))
        size *= 2
    return steps
