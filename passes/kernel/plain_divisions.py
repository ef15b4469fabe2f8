"""`//` and `%` of integers that are never negative: the machine's own division rounds as Python does.

Comes in: kernels whose indices have their ranges. Goes out: the same with fewer ops. Read next:
`pykern.passes.analysis.integer_ranges`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes import kernels
from pykern.passes.analysis.integer_ranges import Ranges
from pykern.passes.framework import Pass
from pykern.passes.ir.floor_division import floor_remainder
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class PlainDivisions(Pass):
    """Leave away what rounds quotients of negative numbers down.

    In:  `arith.floordivsi`, and Python's `%` as the frontend writes it.
    Out: `arith.divsi` and `arith.remsi`, where neither operand is negative.
    """

    name: ClassVar[str] = "kern-plain-divisions"
    looks_for: ClassVar[tuple[str, ...]] = ("arith.floordivsi", "arith.remsi")

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            _plain(kernel)


def _plain(kernel: ir.Operation) -> None:
    ranges = Ranges()
    for op in named(kernel, "arith.floordivsi", "arith.select"):
        is_quotient = op.name == "arith.floordivsi"
        division = op if is_quotient else floor_remainder(op)
        if division is None or not all(ranges.of(value).is_nonnegative for value in division.operands):
            continue
        with ir.InsertionPoint(op), op.location:
            made = arith.DivSIOp(*op.operands).result if is_quotient else division.results[0]
            replace(op, [made])
            ranges = Ranges()  # it knows values by their place in memory
