"""`//` and `%` of Python, as the frontend writes them in several ops.

Comes in: ops of a loop or a kernel. Goes out: `FloorDivision`s: which result is the quotient or the remainder of which
two values. Python's remainder has the divisor's sign, and a division by zero gives 0 rather than to trap.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import find, is_constant


@dataclass(frozen=True)
class FloorDivision:
    """One division: `op` gives its result."""

    op: ir.Operation
    dividend: ir.Value
    divisor: ir.Value
    is_remainder: bool

    @property
    def never_traps(self) -> bool:
        """Whether it may be computed for any dividend: the divisor is a number, or tested."""
        number = is_constant(self.divisor)
        return self.op.name == "arith.select" if number is None else number not in (0, -1)


def floor_divisions(root: ir.Operation) -> list[FloorDivision]:
    """The divisions within `root`, with the tests for a divisor of zero around them."""
    found: list[FloorDivision] = []
    for op in find(root, lambda op: op.name in ("arith.floordivsi", "arith.select")):
        division = op if op.name == "arith.floordivsi" else floor_remainder(op)
        if division is not None:
            dividend, divisor = division.operands
            divisor = _tested(divisor)
            found.append(FloorDivision(_outermost(op, divisor), dividend, divisor, division is not op))
    return found


def floor_remainder(select: ir.Operation) -> ir.Operation | None:
    """The `remsi` of ``select(r != 0 & (r ^ d) < 0, r + d, r)``, which is Python's `%`."""
    condition, moved, plain = (defining(value) for value in select.operands)
    if plain is None or plain.name != "arith.remsi":
        return None
    rest, divisor = plain.results[0], plain.operands[1]
    if moved is None or moved.name != "arith.addi" or list(moved.operands) != [rest, divisor]:
        return None
    if condition is None or condition.name != "arith.andi":
        return None
    differs, signs = condition.operands
    mixed = compared_with_zero(signs, arith.CmpIPredicate.slt)
    xor = None if mixed is None else defining(mixed)
    tested = compared_with_zero(differs, arith.CmpIPredicate.ne)
    is_ours = (
        tested is not None
        and tested == rest
        and xor is not None
        and xor.name == "arith.xori"
        and list(xor.operands) == [rest, divisor]
    )
    return plain if is_ours else None


def compared_with_zero(value: ir.Value, predicate: arith.CmpIPredicate) -> ir.Value | None:
    """The value that is compared with zero."""
    op = made_by(value, "arith.cmpi")
    if op is None or is_constant(op.operands[1]) != 0:
        return None
    return op.operands[0] if ir.IntegerAttr(op.attributes["predicate"]).value == predicate.value else None


def _tested(divisor: ir.Value) -> ir.Value:
    """`d` of ``select(d == 0 | overflows, 1, d)``."""
    op = made_by(divisor, "arith.select")
    return op.operands[2] if op is not None and is_constant(op.operands[1]) == 1 else divisor


def _outermost(op: ir.Operation, divisor: ir.Value) -> ir.Operation:
    """The ``select(d == 0, 0, result)`` around a result, or `op` itself."""
    users = [use.owner.operation for use in op.results[0].uses]
    only = users[0] if len(users) == 1 else None
    if only is None or only.name != "arith.select" or is_constant(only.operands[1]) != 0:
        return op
    tested = compared_with_zero(only.operands[0], arith.CmpIPredicate.eq)
    is_test = tested is not None and tested == divisor
    return only if is_test and only.operands[2] == op.results[0] else op
