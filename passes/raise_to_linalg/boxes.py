"""The positions a statement runs over: a range for each dimension, narrowed by what its mask says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.passes.raise_to_linalg.builder import TRAPS, Builder
from pykern.passes.raise_to_linalg.conditions import facts
from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Expression,
    Fold,
    Literal,
    Load,
    Mask,
    form_of_value,
    reachable,
    vector_dims,
)
from pykern.passes.raise_to_linalg.forms import Dim, Form, Term


@dataclass(frozen=True)
class Range:
    """Positions from the greatest of `lows` up to, but without, the least of `highs`; all are invariant."""

    lows: tuple[Form, ...]
    highs: tuple[Form, ...]


@dataclass(frozen=True)
class IterationBox:
    """Ranges by dimension. `true` are the literals that the ranges make hold.

    `conditions` are invariant: where one fails the box is empty. `pins` are dimensions given by others.
    """

    ranges: tuple[tuple[Dim, Range], ...] = ()
    true: frozenset[Literal] = field(default=frozenset(), compare=False)
    conditions: Mask = ()
    pins: tuple[tuple[Dim, Form], ...] = ()

    @property
    def dims(self) -> tuple[Dim, ...]:
        return tuple(dim for dim, _ in self.ranges)

    def range(self, dim: Dim) -> Range:
        return next(found for known, found in self.ranges if known is dim)

    def with_range(self, dim: Dim, new: Range) -> IterationBox:
        return replace(self, ranges=tuple((d, new if d is dim else r) for d, r in self.ranges))

    def restricted(self, dims: Iterable[Dim]) -> IterationBox:
        """The box of those dimensions alone."""
        wanted = set(dims)
        return replace(self, ranges=tuple(pair for pair in self.ranges if pair[0] in wanted))

    def resolved(self, form: Form) -> Form:
        """The form without pinned dimensions."""
        pins = dict(self.pins)

        def pinned(term: Term) -> Form | None:
            return pins.get(term) if isinstance(term, Dim) else None

        while any(dim in pins for dim in form.dims):
            form = form.replaced(pinned)
        return form

    def free(self, dims: Iterable[Dim]) -> list[Dim]:
        """The dimensions of the box that the given dimensions depend on."""
        found = {d for dim in dims for d in self.resolved(Form(((dim, 1),))).dims}
        return [dim for dim in self.dims if dim in found]


@dataclass(frozen=True)
class Boxes:
    """Makes and narrows boxes. `holding` are literals that hold everywhere at the moment."""

    builder: Builder
    holding: frozenset[Literal] = frozenset()

    def full(self, dims: Iterable[Dim], box: IterationBox | None = None) -> IterationBox:
        """All positions of the dimensions, added to a box."""
        box = IterationBox(true=self.holding) if box is None else box
        for dim in dims:
            if dim.value is None and dim not in box.dims:
                lows = tuple(self.uniform(f, box, upper=False) for f in dim.lows)
                highs = tuple(self.uniform(f, box, upper=True) for f in dim.highs)
                box = replace(box, ranges=(*box.ranges, (dim, Range(lows, highs))))
        return box

    def uniform(self, form: Form, box: IterationBox, upper: bool) -> Form:
        """A bound of the form over all positions of the box, which does not depend on them."""
        total = Form((), form.constant)
        for term, factor in box.resolved(form).terms:
            if isinstance(term, Dim) and term.value is None:
                total += self._extreme(term, box, (factor > 0) == upper) * factor
            elif isinstance(term, Dim) or not vector_dims(term):
                total += Form(((term, factor),))
            else:
                total += self._extreme_value(term, (factor > 0) == upper) * factor
        return total

    def _extreme(self, dim: Dim, box: IterationBox, upper: bool) -> Form:
        found = box.range(dim)
        if not upper:
            return found.lows[0] if dim.step is None else Form()
        last = found.highs[0] - 1
        if dim.step is None:
            return last
        ends = [self.builder.index(last), dim.step]
        return form_of_value(self.builder.apply("arith.muli", ends, ir.IndexType.get()))

    def _extreme_value(self, value: Expression, upper: bool) -> Form:
        """Of a value that is looked up or computed: the extreme over all positions, itself computed."""
        combine = "arith.maxsi" if upper else "arith.minsi"
        return Form(((self.builder.extreme(combine, value, tuple(vector_dims(value))), 1),))

    # -- narrowing ------------------------------------------------------------------------------

    def narrowed(self, box: IterationBox, mask: Mask) -> tuple[IterationBox, Mask]:
        """The box without positions at which the mask fails, and what of the mask is still to be tested."""
        rest: list[Literal] = []
        for literal in mask:
            if literal in box.true or literal in self.holding:
                continue
            smaller = self._by_literal(box, literal)
            if smaller is None:
                rest.append(literal)
            else:
                box = replace(smaller, true=smaller.true | {literal})
        return box, tuple(rest)

    def _by_literal(self, box: IterationBox, literal: Literal) -> IterationBox | None:
        if not vector_dims(literal[0]):
            if not box.dims or not self._is_free_of_conditions(literal[0]):
                return None
            return replace(box, conditions=(*box.conditions, literal))
        found = facts(literal)
        if found is None:
            return None
        for form in (*found.not_negative, *found.zero, *(f * -1 for f in found.zero)):
            smaller = self.above_zero(box, form)
            if smaller is None:
                return None
            box = smaller
        return box

    def above_zero(self, box: IterationBox, form: Form) -> IterationBox | None:
        """The box where the form is not negative; None where that is no range of one dimension."""
        form = box.resolved(form)
        dims = [dim for dim in form.dims if dim.value is None]
        if len(dims) != 1 or any(vector_dims(symbol) for symbol in form.symbols):
            return None
        (dim,) = dims
        factor, rest = form.factor(dim), form.without(dim)
        old = box.range(dim)
        if factor > 0:
            low = self._quotient("arith.ceildivsi", rest * -1, factor, dim)
            return box if low in old.lows else box.with_range(dim, Range(_with_low(old.lows, low), old.highs))
        high = self._quotient("arith.floordivsi", rest, -factor, dim) + 1
        return box if high in old.highs else box.with_range(dim, Range(old.lows, _with_high(old.highs, high)))

    def _quotient(self, name: str, form: Form, factor: int, dim: Dim) -> Form:
        if dim.step is None and factor == 1:
            return form
        if dim.step is None and form.number is not None:
            return Form((), form.number // factor if "floor" in name else -(-form.number // factor))
        divisor = self.builder.index(Form((), factor))
        if dim.step is not None:
            divisor = self.builder.apply("arith.muli", [dim.step, divisor], divisor.type)
        return form_of_value(self.builder.apply(name, [self.builder.index(form), divisor], divisor.type))

    def inside(self, box: IterationBox, subscripts: tuple[Form, ...], lengths: list[Form]) -> IterationBox:
        """The box where the subscripts lie within an array, as far as one range can say it."""
        for form, length in zip(subscripts, lengths, strict=True):
            for wanted in (form, length - form - 1):
                box = self.above_zero(box, wanted) or box
        return box

    def is_inside(self, box: IterationBox, form: Form, length: Form) -> bool:
        """Whether a subscript is known to lie within an array for every position of the box."""
        form = box.resolved(form)
        return all(self._is_not_negative(box, wanted) for wanted in (form, length - form - 1))

    def _is_not_negative(self, box: IterationBox, form: Form) -> bool:
        dims = [dim for dim in form.dims if dim.value is None]
        if not dims:
            return form.number is not None and form.number >= 0
        if len(dims) != 1 or dims[0].step is not None or abs(form.factor(dims[0])) != 1:
            return False
        rest, found = form.without(dims[0]), box.range(dims[0])
        ends = [rest + low for low in found.lows]
        if form.factor(dims[0]) < 0:
            ends = [rest - high + 1 for high in found.highs]
        return any(end.number is not None and end.number >= 0 for end in ends)

    def _is_free_of_conditions(self, value: Expression) -> bool:
        """Whether the value may be computed where the kernel would not have come to it."""
        for part in reachable([value]):
            traps = isinstance(part, Apply) and part.name in TRAPS
            if (traps or isinstance(part, Load | Fold)) and not self.holding.issuperset(part.mask):
                return False
        return True


def _with_low(lows: tuple[Form, ...], low: Form) -> tuple[Form, ...]:
    return _pruned((*lows, low), max)


def _with_high(highs: tuple[Form, ...], high: Form) -> tuple[Form, ...]:
    return _pruned((*highs, high), min)


def _pruned(forms: tuple[Form, ...], pick: Callable[[int, int], int]) -> tuple[Form, ...]:
    """Forms that differ by a number only: the one that counts."""
    kept: dict[tuple, Form] = {}
    for form in forms:
        known = kept.get(form.terms)
        kept[form.terms] = form if known is None else Form(form.terms, pick(known.constant, form.constant))
    return tuple(kept.values())
