"""Loops of an array program: scf.for and scf.while over tensors and scalars.

What a loop carries is found by translating its body: names that mean something else at its end, and arrays
it writes. It is translated again until that, and the types, stand still. `aliasing` says which arrays the
names mean afterwards.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.errors import CHANGED_KIND
from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise
from pykern.frontend.control import (
    assigned_names,
    begin,
    ceil_divide,
    constant_items,
    constant_values,
    is_known,
    read_later,
    target_names,
    test_of,
    trip_count,
    unrolled,
)
from pykern.frontend.desugar import RESULT, none_of
from pykern.frontend.liveness import read_first
from pykern.frontend.merging import differing
from pykern.frontend.program import aliasing
from pykern.frontend.program.branches import run_path
from pykern.frontend.program.counted_rows import Rows
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
from pykern.frontend.program.long_loops import is_long, may_stay
from pykern.frontend.program.sharing import Running
from pykern.frontend.program.values import Cell
from pykern.frontend.values import RangeValue, Scalar, Undefined, Value, describe
from pykern.types import weak_int

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


def for_loop(t: ProgramTranslator, node: ast.For) -> None:
    """``for``: over pk.range a loop in the IR; over anything known when compiling, one copy of the body each, but for
    long loops that may stay."""
    first = len(t.views)
    iterated = t.expression(node.iter)
    if isinstance(iterated, RangeValue) and not iterated.unroll:
        _in_ir(t, node, iterated)
        return
    views = frozenset().union(*t.views[first:])
    rows = Rows(t, node)
    counted = (node, iterated) if isinstance(iterated, RangeValue) else rows.loop(iterated)
    if counted is not None and _is_long(t, *counted):
        _long(t, *counted, views)
    elif isinstance(iterated, RangeValue):
        _copies(t, node, constant_items(t, node, iterated), views)
    else:
        items = t.items(node.iter, iterated)
        _copies(t, node, items, frozenset().union(*t.views[first:]))
    rows.close()


def _in_ir(t: ProgramTranslator, node: ast.For, r: RangeValue) -> None:
    if node.exit_flags:  # type: ignore[attr-defined]
        _counted_while(t, node, r)
    else:
        _scf_for(t, node, r)


def _is_long(t: ProgramTranslator, node: ast.For, r: RangeValue) -> bool:
    names = ChainMap(t.names, t.frame.environment.captures)
    return t.may_keep_loops and not r.is_asked and is_long(node, constant_values(r), names)


def _long(t: ProgramTranslator, node: ast.For, r: RangeValue, views: frozenset[int]) -> None:
    """The first iteration, which shows what names become; then the others, as a loop where that may be."""
    numbers, captures = constant_values(r), t.frame.environment.captures
    before = dict(t.names)
    _copies(t, node, [Scalar(weak_int, const=numbers[0])], views)
    if not may_stay(node, numbers, ChainMap(before, captures), ChainMap(t.names, captures)):
        _copies(t, node, constant_items(t, node, r)[1:], views)
        return
    made = [name for name in t.names if name not in before and not name.startswith(".")]
    read = read_later(t, node, made)
    for name in made:
        if name not in read and not read_first(node.body, name):
            del t.names[name]  # each iteration has its own
    t.has_kept_loops = True
    _in_ir(t, node, RangeValue(Scalar(weak_int, const=numbers[1]), r.stop, r.step))


def _copies(t: ProgramTranslator, node: ast.For, items: list[Value], views: frozenset[int]) -> None:
    loop = Running(items, views, t.frame, len(t.journal))
    t.running.append(loop)
    unrolled(t, node, loop)
    t.running.pop()


def _scf_for(t: ProgramTranslator, node: ast.For, r: RangeValue) -> None:
    count = trip_count(r)

    def make(carried: Carried) -> Made:
        nil, one = Scalar(weak_int, const=0), Scalar(weak_int, const=1)
        bounds = [materialise(b) for b in (r.start, r.stop, r.step)]
        if count is not None:
            bounds = [materialise(nil), count, materialise(one)]
        types = carried.mlir_types()
        operands = [*bounds, *carried.operands(carried.names, {})]
        op = ir.Operation.create("scf.for", results=types, operands=operands, regions=1)
        block = op.regions[0].blocks.append(ir.IndexType.get(), *types)
        with ir.InsertionPoint(block):
            carried.enter(t, list(block.arguments)[1:])
            _iteration(t, node, r, block.arguments[0], count is not None)
        return Made(op, block)

    targets, values = set(target_names(node)), constant_values(r)
    read = read_later(t, node, [*targets, *assigned_names(node.body)]) if values else frozenset()
    _loop(t, node, node.body, make, targets, _trips(r), read - targets)
    for name in targets & read - set(assigned_names(node.body)):
        if isinstance(t.names.get(name), Undefined):
            t.names[name] = Scalar(weak_int, const=values[-1])


def _iteration(t: ProgramTranslator, node: ast.For, r: RangeValue, counter: ir.Value, counts: bool) -> None:
    """`counts`: the counter runs from 0 by 1, and the target is start + counter * step."""
    index = Scalar(weak_int, counter)
    if counts:
        index = arithmetic.binary("+", r.start, arithmetic.binary("*", index, r.step))
    saved = dict(t.names)
    t.assign(node.target, index)
    t.statements(node.body)
    if getattr(node, "is_tile", False):  # each tile runs the kernel anew: no name is carried on
        t.frame.environment.locals = saved


def _trips(r: RangeValue) -> Callable[[], Scalar]:
    def count() -> Scalar:
        bounds = (r.start, r.stop, r.step)
        if all(b.is_const for b in bounds):
            return Scalar(weak_int, const=len(range(*(b.const for b in bounds))))  # type: ignore[arg-type]
        known = trip_count(r)
        if known is not None:
            return Scalar(weak_int, known)
        return ceil_divide(arithmetic.binary("-", r.stop, r.start), r.step)

    return count


def _counted_while(t: ProgramTranslator, node: ast.For, r: RangeValue) -> None:
    """A `for` that may end early: a counted while, its flags in the condition."""
    count = materialise(_trips(r)())

    def make(carried: Carried) -> Made:
        types = [ir.IndexType.get(), *carried.mlir_types()]
        start = materialise(Scalar(weak_int, const=0))
        operands = [start, *carried.operands(carried.names, {})]
        op = ir.Operation.create("scf.while", results=types, operands=operands, regions=2)
        test, body = (region.blocks.append(*types) for region in op.regions)
        with ir.InsertionPoint(test):
            carried.enter(t, list(test.arguments)[1:])
            more = arithmetic.binary("<", Scalar(weak_int, test.arguments[0]), Scalar(weak_int, count))
            going = t.scalar(none_of(node.exit_flags, node))  # type: ignore[attr-defined]
            condition = materialise(arithmetic.binary("&", more, going))
            ir.Operation.create("scf.condition", operands=[condition, *test.arguments])
        with ir.InsertionPoint(body):
            carried.enter(t, list(body.arguments)[1:])
            _iteration(t, node, r, body.arguments[0], counts=True)
            one = Scalar(weak_int, const=1)
            following = arithmetic.binary("+", Scalar(weak_int, body.arguments[0]), one)
        return Made(op, body, following.ssa)

    _loop(t, node, node.body, make, set(target_names(node)), None)


def while_loop(t: ProgramTranslator, node: ast.While) -> None:
    """``while``: the condition is evaluated before each iteration, and not after a break."""
    test_node = test_of(t, node)

    def make(carried: Carried) -> Made:
        types = carried.mlir_types()
        operands = carried.operands(carried.names, {})
        op = ir.Operation.create("scf.while", results=types, operands=operands, regions=2)
        test, body = (region.blocks.append(*types) for region in op.regions)
        with ir.InsertionPoint(test):
            carried.enter(t, list(test.arguments))
            with t.writes() as written:
                condition = materialise(arithmetic.truth(t.condition(test_node)))
            if written:
                raise t.syntax_error(node.test, "the condition of a loop writes an array",
                                     "write it in the body")  # fmt: skip
            ir.Operation.create("scf.condition", operands=[condition, *carried.operands(t.names, {})])
        with ir.InsertionPoint(body):
            carried.enter(t, list(body.arguments))
            t.statements(node.body)
        return Made(op, body)

    begin(t, node, lambda: _forms_after(t, node.test))
    _loop(t, node, [*node.body, ast.Expr(node.test)], make, set(), None)


def _forms_after(t: ProgramTranslator, test: ast.expr) -> dict[str, Value]:
    """Values of the form that names have after a condition; nothing is left of it."""
    scratch = ir.Operation.create("scf.execute_region", regions=1)
    found = run_path(t, scratch.regions[0].blocks.append(), lambda: t.condition(test)).names
    scratch.erase()
    return {name: zeros_like(value) for name, value in found.items() if flows(value)}


def _loop(
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
    carried = Carried()
    for name in assigned:  # numbers have no identity: what is assigned is carried
        if isinstance(before.get(name), Scalar):
            _carry(carried, name, before[name])
    structures = t.structures  # a dict made in the body has one number however often it is translated
    while True:
        t.frame.environment.locals, t.structures = dict(before), structures
        start = t.mark()
        with t.writes() as contents:
            made = make(carried)
        ends = t.names
        if not _grow(t, node, carried, before, ends, contents, start, assigned, targets, {RESULT, *begun}):
            break
        made.op.erase()
    with ir.InsertionPoint(made.block):
        first = [] if made.following is None else [made.following]
        ir.Operation.create("scf.yield", operands=[*first, *carried.operands(ends, contents)])
    t.frame.environment.locals = before
    results = list(made.op.results)[0 if made.following is None else 1 :]
    after = carried.bind(results)
    slots = aliasing.slots(carried.names, carried.starts, ends, after)
    for name in assigned:
        if name not in carried.names and not same_contents(ends.get(name), before.get(name)):
            place = t.place_of(name, [node]) or t.span(node)
            before[name] = _changed(t, name, before.get(name), ends.get(name), place)
    before.update(after)
    for cell, ssa in zip(carried.cells, results[len(carried.types) :], strict=True):
        t.put(cell, ssa)
    aliasing.settle(t, node, slots, carried.cells, count)


def _changed(
    t: ProgramTranslator, name: str, first: Value | None, last: Value | None, place: SourceSpan
) -> Value:
    """What a name is after a loop that may run no round, and did not carry it."""
    if last is None or not is_known(first):
        return Undefined(name, place)
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
