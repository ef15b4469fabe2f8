"""How values from two paths become one: types unified, tuples leaf by leaf.

A value that can flow through the IR is a tree of scalars; its leaves are what branches and loops
yield. Of a row of an array, ``x[i]``, they are its indices, of a short computed row its elements. Everything else
(whole arrays, functions, strings) has to be the same on both paths; `row_merging` has what rows become.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pykern.data.locations import SourceSpan
from pykern.data.promotion import promote
from pykern.frontend.casts import can_hold, materialise, zero
from pykern.frontend.complex_numbers import as_pair, pair
from pykern.frontend.rows import ShortRow, nested
from pykern.frontend.values import (
    Array,
    ComplexValue,
    Scalar,
    TupleValue,
    Undefined,
    UnsupportedValue,
    Value,
    describe,
)
from pykern.types import DType, weak_int


def flows(value: Value | None) -> bool:
    """Whether a value is a tree of scalars."""
    if isinstance(value, TupleValue):
        return all(flows(item) for item in value.items)
    return isinstance(value, Scalar | ShortRow) or (isinstance(value, Array) and bool(value.outer))


def leaves(value: Value) -> Iterator[Scalar]:
    if isinstance(value, TupleValue):
        for item in value.items:
            yield from leaves(item)
    elif isinstance(value, ShortRow):
        yield from leaves(value.operands[0])
    elif isinstance(value, Array):
        yield from (Scalar(weak_int, index) for index in value.outer)
    else:
        assert isinstance(value, Scalar)
        yield value


def rebuild(shape: Value, scalars: Iterator[Scalar]) -> Value:
    """A value of the form of `shape` with other leaves."""
    if isinstance(shape, TupleValue):
        return replace(shape, items=tuple(rebuild(item, scalars) for item in shape.items))
    if isinstance(shape, ShortRow):
        items = nested(scalars, [d.const for d in shape.shape])  # type: ignore[misc]
        return replace(shape, operands=(items,), dtype=next(leaves(items)).dtype)
    if isinstance(shape, Array):
        return replace(shape, outer=tuple(materialise(next(scalars)) for _ in shape.outer))
    return next(scalars)


def same_form(a: Value, b: Value) -> bool:
    if isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return type(a) is type(b) and len(a.items) == len(b.items) and all(map(same_form, a.items, b.items))
    if isinstance(a, ShortRow) and isinstance(b, ShortRow):
        return [d.const for d in a.shape] == [d.const for d in b.shape]
    if isinstance(a, Array) and isinstance(b, Array):
        return a.ssa == b.ssa and len(a.outer) == len(b.outer) > 0
    return isinstance(a, Scalar) and isinstance(b, Scalar)


def as_complex(value: Value, other: Value) -> Value:
    """A number beside a complex one is complex, too."""
    if isinstance(value, Scalar) and isinstance(other, ComplexValue):
        return pair(*as_pair(value))
    return value


def unify(a: DType, b: DType) -> DType:
    """The type that holds both; weak types give way."""
    return a if a == b else promote(a, b)


def holds(a: Value, b: Value) -> bool:
    """Whether the types of both, joined, hold the constants of either: u8 does not hold -1."""
    for both in zip(leaves(a), leaves(b), strict=True):
        dtype = unify(*(leaf.dtype for leaf in both))
        if not all(can_hold(dtype, leaf) for leaf in both):
            return False
    return True


def same(a: Value | None, b: Value | None) -> bool:
    """Whether two paths agree without anything in the IR."""
    if isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return len(a.items) == len(b.items) and all(map(same, a.items, b.items))
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        if a.is_const and b.is_const:
            return a.dtype == b.dtype and type(a.const) is type(b.const) and repr(a.const) == repr(b.const)
        return a.ssa is not None and b.ssa is not None and a.ssa == b.ssa
    if isinstance(a, Array) and isinstance(b, Array):
        return a.ssa == b.ssa and a.outer == b.outer
    if isinstance(a, ShortRow) and isinstance(b, ShortRow) and a.operands[0] is b.operands[0]:
        return a.indices == b.indices and a.is_shared == b.is_shared
    return a is not None and a == b


def meet(
    name: str,
    a: Value | None,
    b: Value | None,
    where: SourceSpan,
    places: Callable[[], tuple[SourceSpan | None, SourceSpan | None]] = lambda: (None, None),
) -> tuple[Value, Value] | Value:
    """A pair of the same form to be merged in the IR, or the value known without it.

    `places` tell where the name got its value on each path.
    """
    if same(a, b):
        assert a is not None
        return a
    found = values_of_paths(name, (a, b), flows, zeros_like, lambda: where)
    if isinstance(found, Undefined):
        return found
    first, second = as_complex(*found), as_complex(*reversed(found))
    if not flows(first) or not flows(second) or not same_form(first, second) or not holds(first, second):
        return differing(name, first, second, "on one path", "on the other", places())
    return first, second


def values_of_paths(
    name: str,
    pair: tuple[Value | None, Value | None],
    flows: Callable[[Value | None], bool],
    zeros_like: Callable[[Value], Value],
    where: Callable[[], SourceSpan],
) -> tuple[Value, Value] | Undefined:
    """The values of a name on two paths, or that it is not defined on one.

    A path that does not set a name of the compiler's own never reads it either: there it holds zeros.
    """
    a, b = pair
    if name.startswith(".") and not (flows(a) and flows(b)):
        if a is not None and flows(a):
            b = zeros_like(a)
        elif b is not None and flows(b):
            a = zeros_like(b)
    undefined = next((v for v in (a, b) if isinstance(v, Undefined)), None)
    if undefined is not None:
        return undefined
    return Undefined(name, where()) if a is None or b is None else (a, b)


def differing(
    name: str,
    a: Value,
    b: Value,
    first: str,
    second: str,
    places: tuple[SourceSpan | None, SourceSpan | None],
) -> UnsupportedValue:
    """What a name is that means two kinds of things; reading it is an error, which shows both places."""
    notes = [
        (f"`{name}` is {describe(v)} here", place) for v, place in zip((a, b), places, strict=True) if place
    ]
    numbers = flows(a) and flows(b) and same_form(a, b) and not holds(a, b)
    why = ": their common type does not hold both" if numbers else ""
    return UnsupportedValue(f"{describe(a)} {first} and {describe(b)} {second}{why}", tuple(notes))


def zeros_like(value: Value) -> Value:
    return rebuild(value, (zero(leaf.dtype) for leaf in leaves(value)))
