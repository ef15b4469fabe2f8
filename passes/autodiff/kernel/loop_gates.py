"""What a reversed loop carries: adjoints, and gates where a choice in it, or behind it, closes some.

A loop that finds the greatest of several roots sends what flows to one iteration alone; the gate of what flows on to
the others goes around the loop as a bit. Gates that nobody reads in the end are taken out again (`unread_gates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from pykern.passes.autodiff.rules.gates import Flow, gate_constant, is_choice
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import find


@dataclass(frozen=True)
class CarriedAdjoints:
    """`start`: what a reversed loop begins with: adjoints of some `types`, and as many gates if it is `gated`."""

    start: list[ir.Value]
    types: Sequence[ir.Type]
    gated: bool

    @classmethod
    def of(
        cls, flows: Sequence[Flow | None], types: Sequence[ir.Type], loop: ir.Operation
    ) -> CarriedAdjoints:
        """The carried adjoints for the cotangents of the results and of the values that the loop reads; None means no
        cotangent."""
        gated = any(f is not None and f.gate is not None for f in flows) or bool(find(loop, is_choice))
        empty = cls([], types, gated)
        return cls(empty.yielded(flows), types, gated)

    def flows(self, values: Sequence[ir.Value]) -> list[Flow]:
        """The arguments or results of the loop, as flows."""
        count = len(self.types)
        gates = values[count:] if self.gated else [None] * count
        return [Flow(value, gate) for value, gate in zip(values[:count], gates, strict=True)]

    def yielded(self, flows: Sequence[Flow | None]) -> list[ir.Value]:
        """Flows as values."""
        values = [
            constant(t, 0) if f is None else f.settled() for f, t in zip(flows, self.types, strict=True)
        ]
        if not self.gated:
            return values
        return [
            *values,
            *(gate_constant(f is not None) if f is None or f.gate is None else f.gate for f in flows),
        ]
