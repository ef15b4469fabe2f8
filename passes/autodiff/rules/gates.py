"""What flows back, with the condition under which anything does: its gate.

A choice between two values sends zero to the one that was not taken. Further back that zero meets partial derivatives
of what the program computed and did not use (``where(x > 0, sqrt(x), 0)``): they may be infinite, and zero times
infinity is no zero. So a flow remembers its gate, and is cut to zero where it joins others or ends. Flows under several
gates flow where any of these holds. (To test flows for zero would be wrong: their own derivatives need not be zero.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

from mlir import ir
from mlir.dialects import arith

from pykern.passes.autodiff.rules import table
from pykern.passes.autodiff.rules.expression import cast_float
from pykern.passes.ir.values import made_by

_GREATEST, _LEAST = arith.CmpFPredicate.OGE, arith.CmpFPredicate.OLE
_EXTREMA = {
    "arith.maximumf": _GREATEST,
    "arith.maxnumf": _GREATEST,
    "arith.minimumf": _LEAST,
    "arith.minnumf": _LEAST,
}
FINITE = frozenset(
    {"arith.addf", "arith.subf", "arith.negf", "arith.extf", "arith.truncf", *_EXTREMA, "arith.select"}
)
"""Ops whose rules multiply what flows by 0, 1 or -1, whatever the operands are."""


@dataclass(frozen=True)
class Flow:
    """`value` flows where `gate` holds (everywhere, if None); `factored`: multiplied since it was cut to that."""

    value: ir.Value
    gate: ir.Value | None = None
    factored: bool = False

    def joined(self, other: Flow) -> Flow:
        """The sum of two flows, with the gates joined by "or"."""
        if self.gate is not None and other.gate is not None and self.gate == other.gate:
            return Flow(arith.addf(self.value, other.value), self.gate, self.factored or other.factored)
        total = arith.addf(self.settled(), other.settled())
        return Flow(total, either(self.gate, other.gate))

    def settled(self) -> ir.Value:
        """The value, zero where nothing flows."""
        if self.gate is None or not self.factored:
            return self.value
        return arith.select(self.gate, self.value, arith.constant(self.value.type, 0.0))

    def cut(self) -> Flow:
        """The same flow, its value set to zero where the gate is closed."""
        return Flow(self.settled(), self.gate)

    def cast(self, type: ir.Type) -> Flow:
        return self if self.value.type == type else replace(self, value=cast_float(self.value, type))


def either(a: ir.Value | None, b: ir.Value | None) -> ir.Value | None:
    """The gate of two flows together; None, which is always open, if one of them is."""
    if a is None or b is None or a == b:
        return None if a is None or b is None else a
    return arith.ori(a, b)


def both(a: ir.Value | None, b: ir.Value | None) -> ir.Value | None:
    """The gate of what goes through two gates, one behind the other."""
    if a is None or b is None or a == b:
        return b if a is None else a
    return arith.andi(a, b)


def chooses(op: ir.Operation, operand: int) -> bool:
    """Whether the op takes or leaves the operand: `choice` gives the condition."""
    return op.name in _EXTREMA or (op.name == "arith.select" and operand > 0)


def choice(op: ir.Operation, operand: int, values: dict[str, ir.Value]) -> ir.Value | None:
    """The condition under which the op takes the operand, None if it always does."""
    if not chooses(op, operand):
        return None
    if op.name != "arith.select":
        own, other = (values["x"], values["y"]) if operand == 0 else (values["y"], values["x"])
        return arith.cmpf(_EXTREMA[op.name], own, other)
    condition = values["x"]
    return condition if operand == 1 else arith.xori(condition, arith.constant(condition.type, 1))


def may_be_infinite(op: ir.Operation, operand: int) -> bool:
    """Whether the partial derivative can be infinite or NaN at some operands."""
    return op.name not in FINITE and not all(map(_is_finite, table.reads(op, operand).values()))


_BOUNDED = frozenset({
    "arith.mulf", "math.fma", "math.absf", "math.copysign", "math.sin", "math.cos", "math.tanh", "math.atan",
    "math.asinh", "math.erf", "math.erfc",
})  # fmt: skip
"""Ops whose partial derivatives are finite at all finite operands."""


def is_singular(op: ir.Operation) -> bool:
    """Whether a partial derivative of the op can be infinite where its operands are not."""
    places = range(len(op.operands)) if table.has_rule(op) and op.name not in _BOUNDED else ()
    return any(may_be_infinite(op, place) for place in places)


def is_choice(op: ir.Operation) -> bool:
    """Whether the op takes some floats and leaves others: a select, an extremum, a branch, what overwrites a part."""
    if op.name in ("scf.if", "tensor.insert", "tensor.insert_slice"):
        return True
    return any(chooses(op, k) and _holds_floats(v.type) for k, v in enumerate(op.operands))


def _holds_floats(kind: ir.Type) -> bool:
    return isinstance(kind.element_type if isinstance(kind, ir.ShapedType) else kind, ir.FloatType)


def _is_finite(value: ir.Value) -> bool:
    """Whether the value is a constant that is a number."""
    maker = made_by(value, "arith.constant")
    attribute = None if maker is None else maker.attributes["value"]
    return isinstance(attribute, ir.FloatAttr) and isfinite(attribute.value)


def through(op: ir.Operation, operand: int, values: dict[str, ir.Value], flow: Flow) -> Flow | None:
    """What flows on to `operand` from what flows to the op's result; None where the rule is zero.

    `values` are the primal ones, by the names that rules have for operands and the result.
    """
    part = table.vjp(op, operand, values, flow.value)
    if part is None:
        return None
    gate = both(flow.gate, choice(op, operand, values))
    factored = flow.factored or may_be_infinite(op, operand)
    return Flow(part, gate, factored)


def gate_constant(open: bool) -> ir.Value:
    """A gate that is always open, or never."""
    kind = ir.IntegerType.get_signless(1)
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, int(open))).result
