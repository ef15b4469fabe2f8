"""The cotangents known so far, by primal value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mlir import ir

from pykern.passes.autodiff.tensor.builder import add
from pykern.passes.autodiff.tensor.gates import Gate, MaybeGate, either, emitted, shut
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.values import element, is_tensor, zeros_like
from pykern.passes.ir.boxes import Box
from pykern.passes.ir.lengths import empty, empty_like


@dataclass(frozen=True)
class Hollow:
    """The cotangent that is `whole` with zero in `hole`; `make` makes it, over `whole`.

    It is made as late as can be: it overwrites a tensor that others read before. `hole` is None where
    it is no box that is known.
    """

    whole: ir.Value
    hole: Box | None
    make: Callable[[], ir.Value]


class Cotangents:
    """Sums up what flows to each value that varies; the rest is let go.

    `singular`: some partial derivative of the program may be infinite, so that loops carry gates.
    """

    def __init__(self, varied: set[ir.Value], singular: bool) -> None:
        self.varied, self.singular = varied, singular
        self._held: dict[ir.Value, ir.Value] = {}
        self._hollow: dict[ir.Value, Hollow] = {}
        self._gates: dict[ir.Value, Gate] = {}

    def inside(self) -> Cotangents:
        """New, empty cotangents for a region."""
        return Cotangents(self.varied, self.singular)

    def add(self, value: ir.Value, cotangent: ir.Value | None, gate: MaybeGate = None) -> None:
        """More flows to `value`, where `gate` is open; it is zero elsewhere."""
        if cotangent is not None and value in self.varied:
            known, held = self.gate(value), self.take(value)
            self._held[value] = cotangent if held is None else add(held, cotangent)
            self._set_gate(value, gate if held is None else either(known, gate))

    def add_hollow(self, value: ir.Value, hollow: Hollow, gate: MaybeGate = None) -> None:
        if value in self.varied:
            known, held = self.gate(value), self.take(value)
            if held is None:
                self._hollow[value] = hollow
            else:
                self._held[value] = add(held, hollow.make())
            self._set_gate(value, gate if held is None else either(known, gate))

    def gate(self, value: ir.Value) -> MaybeGate:
        """Where anything flows to `value`; to be asked for before what flows is taken."""
        return self._gates.get(value)

    def _set_gate(self, value: ir.Value, gate: MaybeGate) -> None:
        if gate is not None:
            self._gates[value] = gate

    def take(self, value: ir.Value) -> ir.Value | None:
        """Remove and return the cotangent; the caller adds to it and puts it back, or uses it."""
        self._gates.pop(value, None)
        if value in self._hollow:
            return self._hollow.pop(value).make()
        return self._held.pop(value, None)

    def take_hollow(self, value: ir.Value) -> Hollow | None:
        """What is known where that is `Hollow` with a known hole; then it is not made."""
        if value in self._hollow and self._hollow[value].hole is not None:
            self._gates.pop(value, None)
            return self._hollow.pop(value)
        return None

    def any(self, values: Iterable[ir.Value]) -> bool:
        return any(value in self._held or value in self._hollow for value in values)

    def check_all_taken(self) -> None:
        """Nothing may be left behind: it would be a part of a gradient that is lost."""
        left = [*self._held, *self._hollow]
        assert not left, f"cotangents of {left} went nowhere"

    def take_or_zero(self, value: ir.Value, scope: Scope) -> ir.Value:
        held = self.take(value)
        return zero(value, scope) if held is None else held


def gate_of(value: ir.Value, cotangents: Cotangents, scope: Scope) -> ir.Value:
    """The gate of what flows to `value`, to be carried out of a region."""
    return gate_bits(value, cotangents.gate(value), cotangents.any([value]), scope)


def gate_bits(value: ir.Value, gate: MaybeGate, flows: bool, scope: Scope) -> ir.Value:
    """The gate of a value to which something flows where `gate` is open, or nothing."""
    static = not is_tensor(value) or ir.RankedTensorType(value.type).has_static_shape
    like = value if static else scope.value(value)
    return emitted(gate, like) if flows else shut(like)


def blank(value: ir.Value, scope: Scope) -> ir.Value:
    """A tensor of the type of `value` without contents."""
    type = ir.RankedTensorType(value.type)
    return empty(list(type.shape), element(type)) if type.has_static_shape else empty_like(scope.value(value))


def zero(value: ir.Value, scope: Scope) -> ir.Value:
    """Zero of the type of a primal value."""
    if is_tensor(value) and not ir.RankedTensorType(value.type).has_static_shape:
        return zeros_like(scope.value(value))
    return zeros_like(value)
