"""What flows around a loop: the names, the form of their values, and their types, which are known only after the body.

Comes in: how a loop is made for given types. Goes out: the loop, built again with wider types until they stand still,
and what names mean behind it. Read next: `control`, which makes the loops. `program.carried_arrays` is its like for
arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.data.scopes import assigned, last_stores, walk
from pykern.errors import CHANGED_KIND
from pykern.frontend import row_merging
from pykern.frontend.advice import instead_of
from pykern.frontend.casts import convert, materialise
from pykern.frontend.desugar import RESULT
from pykern.frontend.merging import (
    as_complex,
    differing,
    flows,
    holds,
    leaves,
    rebuild,
    same,
    same_form,
    unify,
    zeros_like,
)
from pykern.frontend.rows import ShortRow, is_row
from pykern.frontend.values import (
    Scalar,
    Undefined,
    UnsupportedValue,
    Value,
)
from pykern.types import DType, i64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.translation import Translation


@dataclass
class Carried:
    """What flows around a loop: names, the form of their values, and the types of the leaves."""

    initial: dict[str, Value]
    types: list[DType]

    def operands(self) -> list[ir.Value]:
        flat = [leaf for value in self.initial.values() for leaf in leaves(value)]
        return [materialise(convert(v, d)) for v, d in zip(flat, self.types, strict=True)]

    def bind(self, ssa: list[ir.Value]) -> dict[str, Value]:
        scalars = iter([Scalar(d, v) for d, v in zip(self.types, ssa, strict=True)])
        return {name: rebuild(value, scalars) for name, value in self.initial.items()}


def build_loop(
    t: Translation,
    node: ast.stmt,
    body: list[ast.stmt],
    make: Callable,
    local: set[str],
    begun: frozenset[str] = frozenset(),
) -> None:
    """Build the loop, with wider types for what it carries until they stand still. The names `begun` get a value
    before anything else, however often the loop runs: they have it afterwards."""
    before, known = dict(t.names), dict(t.frame.places)
    # a target that had an integer before the loop keeps its last value after it
    kept = sorted(n for n in local if isinstance(v := before.get(n), Scalar) and v.dtype in (weak_int, i64))
    local = local.difference(kept)
    stored = [n for n in stored_names(body) if isinstance(before.get(n), ShortRow)]
    assigned = [n for n in dict.fromkeys((*kept, *assigned_names(body), *stored)) if n not in local]
    initial = {n: before[n] for n in assigned if flows(before.get(n))}
    carried = _carried(initial)
    changing: dict[str, Value] = {}
    while True:
        t.frame.environment.locals = {**before, **changing}
        op, block, counter = make(carried)
        ends = t.names
        rows_of = [n for n in assigned if n not in changing]
        assert isinstance(node, ast.For | ast.While)
        if row_merging.carry(t, node, block, before, carried.initial, ends, rows_of):
            carried = _carried(carried.initial)
            op.erase()
            continue
        begun_real = {n: as_complex(v, ends[n]) for n, v in carried.initial.items() if n in ends}
        if any(value is not carried.initial[n] for n, value in begun_real.items()):
            carried = _carried({**carried.initial, **begun_real})
            op.erase()
            continue
        if unfit := _unfit(carried, ends):  # an error where they are read, but as temporaries they do no harm
            for name in unfit:
                places = known.get(name), t.place_of(name, body)
                changing[name] = differing(name, before[name], ends[name], "before the loop", "in it", places)
            carried = _carried({n: v for n, v in carried.initial.items() if n not in unfit})
            op.erase()
            continue
        found = _not_carried(t, body, known, assigned, carried, before, ends)
        if found.keys() - changing.keys():
            changing.update(found)
            op.erase()
            continue
        widened = _widened(t, node, body, known, carried, ends)
        late = [n for n in (RESULT, *sorted(begun)) if n in assigned and n not in carried.initial]
        late = [n for n in late if n not in changing and flows(ends.get(n))]
        if widened == carried.types and not late:
            break
        for name in late:  # a value that nobody reads, for the form
            carried.initial[name] = zeros_like(ends[name])
            widened = widened + [leaf.dtype for leaf in leaves(ends[name])]
        carried = Carried(carried.initial, widened)
        op.erase()
    _close(block, carried, ends, counter)
    t.frame.environment.locals = before
    stores = last_stores(node)
    for name in (*assigned, *local):
        first, last = before.get(name), ends.get(name)
        if name in carried.initial or same(last, first):
            continue
        place = t.span(stores.get(name, node))
        if name in local and name not in changing and last is not None and is_known(first):
            places = known.get(name), place
            changing[name] = differing(name, first, last, "before the loop", "after it", places)
        before[name] = changing.get(name, Undefined(name, place))
    skip = 1 if isinstance(counter, ir.Value) else 0
    before.update(carried.bind(list(op.results)[skip:]))


def is_known(value: Value | None) -> TypeGuard[Value]:
    """Whether a name has a value of one kind."""
    return value is not None and not isinstance(value, Undefined | UnsupportedValue)


def _carried(initial: dict[str, Value]) -> Carried:
    return Carried(initial, [leaf.dtype for v in initial.values() for leaf in leaves(v)])


def _unfit(carried: Carried, ends: dict[str, Value]) -> set[str]:
    """Names with a constant, before the loop or at its end, that the type of both does not hold, and with a row that is
    of another form at the end."""
    return {
        name
        for name, value in carried.initial.items()
        if (flows(end := ends[name]) and same_form(value, end) and not holds(value, end))
        or (is_row(value) and not (flows(end) and same_form(value, end)))
    }


def _not_carried(
    t: Translation,
    body: list[ast.stmt],
    known: dict[str, SourceSpan],
    assigned: list[str],
    carried: Carried,
    before: dict[str, Value],
    ends: dict[str, Value],
) -> dict[str, Value]:
    """Names whose meaning changes in the loop and cannot flow around it (None, an array): not read at its start."""
    return {
        name: differing(
            name,
            before[name],
            ends[name],
            "in the first iteration of the loop",
            "later",
            (known.get(name), t.place_of(name, body)),
        )
        for name in assigned
        if name not in carried.initial
        and not isinstance(before.get(name, Undefined(name)), Undefined)
        and not isinstance(ends[name], UnsupportedValue)
        and not same(ends[name], before[name])
    }


def _close(block: ir.Block, carried: Carried, ends: dict[str, Value], counter: ir.Value | int | None) -> None:
    flat = [leaf for name in carried.initial for leaf in leaves(ends[name])]
    with ir.InsertionPoint(block):
        values = [materialise(convert(v, d)) for v, d in zip(flat, carried.types, strict=True)]
        first = [counter] if isinstance(counter, ir.Value) else []
        ir.Operation.create("scf.yield", operands=[*first, *values])


def _widened(
    t: Translation,
    node: ast.stmt,
    body: list[ast.stmt],
    known: dict[str, SourceSpan],
    carried: Carried,
    ends: dict[str, Value],
) -> list[DType]:
    types: list[DType] = []
    given: Iterator[DType] = iter(carried.types)
    for name, form in carried.initial.items():
        end = ends[name]
        if not flows(end) or not same_form(form, end):
            places = known.get(name), t.place_of(name, body)
            kinds = differing(name, form, end, "before the loop", "in it", places)
            raise t.type_error(node, f"`{name}` is {kinds.description}", instead_of(kinds.description),
                               CHANGED_KIND, kinds.places)  # fmt: skip
        types += [unify(next(given), leaf.dtype) for leaf in leaves(end)]
    return types


def stored_names(body: list[ast.stmt]) -> Iterator[str]:
    """Names of which the statements may store parts: ``d[0] = 1``."""
    for statement in body:
        for part in walk(statement):
            is_store = isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
            if is_store and isinstance(part.value, ast.Name):
                yield part.value.id


def assigned_names(body: list[ast.stmt]) -> Iterator[str]:
    """Names that the statements may bind, in order."""
    for statement in body:
        yield from assigned(statement)
