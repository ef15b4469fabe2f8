"""An index as a sum: constant + factor * leaf + ..., the leaves being values that are no sums."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.passes import kernels
from pykern.passes.ir.values import defining

_CASTS = ("arith.index_cast", "arith.extsi")


@dataclass(frozen=True)
class LinearForm:
    """`terms` maps a leaf to its factor, never 0."""

    constant: int = 0
    terms: dict[ir.Value, int] = field(default_factory=dict)

    def __add__(self, other: LinearForm) -> LinearForm:
        terms = dict(self.terms)
        for leaf, factor in other.terms.items():
            terms[leaf] = terms.get(leaf, 0) + factor
        return LinearForm(self.constant + other.constant, {v: f for v, f in terms.items() if f})

    def __sub__(self, other: LinearForm) -> LinearForm:
        return self + other.scaled(-1)

    def scaled(self, factor: int) -> LinearForm:
        if factor == 0:
            return LinearForm()
        return LinearForm(self.constant * factor, {v: f * factor for v, f in self.terms.items()})


def linear_form(value: ir.Value) -> LinearForm:
    """The sum an integer value is, as far as additions and constant factors go."""
    constant = kernels.is_constant(value)
    if constant is not None:
        return LinearForm(constant)
    op = defining(value)
    if op is None:
        return LinearForm(0, {value: 1})
    if op.name == "arith.addi":
        return linear_form(op.operands[0]) + linear_form(op.operands[1])
    if op.name == "arith.subi":
        return linear_form(op.operands[0]) - linear_form(op.operands[1])
    if op.name == "arith.muli":
        left, right = (linear_form(v) for v in op.operands)
        if not left.terms:
            return right.scaled(left.constant)
        if not right.terms:
            return left.scaled(right.constant)
    if op.name in _CASTS:
        return linear_form(op.operands[0])
    return LinearForm(0, {value: 1})
