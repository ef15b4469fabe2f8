"""How an index grows with each of the things it varies by: the ends of the index space where it is largest and least.

A guess is enough, `point` follows what really happens there: products by unknown factors count as large positive ones,
what is cut off or wraps as hardly growing.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.ir.values import defining
from pykern.passes.kernels import is_constant

Variable = Hashable
"""``("id", dim)``, ``("local", dim)`` inside of a group, or the index of an `scf.for`."""
Slopes = dict[Variable, float]

UNKNOWN_FACTOR = 1000.0
_SAME = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")
_MERGED = ("arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui")
_DIVISIONS = ("arith.floordivsi", "arith.divsi", "arith.divui", "arith.ceildivsi", "arith.ceildivui", "arith.shrsi",
              "arith.shrui")  # fmt: skip
_ENDLESS = 0.001
"""The slope that is taken for that of a remainder."""


@dataclass
class SlopeReader:
    """Slopes of values, each worked out once."""

    known: dict[ir.Value, Slopes] = field(default_factory=dict)

    def of(self, value: ir.Value) -> Slopes:
        if value not in self.known:
            self.known[value] = {}  # a value that comes back to itself through a loop
            self.known[value] = self._found(value)
        return self.known[value]

    def coefficients(self, value: ir.Value) -> dict[Variable, int] | None:
        """Exact factors where the value is a sum of variables and of what does not vary; None elsewhere."""
        op = defining(value)
        if op is None:
            return {value: 1} if is_counter(value) else {}
        if op.name == "kern.global_id":
            return {_dimension("id", op): 1}
        if op.name in ("arith.addi", "arith.subi"):
            parts = [self.coefficients(v) for v in op.operands]
            if None in parts:
                return None
            sign = 1 if op.name == "arith.addi" else -1
            left, right = (p or {} for p in parts)
            return {v: left.get(v, 0) + sign * right.get(v, 0) for v in left | right}
        if op.name == "arith.muli":
            for factor, other in (op.operands, list(op.operands)[::-1]):
                number = is_constant(factor)
                if number is not None:
                    found = self.coefficients(other)
                    return None if found is None else {v: number * c for v, c in found.items()}
        if op.name == "arith.index_cast" and isinstance(op.operands[0].type, ir.IndexType):
            return self.coefficients(op.operands[0])
        return None if self.of(value) else {}

    def _found(self, value: ir.Value) -> Slopes:
        op = defining(value)
        if op is None:
            return {value: 1.0} if is_counter(value) else {}
        if op.name in ("kern.global_id", "kern.group_id"):
            return {_dimension("id", op): 1.0}
        if op.name == "kern.local_id":
            return {_dimension("local", op): 1.0}
        if op.name == "kern.local_linear_id":
            return {("local", d): 1.0 for d in range(8)}
        if op.name in _SAME:
            return self.of(op.operands[0])
        if op.name == "scf.if":
            number = list(op.results).index(value)
            ends = [list(region.blocks[0].operations)[-1].operation for region in op.regions]
            return _sum(*(self.of(end.operands[number]) for end in ends))
        if op.name == "arith.select":
            return _sum(self.of(op.operands[1]), self.of(op.operands[2]))
        if not op.name.startswith("arith.") or len(op.operands) != 2:
            return {}
        return self._of_two(op)

    def _of_two(self, op: ir.Operation) -> Slopes:
        left, right = (self.of(v) for v in op.operands)
        if op.name == "arith.subi":
            return _sum(left, _times(right, -1.0))
        if op.name == "arith.addi" or op.name in _MERGED:
            return _sum(left, right)
        numbers = [is_constant(v) for v in op.operands]
        if op.name == "arith.muli":
            factors = [UNKNOWN_FACTOR if n is None else float(n) for n in numbers]
            return _sum(_times(left, factors[1]), _times(right, factors[0]))
        if op.name in _DIVISIONS:
            return _times(left, 1 / UNKNOWN_FACTOR if numbers[1] in (None, 0) else 1 / float(numbers[1] or 1))
        return _sum(_times(left, _ENDLESS), _times(right, _ENDLESS))


def is_counter(value: ir.Value) -> bool:
    """Whether it is the index of an `scf.for`."""
    loop = value.owner.owner
    return loop.operation.name == "scf.for" and value == loop.operation.regions[0].blocks[0].arguments[0]


def _dimension(kind: str, op: ir.Operation) -> Variable:
    return kind, ir.IntegerAttr(op.attributes["dim"]).value


def _sum(*parts: Slopes) -> Slopes:
    total: Slopes = {}
    for part in parts:
        for variable, slope in part.items():
            total[variable] = total.get(variable, 0.0) + slope
    return total


def _times(slopes: Slopes, factor: float) -> Slopes:
    return {variable: factor * slope for variable, slope in slopes.items()}
