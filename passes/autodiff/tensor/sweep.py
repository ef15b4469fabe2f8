"""The scalar body of a linalg op: recomputed on demand, and swept backwards or forwards by the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mlir import ir

from pykern.passes.autodiff.rules import table
from pykern.passes.autodiff.rules.gates import Flow, both, choice, chooses, either, through
from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.values import is_float
from pykern.passes.ir.clone import clone
from pykern.passes.ir.structured import Structured
from pykern.passes.ir.values import defining, free_values

Elements = dict[ir.Value, ir.Value]


class Recomputed:
    """Values of the body, cloned into another body where they are read.

    `element(k)` gives body argument k, `outer(v)` a value from outside, `position(d)` the index of loop d.
    """

    def __init__(
        self,
        op: Structured,
        element: Callable[[int], ir.Value],
        outer: Callable[[ir.Value], ir.Value],
        position: Callable[[int], ir.Value],
    ) -> None:
        self.op, self.element, self.outer, self.position = op, element, outer, position
        self._known: Elements = {}

    def value(self, value: ir.Value) -> ir.Value:
        if value not in self._known:
            self._known[value] = self._compute(value)
        return self._known[value]

    def _compute(self, value: ir.Value) -> ir.Value:
        op = defining(value)
        if op is None and value.owner == self.op.block:
            return self.element(self.op.arguments.index(value))
        if op is None or op.block != self.op.block:
            return self.outer(value)
        if op.name == "linalg.index":
            return self.position(ir.IntegerAttr(op.attributes["dim"]).value)
        return clone(op, self.value).results[0]


def backward(
    op: Structured,
    primal: Recomputed,
    seeds: Iterable[tuple[ir.Value, Flow]],
    targets: Iterable[ir.Value],
) -> dict[ir.Value, Flow]:
    """What flows to `targets` (values of the body, or captured), from what enters at `seeds`."""
    leading = _depending(op, targets)
    cotangents: dict[ir.Value, Flow] = {}

    def flow(value: ir.Value, cotangent: Flow) -> None:
        if value in leading:
            held = cotangents.get(value)
            cotangents[value] = cotangent if held is None else held.joined(cotangent)

    for value, seed in seeds:
        flow(value, seed)
    targets = set(targets)
    for inner in reversed(op.ops):
        result = inner.results[0] if len(inner.results) else None
        if result not in cotangents or result in targets:
            continue
        cotangent = cotangents.pop(result)
        _check(inner)
        for place, operand in enumerate(inner.operands):
            if operand in leading and not table.is_cut(inner):
                values = {name: primal.value(v) for name, v in table.reads(inner, place).items()}
                part = through(inner, place, values, cotangent)
                if part is not None:
                    flow(operand, part)
    return cotangents


def gates_back(
    op: Structured,
    primal: Recomputed,
    seeds: Iterable[tuple[ir.Value, ir.Value | None]],
    targets: Iterable[ir.Value],
) -> dict[ir.Value, ir.Value | None]:
    """The gates of what flows to `targets`, from those at `seeds`."""

    def condition(inner: ir.Operation, place: int) -> ir.Value | None:
        values = (
            {name: primal.value(v) for name, v in table.reads(inner, place).items()}
            if chooses(inner, place)
            else {}
        )
        return choice(inner, place, values)

    return _gates_back(op, seeds, targets, condition, either, both)


def gated(
    op: Structured, seeds: Iterable[tuple[ir.Value, bool]], targets: Iterable[ir.Value]
) -> dict[ir.Value, bool]:
    """For those of `targets` to which anything flows, whether all of it flows under gates; nothing is emitted."""
    found = _gates_back(
        op,
        ((value, True if closed else None) for value, closed in seeds),
        targets,
        lambda inner, place: True if chooses(inner, place) else None,
        lambda a, b: a and b,
        lambda a, b: a or b,
    )
    wanted = set(targets)
    return {value: bool(gate) for value, gate in found.items() if value in wanted}


def _gates_back(
    op: Structured,
    seeds: Iterable[tuple[ir.Value, Any]],
    targets: Iterable[ir.Value],
    condition: Callable[[ir.Operation, int], Any],
    either: Callable[[Any, Any], Any],
    both: Callable[[Any, Any], Any],
) -> dict[ir.Value, Any]:
    """The sweep of `backward` over gates alone; None is open."""
    leading = _depending(op, targets)
    found: dict[ir.Value, Any] = {}

    def flow(value: ir.Value, gate: Any) -> None:
        if value in leading:
            found[value] = either(found[value], gate) if value in found else gate

    for value, gate in seeds:
        flow(value, gate)
    targets = set(targets)
    for inner in reversed(op.ops):
        result = inner.results[0] if len(inner.results) else None
        if result not in found or result in targets:
            continue
        gate = found.pop(result)
        for place, operand in enumerate(inner.operands):
            if (
                operand in leading
                and not table.is_cut(inner)
                and table.partial(inner, place) not in (None, "0")
            ):
                flow(operand, both(gate, condition(inner, place)))
    return found


def forward(op: Structured, primal: Recomputed, tangents: Elements) -> Elements:
    """`tangents`, completed by those of the body's values that have one."""
    known = dict(tangents)
    for inner in op.ops:
        if not any(v in known for v in free_values(inner)) or not is_float(inner.results[0].type):
            continue
        if inner.results[0] in known or table.is_cut(inner):
            continue
        _check(inner)
        values = {
            name: primal.value(v)
            for place, operand in enumerate(inner.operands)
            if operand in known
            for name, v in table.reads(inner, place).items()
        }
        tangent = table.jvp(inner, values, [known.get(operand) for operand in inner.operands])
        if tangent is not None:
            known[inner.results[0]] = tangent
    return known


def _depending(op: Structured, targets: Iterable[ir.Value]) -> set[ir.Value]:
    found = set(targets)
    for inner in op.ops:
        if any(v in found for v in free_values(inner)):
            found.update(r for r in inner.results if is_float(r.type))
    return found


def _check(inner: ir.Operation) -> None:
    if not table.has_rule(inner) and not table.is_cut(inner):
        raise refused(inner, f"`{inner.name}` has no rule of differentiation")
