"""Index values as sums: dimensions and invariant values with integer factors, and a constant.

A dimension stands for `step * position`, which is never negative for work-items; loops have step 1 and
stand for their induction variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from pykern.passes.raise_to_linalg.expressions import Expression

serial = itertools.count()


@dataclass(eq=False)
class Dim:
    """One dimension of iteration: work-items of the ndrange, or a loop.

    Its positions are those from the greatest of `lows` up to, but without, the least of `highs`.
    `step` is None for 1. While the dimension is run through in sequence `position` is the number of the
    position and `value` what the dimension stands for there.
    """

    name: str
    lows: tuple[Form, ...] = ()
    highs: tuple[Form, ...] = ()
    step: Expression | None = None
    sequential: bool = False
    value: Any = None
    position: Any = None
    serial: int = field(default_factory=serial.__next__)

    def __repr__(self) -> str:
        return self.name


Term = Union[Dim, "Expression"]


@dataclass(frozen=True)
class Form:
    """`sum(factor * term) + constant`; the terms are in the order of their making."""

    terms: tuple[tuple[Term, int], ...] = ()
    constant: int = 0

    def __add__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return Form(self.terms, self.constant + other)
        return form_of(itertools.chain(self.terms, other.terms), self.constant + other.constant)

    def __sub__(self, other: Form | int) -> Form:
        return self + (-other if isinstance(other, int) else other * -1)

    def __mul__(self, factor: int) -> Form:
        if factor == 0:
            return Form()
        return Form(tuple((term, factor * k) for term, k in self.terms), factor * self.constant)

    @property
    def number(self) -> int | None:
        return None if self.terms else self.constant

    @property
    def dims(self) -> tuple[Dim, ...]:
        return tuple(term for term, _ in self.terms if isinstance(term, Dim))

    @property
    def symbols(self) -> tuple[Any, ...]:  # of expressions, which are made of forms
        return tuple(term for term, _ in self.terms if not isinstance(term, Dim))

    def factor(self, term: Term) -> int:
        return next((k for known, k in self.terms if known is term), 0)

    def without(self, term: Term) -> Form:
        return Form(tuple(pair for pair in self.terms if pair[0] is not term), self.constant)

    def replaced(self, change: Callable[[Term], Form | None]) -> Form:
        """Each term for which `change` gives a form, by that form."""
        total = Form((), self.constant)
        for term, factor in self.terms:
            new = change(term)
            total += (Form(((term, 1),)) if new is None else new) * factor
        return total


def form_of(terms: Iterable[tuple[Term, int]], constant: int = 0) -> Form:
    """A form from terms that may repeat."""
    sums: dict[Term, int] = {}
    for term, factor in terms:
        sums[term] = sums.get(term, 0) + factor
    kept = sorted(((t, k) for t, k in sums.items() if k), key=lambda pair: pair[0].serial)
    return Form(tuple(kept), constant)
