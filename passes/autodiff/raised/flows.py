"""Cotangents inside of a body, each with the condition under which anything flows.

A choice between two values sends zero to the one that was not taken. Further back that zero meets partial
derivatives of what was not computed by the program as it was written (``sqrt(x) if x > 0 else 0``): they may be
infinite, and zero times infinity is no zero. So a flow remembers its condition, and is cut to zero where it
joins others or ends. (To test flows for zero would be wrong: their own derivatives need not be zero there.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mlir import ir
from mlir.dialects import arith


@dataclass(frozen=True)
class Flow:
    """`value` flows where `gate` holds (everywhere, if None); `factored`: it was multiplied since it was gated."""

    value: ir.Value
    gate: ir.Value | None = None
    factored: bool = False

    def times(self, part: ir.Value, factored: bool) -> Flow:
        """What flows on behind a partial derivative."""
        return replace(self, value=part, factored=self.factored or factored)

    def chosen(self, part: ir.Value, condition: ir.Value, side: bool) -> Flow:
        """What flows to one side of a choice."""
        if not side:
            condition = arith.xori(condition, arith.constant(condition.type, 1))
        gate = condition if self.gate is None else arith.andi(self.gate, condition)
        return Flow(part, gate, self.factored)

    def joined(self, other: Flow) -> Flow:
        if self.gate is not None and other.gate is not None and self.gate == other.gate:
            return Flow(arith.addf(self.value, other.value), self.gate, self.factored or other.factored)
        return Flow(arith.addf(self.settled(), other.settled()))

    def settled(self) -> ir.Value:
        """The value, zero where nothing flows."""
        if self.gate is None or not self.factored:
            return self.value
        zero = arith.constant(self.value.type, 0.0)
        return arith.select(self.gate, self.value, zero)
