"""Carried values that only collect: `acc = combine(acc, value)`, under conditions and over inner loops.

Comes in: what a loop yields for a carried value. Goes out: a `Contribution`, or None where the value
is no reduction (a recurrence, a value that is looked at on the way).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.passes.raise_to_linalg.builder import Builder
from pykern.passes.raise_to_linalg.conditions import joined, literals
from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Carried,
    Expression,
    Fold,
    Mask,
    expressions_of,
    form_of_value,
    reachable,
)
from pykern.passes.raise_to_linalg.forms import Dim

NEUTRAL: dict[str, float] = {
    "arith.addf": -0.0, "arith.mulf": 1.0, "arith.maximumf": -math.inf, "arith.minimumf": math.inf,
    "arith.maxnumf": math.nan, "arith.minnumf": math.nan, "arith.addi": 0, "arith.muli": 1,
    "arith.andi": -1, "arith.ori": 0, "arith.xori": 0, "arith.maxui": 0, "arith.minui": -1,
}  # fmt: skip
"""Neutral elements: they change nothing when combined, bit for bit."""
COMBINING = {*NEUTRAL, "arith.maxsi", "arith.minsi"}
_OPPOSITE = {"arith.subf": "arith.addf", "arith.subi": "arith.addi"}


@dataclass(frozen=True)
class Contribution:
    """`combine(acc, value)` at every position of `dims` where `mask` holds."""

    combine: str
    value: Expression
    dims: tuple[Dim, ...] = ()
    mask: Mask = ()
    attributes: dict[str, ir.Attribute] = field(default_factory=dict)


def neutral(builder: Builder, combine: str, kind: ir.Type) -> Expression:
    if combine in ("arith.maxsi", "arith.minsi"):
        width = ir.IntegerType(kind).width if isinstance(kind, ir.IntegerType) else 64
        least = -(1 << (width - 1))
        return builder.number(least if combine == "arith.maxsi" else -1 - least, kind)
    return builder.number(NEUTRAL[combine], kind)


def contribution(builder: Builder, value: Expression, carried: Expression) -> Contribution | None:
    """What `value` adds to `carried`, None where it is not of that kind."""
    if isinstance(value, Fold):
        return _of_fold(builder, value, carried)
    if (
        isinstance(value.type, ir.IndexType)
        and form_of_value(value).factor(carried) == 1
        and value is not carried
    ):
        rest = builder.index(form_of_value(value).without(carried))
        return None if _needs(rest, carried) else Contribution("arith.addi", rest)
    if not isinstance(value, Apply):
        return None
    if value.name == "arith.select":
        return _of_choice(builder, value, carried)
    name = _OPPOSITE.get(value.name, value.name)
    if name not in COMBINING:
        return None
    left, right = value.operands
    if name != value.name:
        right = builder.negated(right)
    elif _needs(right, carried):
        left, right = right, left
    if _needs(right, carried):
        return None
    attributes = value.attributes if name == value.name else _kept(value.attributes)
    if left is carried:
        return Contribution(name, right, attributes=attributes)
    inner = contribution(builder, left, carried)
    if inner is None or inner.combine != name:
        return None
    both = builder.apply(name, [closed(builder, inner), right], value.type, attributes)
    return Contribution(name, both, attributes=attributes)


def closed(builder: Builder, found: Contribution) -> Expression:
    """The whole contribution as one value."""
    if not found.dims and not found.mask:
        return found.value
    start = neutral(builder, found.combine, found.value.type)
    if not found.dims:
        return builder.select(builder.conjunction(found.mask), found.value, start)
    return Fold(found.value.type, found.combine, found.dims, found.value, start, found.mask, found.attributes)


def _of_fold(builder: Builder, fold: Fold, carried: Expression) -> Contribution | None:
    if any(_needs(part, carried) for part in (fold.value, *expressions_of(fold.mask))):
        return None
    own = Contribution(fold.combine, fold.value, fold.dims, fold.mask, fold.attributes)
    if fold.initial is carried:
        return own
    inner = contribution(builder, fold.initial, carried)
    if inner is None or inner.combine != fold.combine:
        return None
    both = [closed(builder, inner), closed(builder, own)]
    return Contribution(fold.combine, builder.apply(fold.combine, both, fold.type, fold.attributes))


def _of_choice(builder: Builder, choice: Apply, carried: Expression) -> Contribution | None:
    condition, yes, no = choice.operands
    if _needs(condition, carried):
        return None
    if yes is carried or no is carried:
        if (flag := _of_flag(builder, condition, yes, no)) is not None:
            return flag
        found = contribution(builder, no if yes is carried else yes, carried)
        return found and replace(found, mask=joined(literals(condition, no is carried), found.mask))
    both = [contribution(builder, branch, carried) for branch in (yes, no)]
    if both[0] is None or both[1] is None or both[0].combine != both[1].combine:
        return None
    value = builder.select(condition, *(closed(builder, one) for one in both))
    return Contribution(both[0].combine, value, attributes=both[0].attributes)


def _of_flag(builder: Builder, condition: Expression, yes: Expression, no: Expression) -> Contribution | None:
    """A truth that is set where a condition holds, or where it does not: ``if c: found = True``."""
    for value, where in ((yes, True), (no, False)):
        for truth in (True, False):
            if value is builder.truth(truth):
                what = builder.conjunction(((condition, where == truth),))
                return Contribution("arith.ori" if truth else "arith.andi", what)
    return None


def _needs(value: Expression, carried: Expression) -> bool:
    return carried in reachable([value])


def _kept(attributes: dict[str, ir.Attribute]) -> dict[str, ir.Attribute]:
    return {name: value for name, value in attributes.items() if name == "fastmath"}


def is_collected_only(carried: Carried, others: list[Expression]) -> bool:
    """Whether nothing else in the loop looks at the value."""
    return carried not in reachable(others)
