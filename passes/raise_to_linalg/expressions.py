"""Values of the kernel as expressions over dimensions. Equal ones are one object, loads excepted.

Read next: `reading`, which makes them; `bodies`, which turns them into the body of a linalg op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from pykern.passes.raise_to_linalg.forms import Dim, Form, serial

Literal = tuple["Expression", bool]
"""A condition and the truth it needs to have."""
Mask = tuple[Literal, ...]
"""The conditions under which a statement runs."""


@dataclass(eq=False)
class Expression:
    """Base. `type` is the MLIR type of the value."""

    type: ir.Type
    serial: int = field(default_factory=serial.__next__, init=False)
    known_dims: frozenset[Dim] | None = field(default=None, init=False)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that the value is computed from, conditions included."""
        return ()

    @property
    def own_dims(self) -> tuple[Dim, ...]:
        """Dimensions it depends on by itself."""
        return ()


@dataclass(eq=False)
class Given(Expression):
    """An argument of the function."""

    value: ir.Value


@dataclass(eq=False)
class Constant(Expression):
    """A number."""

    attribute: ir.Attribute


@dataclass(eq=False)
class Length(Expression):
    """Length of a dimension of an array argument."""

    array: int
    dim: int


@dataclass(eq=False)
class Count(Expression):
    """A number of the launch: `what` is "count", "start" or "step" of dimension `dim`."""

    what: str
    dim: int


@dataclass(eq=False)
class Index(Expression):
    """An index value that is a sum."""

    form: Form

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.form.symbols

    @property
    def own_dims(self) -> tuple[Dim, ...]:
        return self.form.dims


@dataclass(eq=False)
class Apply(Expression):
    """An op without effects on the values of `operands`. `mask` tells where the kernel runs it."""

    name: str
    operands: tuple[Expression, ...]
    attributes: dict[str, ir.Attribute]
    mask: Mask = ()
    costly: bool | None = None

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (*self.operands, *(condition for condition, _ in self.mask))


@dataclass(eq=False)
class Load(Expression):
    """What an array holds at the time the load runs; `tensor` is set then."""

    array: int
    subscripts: tuple[Form, ...]
    mask: Mask
    location: ir.Location
    tensor: Any = None

    @property
    def parts(self) -> tuple[Expression, ...]:
        return tuple(s for form in self.subscripts for s in form.symbols)

    @property
    def own_dims(self) -> tuple[Dim, ...]:
        return tuple(d for form in self.subscripts for d in form.dims)


@dataclass(eq=False)
class Carried(Expression):
    """A value a loop carries, within the loop; or its last value, after a loop kept in sequence.

    `tensor` holds it for every position of `dims`; within the loop it changes with `loop` as well.
    """

    dims: tuple[Dim, ...]
    loop: Dim | None = None
    tensor: Any = None

    @property
    def own_dims(self) -> tuple[Dim, ...]:
        return self.dims if self.loop is None else (*self.dims, self.loop)


@dataclass(eq=False)
class Fold(Expression):
    """`initial` combined with `value` at every position of `dims` where `mask` holds, in order."""

    combine: str
    dims: tuple[Dim, ...]
    value: Expression
    initial: Expression
    mask: Mask
    attributes: dict[str, ir.Attribute]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.value, self.initial, *(condition for condition, _ in self.mask))


def index_expression(form: Form) -> Expression:
    """The expression of a form: of one value alone, that value."""
    if form.constant == 0 and len(form.terms) == 1:
        term, factor = form.terms[0]
        if factor == 1 and isinstance(term, Expression):
            return term
    return Index(ir.IndexType.get(), form)


def form_of_value(value: Expression) -> Form:
    """An index value as a form, at worst with itself as its only term."""
    return value.form if isinstance(value, Index) else Form(((value, 1),))


def reachable(roots: list[Expression]) -> set[Expression]:
    """Everything the values are computed from, themselves included."""
    found: set[Expression] = set()
    waiting = list(roots)
    while waiting:
        value = waiting.pop()
        if value not in found:
            found.add(value)
            waiting.extend(value.parts)
    return found


def inner_first(
    value: Expression,
    parts: Callable[[Expression], Iterable[Expression]],
    known: Callable[[Expression], bool],
) -> Iterator[Expression]:
    """The value after its parts, and theirs, without what is known; chains may be thousands long."""
    waiting, opened = [value], set()
    while waiting:
        last = waiting[-1]
        if known(last):
            waiting.pop()
        elif last in opened:
            yield waiting.pop()
        else:
            opened.add(last)
            waiting += parts(last)


def free_dims(value: Expression) -> frozenset[Dim]:
    """All dimensions the value depends on, those of its own folds not among them."""
    for part in inner_first(value, lambda v: v.parts, lambda v: v.known_dims is not None):
        dims = frozenset(part.own_dims).union(*(p.known_dims or () for p in part.parts))
        part.known_dims = dims - set(part.dims) if isinstance(part, Fold) else dims
    return value.known_dims or frozenset()


def vector_dims(value: Expression) -> list[Dim]:
    """The dimensions among them that are not run through in sequence at the moment, in order of making."""
    return sorted((d for d in free_dims(value) if d.value is None), key=lambda d: d.serial)


def is_costly(value: Expression) -> bool:
    """Whether a value is better kept than computed many times over."""
    if not isinstance(value, Apply):
        return False
    for part in inner_first(value, _operands, lambda v: v.costly is not None):
        named = part.name in ("arith.divf", "arith.remf") or part.name.startswith("math.")
        part.costly = (named and part.name not in CHEAP) or any(o.costly for o in _operands(part))
    return bool(value.costly)


def _operands(value: Expression) -> list[Apply]:
    return [o for o in value.operands if isinstance(o, Apply)] if isinstance(value, Apply) else []


CHEAP = {f"math.{name}" for name in ("absf", "absi", "copysign", "fma", "floor", "ceil", "trunc", "isnan")}


def expressions_of(mask: Mask) -> list[Expression]:
    return [condition for condition, _ in mask]
