"""`//` and `%` of signed integers by powers of two, as Python rounds: a shift and a mask.

Comes in: kernels before they run in lanes, and the loops of array programs. Goes out: the same, without the divisions
LLVM would keep exact for negative numbers: to round towards minus infinity is what shifts do by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.floor_division import floor_remainder
from pykern.passes.kernels import is_constant, named, replace


@dataclass(frozen=True)
class ShiftDivisions(Pass):
    """Turn divisions by powers of two into shifts.

    In:  `arith.floordivsi` by 2^k; the remainder of Python's `%`, as the frontend writes it: `r = remsi(x, 2^k)`, and
         `r + 2^k` where r is negative.
    Out: `arith.shrsi` by k; `arith.andi` with 2^k - 1.
    """

    name: ClassVar[str] = "kern-shift-divisions"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.floordivsi", "arith.remsi")

    def run(self, module: ir.Module) -> None:
        for kernel in (*kernels.kernels(module), *kernels.programs(module)):
            for op in named(kernel, "arith.floordivsi"):
                if (power := _power_of_two(op.operands[1])) is not None:
                    with ir.InsertionPoint(op), op.location:
                        shift = _like(op.operands[1], power.bit_length() - 1)
                        replace(op, [arith.ShRSIOp(op.operands[0], shift).result])
            for op in named(kernel, "arith.select"):
                remainder = floor_remainder(op)
                power = None if remainder is None else _power_of_two(remainder.operands[1])
                if remainder is not None and power is not None:
                    with ir.InsertionPoint(op), op.location:
                        x, divisor = remainder.operands
                        mask = _like(divisor, power - 1)
                        replace(op, [arith.AndIOp(x, mask).result])


def _power_of_two(value: ir.Value) -> int | None:
    found = is_constant(value)
    return found if found is not None and found > 0 and not found & (found - 1) else None


def _like(value: ir.Value, number: int) -> ir.Value:
    return arith.ConstantOp(value.type, ir.IntegerAttr.get(value.type, number)).result
