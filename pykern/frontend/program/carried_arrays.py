"""What a loop of an array program carries: names that mean something else at its end, and arrays that it writes.

Comes in: how a loop is made for what it carries. Goes out: the loop, whose body was translated again until that, and
the types, stand still. Read next: `loops`, which makes them; `aliasing` says which arrays the names mean afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.data.scopes import walk
from pykern.errors import CHANGED_KIND
from pykern.frontend.desugar import RESULT
from pykern.frontend.loop_values import assigned_names, is_known, stored_names
from pykern.frontend.merging import differing
from pykern.frontend.program import aliasing
from pykern.frontend.program.flow import (
    LeafType,
    common_types,
    flows,
    joined,
    leaves,
    operand,
    rebuild,
    same,
    same_contents,
    same_origins,
    type_of,
    unify,
    zeros_like,
)
from pykern.frontend.program.unknown_values import parameters_of
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, Undefined, Value, describe

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass
class Carried:
    """What flows around a loop: names with their values before it, arrays written in it, types of the leaves."""

    names: dict[str, Value] = field(default_factory=dict)
    types: list[LeafType] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    starts: dict[str, Value] = field(default_factory=dict)
    """What the carried names mean at the start of an iteration."""
    expected: list[str] = field(default_factory=list)
    """Names of arrays of which the text alone says that they get another value."""

    def stood_still(self, ends: dict[str, Value]) -> bool:
        """Whether a name got no other value, against what was expected."""
        return any(same_contents(ends.get(name), self.starts[name]) for name in self.expected)

    def mlir_types(self) -> list[ir.Type]:
        return [*(kind.mlir() for kind in self.types), *(type_of(c).mlir() for c in self.cells)]

    def operands(self, names: dict[str, Value], contents: dict[Cell, ir.Value]) -> list[ir.Value]:
        """The carried values where the names and the contents of arrays are these."""
        flat = [leaf for name in self.names for leaf in leaves(names[name])]
        values = [operand(leaf, kind, contents) for leaf, kind in zip(flat, self.types, strict=True)]
        return [*values, *(contents.get(c, c.ssa) for c in self.cells)]

    def bind(self, ssa: list[ir.Value]) -> dict[str, Value]:
        """Carried names as new values."""
        old = [leaf for value in self.names.values() for leaf in leaves(value)]
        made = iter(
            [
                kind.bind(v, o.name if isinstance(o, Cell) else "")
                for o, kind, v in zip(old, self.types, ssa, strict=False)
            ]
        )
        return {name: rebuild(value, made) for name, value in self.names.items()}

    def enter(self, t: ProgramTranslator, ssa: list[ir.Value]) -> None:
        """Let names and arrays be what flowed into a block."""
        self.starts = self.bind(ssa)
        t.names.update(self.starts)
        for cell, value in zip(self.cells, ssa[len(self.types) :], strict=True):
            t.put(cell, value)


Make = Callable[[Carried], "Made"]


@dataclass
class Made:
    """A loop op whose last block waits for its yield."""

    op: ir.Operation
    block: ir.Block
    following: ir.Value | None = None
    """The next value of a counter of ours, which flows first."""


def build_loop(
    t: ProgramTranslator,
    node: ast.stmt,
    body: list[ast.stmt],
    make: Make,
    targets: set[str],
    count: Callable[[], Scalar] | None,
    begun: frozenset[str] = frozenset(),
) -> None:
    """Build the loop until what it carries, and in which types, stands still. The names `begun` get a value before
    anything else, however often the loop runs: they have it afterwards."""
    before = dict(t.names)
    assigned = list(dict.fromkeys((*assigned_names(body), *sorted(targets))))
    carried, known = _expected(t, body, before, assigned, targets), dict(before)
    structures = t.structures  # a dict made in the body has one number however often it is translated
    while True:
        t.frame.environment.locals, t.structures = dict(before), structures
        start = t.mark()
        with t.writes() as contents:
            made = make(carried)
        ends = t.names
        grown = _grow(t, node, carried, before, ends, contents, start, assigned, targets, {RESULT, *begun})
        if carried.stood_still(ends):
            carried, before = _numbers(known, assigned), dict(known)
        elif not grown:
            break
        made.op.erase()
    with ir.InsertionPoint(made.block):
        first = [] if made.following is None else [made.following]
        ir.Operation.create("scf.yield", operands=[*first, *carried.operands(ends, contents)])
    t.frame.environment.locals = before
    results = list(made.op.results)[0 if made.following is None else 1 :]
    after = carried.bind(results)
    slots = aliasing.slots(carried.names, carried.starts, ends, after)
    trips = count() if count is not None else None
    deciding = parameters_of(trips) if trips is not None and not trips.is_const else ()
    for name in assigned:
        if name not in carried.names and not same_contents(ends.get(name), before.get(name)):
            place = t.place_of(name, [node]) or t.span(node)
            before[name] = _changed(t, name, before.get(name), ends.get(name), place, deciding)
    before.update(after)
    for cell, ssa in zip(carried.cells, results[len(carried.types) :], strict=True):
        t.put(cell, ssa)
    aliasing.settle(t, node, slots, carried.cells, trips)


def _numbers(before: dict[str, Value], assigned: list[str]) -> Carried:
    """Numbers have no identity: what is assigned is carried."""
    carried = Carried()
    for name in assigned:
        if isinstance(before.get(name), Scalar):
            _carry(carried, name, before[name])
    return carried


def _expected(
    t: ProgramTranslator,
    body: list[ast.stmt],
    before: dict[str, Value],
    assigned: list[str],
    targets: set[str],
) -> Carried:
    """What the text of the body lets expect, so that it need not be translated to find out: numbers and arrays that
    get another value, and arrays that are written."""
    carried, bound, written = _numbers(before, assigned), set(), dict.fromkeys(stored_names(body))
    for found in (found for statement in body for found in walk(statement)):
        if isinstance(found, ast.AugAssign) and isinstance(found.target, ast.Name):
            written[found.target.id] = None
        elif isinstance(found, ast.Assign | ast.AnnAssign):
            parts = found.targets if isinstance(found, ast.Assign) else [found.target]
            bound.update(name for part in parts for name in assigned_names([part]))
    arrays = {
        name: value for name, value in before.items() if isinstance(value, Cell) and name not in targets
    }
    for name in assigned:
        if name in arrays and (arrays[name].is_scalar or (name in bound and name not in written)):
            _carry(carried, name, arrays[name])
            carried.expected.append(name)
    for name in written:
        if name in arrays and name not in carried.names and arrays[name].base is None:
            carried.cells.append(arrays[name])
            arrays[
                name
            ].version = t.mark()  # from the second iteration on, views of it are not what they were
    return carried


def _changed(
    t: ProgramTranslator,
    name: str,
    first: Value | None,
    last: Value | None,
    place: SourceSpan,
    deciding: tuple[str, ...],
) -> Value:
    """What a name is after a loop that may run no round, and did not carry it; parameters decide how many it runs."""
    if last is None or not is_known(first):
        return Undefined(name, place, deciding)
    return differing(name, first, last, "before the loop", "after it", (t.frame.places.get(name), place))


def _carry(carried: Carried, name: str, value: Value) -> None:
    carried.names[name] = value
    carried.types += [type_of(leaf) for leaf in leaves(value)]


def _grow(
    t: ProgramTranslator,
    node: ast.stmt,
    carried: Carried,
    before: dict[str, Value],
    ends: dict[str, Value],
    contents: dict[Cell, ir.Value],
    start: int,
    assigned: list[str],
    targets: set[str],
    begun: set[str],
) -> bool:
    """Take up what the body showed has to be carried too, or in a wider type; whether there was any."""
    size, regrown = len(carried.names), False
    types = _met_types(t, node, carried, ends)
    for name in dict.fromkeys((*assigned, *ends)):
        first, last = before.get(name), ends.get(name)
        if name in carried.names or same(first, last):
            continue
        if first is not None and last is not None and same_contents(first, last):
            met = joined(first, last)
            regrown = regrown or not same_origins(first, met)
            before[name] = met
            continue
        if name in begun and (first is None or isinstance(first, Undefined)) and flows(last):
            assert last is not None
            value = zeros_like(last)
            carried.names[name] = value
            types += [type_of(leaf) for leaf in leaves(value)]
        elif (
            first is None or isinstance(first, Undefined) or (name in targets and not _one_form(first, last))
        ):
            continue
        elif not _one_form(first, last):
            raise _moved(t, node, name, first, last)
        else:
            carried.names[name] = first
            types += [type_of(leaf) for leaf in leaves(first)]
    for name, form in carried.names.items():
        met = joined(form, ends[name]) if name in ends else form
        regrown = regrown or not same_origins(form, met)
        carried.names[name] = met
    # fewer than before where a name flows by itself by now; what only flowed in was not written
    written = [c for c in contents if c.born < start <= c.version]
    changed = (
        regrown or types != carried.types or size != len(carried.names) or set(written) != set(carried.cells)
    )
    if changed:
        carried.types, carried.cells = types, written
    return changed


def _one_form(a: Value | None, b: Value | None) -> bool:
    return a is not None and b is not None and flows(a) and flows(b) and common_types(a, b) is not None


def _met_types(
    t: ProgramTranslator, node: ast.stmt, carried: Carried, ends: dict[str, Value]
) -> list[LeafType]:
    types: list[LeafType] = []
    given = iter(carried.types)
    for name, first in carried.names.items():
        last = ends[name]
        if not _one_form(first, last):
            raise _moved(t, node, name, first, last)
        for leaf in leaves(last):
            kind = unify(next(given), type_of(leaf))
            if kind is None:
                raise _moved(t, node, name, first, last)
            types.append(kind)
    return types


def _moved(t: ProgramTranslator, node: ast.stmt, name: str, first: Value | None, last: Value | None):
    was, now = (describe(v) if v is not None else "nothing" for v in (first, last))
    hint = "types and shapes stand still: use another name, or unroll with range(n)"
    if isinstance(last, Cell) and not (isinstance(first, Cell) and first.shape == last.shape):
        made = f"{name} = pk.zeros({last.shape!r}, pk.{last.dtype.name})"
        hint = f"types and shapes stand still: begin with an array of this kind, as {made}, or unroll with range(n)"
    return t.type_error(node, f"`{name}` is {was} before the loop and {now} at the end of its body", hint,
                        CHANGED_KIND)  # fmt: skip
