"""`//` and `%` of signed integers by powers of two, as Python rounds: a shift and a mask.

Comes in: kernels before they run in lanes. Goes out: the same, without the divisions LLVM would keep exact for negative
numbers: to round towards minus infinity is what shifts do by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.values import defining, made_by
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
        for kernel in kernels.kernels(module):
            for op in named(kernel, "arith.floordivsi"):
                if (power := _power_of_two(op.operands[1])) is not None:
                    with ir.InsertionPoint(op), op.location:
                        shift = _like(op.operands[1], power.bit_length() - 1)
                        replace(op, [arith.ShRSIOp(op.operands[0], shift).result])
            for op in named(kernel, "arith.select"):
                if (remainder := _remainder(op)) is not None:
                    with ir.InsertionPoint(op), op.location:
                        x, divisor = remainder.operands
                        mask = _like(divisor, (_power_of_two(divisor) or 1) - 1)
                        replace(op, [arith.AndIOp(x, mask).result])


def _power_of_two(value: ir.Value) -> int | None:
    found = is_constant(value)
    return found if found is not None and found > 0 and not found & (found - 1) else None


def _remainder(select: ir.Operation) -> ir.Operation | None:
    """The `remsi` of ``select(r != 0 & (r ^ d) < 0, r + d, r)``, d a power of two."""
    condition, moved, plain = (defining(value) for value in select.operands)
    if plain is None or plain.name != "arith.remsi" or _power_of_two(plain.operands[1]) is None:
        return None
    rest, divisor = plain.results[0], plain.operands[1]
    if moved is None or moved.name != "arith.addi" or list(moved.operands) != [rest, divisor]:
        return None
    if condition is None or condition.name != "arith.andi":
        return None
    differs, signs = condition.operands
    mixed = _compared_with_nil(signs, arith.CmpIPredicate.slt)
    xor = None if mixed is None else defining(mixed)
    is_ours = (
        _compared_with_nil(differs, arith.CmpIPredicate.ne) == rest
        and xor is not None
        and xor.name == "arith.xori"
        and list(xor.operands) == [rest, divisor]
    )
    return plain if is_ours else None


def _compared_with_nil(value: ir.Value, predicate: arith.CmpIPredicate) -> ir.Value | None:
    """The value that is compared with zero."""
    op = made_by(value, "arith.cmpi")
    if op is None or is_constant(op.operands[1]) != 0:
        return None
    return op.operands[0] if ir.IntegerAttr(op.attributes["predicate"]).value == predicate.value else None


def _like(value: ir.Value, number: int) -> ir.Value:
    return arith.ConstantOp(value.type, ir.IntegerAttr.get(value.type, number)).result
