"""Loops: scf.for, scf.while, and unrolled copies, with the values that flow around them.

The types of what flows are known only after a body was translated: a loop is built again with wider types
until they stand still. Branches are in `branches`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.data.scopes import assigned
from pykern.errors import CHANGED_KIND
from pykern.frontend import arithmetic
from pykern.frontend.casts import convert, materialise, mlir_type
from pykern.frontend.desugar import RESULT, none_of
from pykern.frontend.liveness import read_after
from pykern.frontend.merging import (
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
from pykern.frontend.values import (
    Array,
    RangeValue,
    Scalar,
    TupleValue,
    Undefined,
    UnsupportedValue,
    Value,
    describe,
)
from pykern.passes.analysis.cost_model.code_size import MOST_COPIES, UNASKED_COPIES
from pykern.types import DType, i64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.translation import Translation

_ITEM = ".item"


@dataclass
class _Carried:
    """What flows around a loop: names, the form of their values, and the types of the leaves."""

    initial: dict[str, Value]
    types: list[DType]

    def operands(self) -> list[ir.Value]:
        flat = [leaf for value in self.initial.values() for leaf in leaves(value)]
        return [materialise(convert(v, d)) for v, d in zip(flat, self.types, strict=True)]

    def bind(self, ssa: list[ir.Value]) -> dict[str, Value]:
        scalars = iter([Scalar(d, v) for d, v in zip(self.types, ssa, strict=True)])
        return {name: rebuild(value, scalars) for name, value in self.initial.items()}


def for_loop(t: Translation, node: ast.For) -> None:
    """``for`` over a range or the elements of an array, or unrolled over a tuple or ``pk.unroll(range(...))``."""
    iterated = t.expression(node.iter)
    if isinstance(iterated, TupleValue):
        unrolled(t, node, iterated.items)
    elif isinstance(iterated, Array) and iterated.shape:
        nil, one = Scalar(weak_int, const=0), Scalar(weak_int, const=1)
        _counted(t, node, RangeValue(nil, t.length(iterated, 0), one), iterated)
    elif not isinstance(iterated, RangeValue):
        raise t.type_error(node.iter, f"a loop runs over range(...), an array or a tuple, not {describe(iterated)}",
                           "write `for k in range(len(x)):` and index")  # fmt: skip
    elif iterated.unroll or _indexes_tuple(t, node, iterated):
        unrolled(t, node, constant_items(t, node, iterated))
    else:
        _counted(t, node, iterated)


def _counted(t: Translation, node: ast.For, r: RangeValue, array: Array | None = None) -> None:
    """A loop in the IR, over the numbers of a range or over the elements of `array` that they count. What each
    iteration assigns has a value after a range that is known not to be empty."""
    count, body, targets = trip_count(r), _ForBody(t, node, r, array), set(target_names(node))
    values = constant_values(r) if array is None else range(0)
    read = read_later(t, node, [*targets, *assigned_names(node.body)]) if values else frozenset()
    counter = next((n for n in targets if n in read and n not in assigned_names(node.body)), None)
    if node.exit_flags:
        # without an iteration the loop is not left early, and its `else` gives the value that is read
        if array is None:
            counter = next(iter(targets & node.otherwise), counter)
        if counter is not None and not flows(t.names.get(counter)):
            t.names[counter] = Scalar(weak_int, const=values[0] if values else 0)
        _while_form(t, node, body, count)
        return
    _loop(t, node, node.body, lambda carried: _scf_for(t, body, carried, count), targets, read - targets)
    if values and counter is not None and not flows(t.names.get(counter)):
        t.names[counter] = Scalar(weak_int, const=values[-1])


def constant_values(r: RangeValue) -> range:
    """The values of a range of constant bounds; none where they are not known."""
    bounds = [b.const for b in (r.start, r.stop, r.step) if b.is_const and isinstance(b.const, int)]
    return range(*bounds) if len(bounds) == 3 and bounds[2] else range(0)


def read_later(t: Translation, node: ast.stmt, names: Iterable[str]) -> frozenset[str]:
    """Which of the names may be read after a statement, before they get another value."""
    return frozenset(name for name in names if read_after(t.frame.function.node, node, name))


def _indexes_tuple(t: Translation, node: ast.For, r: RangeValue) -> bool:
    """Whether a short loop of known bounds takes items of a tuple by its counter, which only copies of the body can."""
    bounds = (r.start, r.stop, r.step)
    if not all(b.is_const for b in bounds) or r.step.const == 0:
        return False
    if len(range(*(b.const for b in bounds))) > UNASKED_COPIES:
        return False
    counters = set(target_names(node))
    indexed = (n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Subscript))
    return any(
        not counters.isdisjoint(n.id for n in ast.walk(found.slice) if isinstance(n, ast.Name))
        and isinstance(_known(t, found.value), TupleValue)
        for found in indexed
    )


def _known(t: Translation, node: ast.expr) -> Value | None:
    """What a name, a field or an item of a tuple means, without translating it; of items any."""
    if isinstance(node, ast.Name):
        environment = t.frame.environment
        return environment.locals.get(node.id) or environment.captures.get(node.id)
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return None
    base = _known(t, node.value)
    if not isinstance(base, TupleValue) or not base.items:
        return None
    if isinstance(node, ast.Subscript):
        return base.items[0]
    return dict(zip(base.fields, base.items, strict=False)).get(node.attr)


def unrolled(t: Translation, node: ast.For, items) -> None:
    if len(items) > MOST_COPIES:
        raise t.syntax_error(node, f"{len(items)} copies of the body are too many (at most {MOST_COPIES})",
                             t.instead_of_copies)  # fmt: skip
    bind = ast.copy_location(ast.Assign([node.target], ast.Name(_ITEM, ast.Load())), node)
    ast.copy_location(bind.value, node)
    body: list[ast.stmt] = [bind, *node.body]
    if node.exit_flags:  # the target, too, stays as it was when the loop was left
        body = [ast.copy_location(ast.If(none_of(node.exit_flags, node), body, []), node)]
        t.frame.unrolling += 1
    for item in items:
        t.names[_ITEM] = item
        t.statements(body)
    t.names.pop(_ITEM, None)
    if node.exit_flags:
        t.frame.unrolling -= 1


def constant_items(t: Translation, node: ast.For, r: RangeValue) -> list[Value]:
    bounds = (r.start, r.stop, r.step)
    if not all(b.is_const for b in bounds):
        raise t.type_error(node.iter, "pk.unroll needs bounds that are known when compiling",
                           "use constants, pk.static parameters, or a plain range")  # fmt: skip
    return [Scalar(weak_int, const=k) for k in range(*(b.const for b in bounds))]


def trip_count(r: RangeValue) -> ir.Value | None:
    """The number of iterations, or None where start, stop and a positive step bound the loop themselves."""
    if r.step.is_const and r.step.const > 0:
        return None
    if r.step.is_const:
        return materialise(ceil_divide(arithmetic.binary("-", r.start, r.stop), arithmetic.negate(r.step)))
    # either way; a step of zero divides safely and gives 0 iterations: a kernel cannot raise
    return materialise(ceil_divide(arithmetic.binary("-", r.stop, r.start), r.step))


def ceil_divide(a: Scalar, b: Scalar) -> Scalar:
    quotient = arithmetic.binary("//", arithmetic.negate(a), b)
    return arithmetic.maximum(arithmetic.negate(quotient), Scalar(weak_int, const=0))


class _ForBody:
    """One iteration of a `for` loop: binds the target and translates the body."""

    def __init__(self, t: Translation, node: ast.For, r: RangeValue, array: Array | None) -> None:
        self.t, self.node, self.range, self.array = t, node, r, array

    def __call__(self, counter: ir.Value, counts: bool) -> None:
        """`counts`: the counter runs from 0 by 1 and the target is start + counter * step."""
        index = Scalar(weak_int, counter)
        if counts:
            index = arithmetic.binary("+", self.range.start, arithmetic.binary("*", index, self.range.step))
        self.t.assign(
            self.node.target, index if self.array is None else self.t.item(self.node.iter, self.array, index)
        )
        self.t.statements(self.node.body)


def _scf_for(t: Translation, body: _ForBody, carried: _Carried, count: ir.Value | None):
    nil, one = Scalar(weak_int, const=0), Scalar(weak_int, const=1)
    r = body.range
    bounds = (
        [materialise(b) for b in (r.start, r.stop, r.step)]
        if count is None
        else [materialise(nil), count, materialise(one)]
    )
    types = [mlir_type(d) for d in carried.types]
    op = ir.Operation.create("scf.for", results=types, operands=[*bounds, *carried.operands()], regions=1)
    block = op.regions[0].blocks.append(ir.IndexType.get(), *types)
    t.names.update(carried.bind(list(block.arguments)[1:]))
    with ir.InsertionPoint(block):
        body(block.arguments[0], counts=count is not None)
    return op, block, 0


def _while_form(t: Translation, node: ast.For, body: _ForBody, count: ir.Value | None) -> None:
    """A `for` that may end early: a counted while, its flags in the condition."""
    r = body.range
    if count is None:
        count = materialise(ceil_divide(arithmetic.binary("-", r.stop, r.start), r.step))

    def make(carried: _Carried):
        types = [ir.IndexType.get(), *(mlir_type(d) for d in carried.types)]
        start = materialise(Scalar(weak_int, const=0))
        op = ir.Operation.create("scf.while", results=types, operands=[start, *carried.operands()], regions=2)
        test, step = (region.blocks.append(*types) for region in op.regions)
        t.names.update(carried.bind(list(test.arguments)[1:]))
        with ir.InsertionPoint(test):
            more = arithmetic.binary("<", Scalar(weak_int, test.arguments[0]), Scalar(weak_int, count))
            going = t.scalar(none_of(node.exit_flags, node))
            condition = arithmetic.binary("&", more, going)
            ir.Operation.create("scf.condition", operands=[materialise(condition), *test.arguments])
        t.names.update(carried.bind(list(step.arguments)[1:]))
        with ir.InsertionPoint(step):
            body(step.arguments[0], counts=True)
            following = arithmetic.binary("+", Scalar(weak_int, step.arguments[0]), Scalar(weak_int, const=1))
        return op, step, following.ssa

    _loop(t, node, node.body, make, set(target_names(node)))


def test_of(t: Translation, node: ast.While) -> ast.expr:
    """What is asked before each iteration: the condition, once no break has been reached."""
    if node.exit_flags:
        both = ast.BoolOp(ast.And(), [none_of(node.exit_flags, node), node.test])
        return ast.copy_location(both, node.test)
    if isinstance(node.test, ast.Constant) and node.test.value:
        raise t.syntax_error(node, "this loop never ends", "leave it with break or return")
    return node.test


def while_loop(t: Translation, node: ast.While) -> None:
    """``while``: the condition is evaluated before each iteration, and not after a break."""
    test_node = test_of(t, node)

    def make(carried: _Carried):
        types = [mlir_type(d) for d in carried.types]
        op = ir.Operation.create("scf.while", results=types, operands=carried.operands(), regions=2)
        test, body = (region.blocks.append(*types) for region in op.regions)
        t.names.update(carried.bind(list(test.arguments)))
        with ir.InsertionPoint(test):
            condition = arithmetic.truth(t.scalar(test_node))
            flat = [leaf for name in carried.initial for leaf in leaves(t.names[name])]
            values = [materialise(convert(v, d)) for v, d in zip(flat, carried.types, strict=True)]
            ir.Operation.create("scf.condition", operands=[materialise(condition), *values])
        t.names.update(carried.bind(list(body.arguments)))
        with ir.InsertionPoint(body):
            t.statements(node.body)
        return op, body, None

    begin(t, node, lambda: _forms_after(t, node.test))
    _loop(t, node, [*node.body, ast.Expr(node.test)], make, set())


def begin(t: Translation, node: ast.While, forms_after: Callable[[], dict[str, Value]]) -> None:
    """Give a form to the names of ``while (k := ...)``: the condition is evaluated before anything else, however often
    the loop runs, so nobody reads what they hold before it."""
    begun = [name for name in assigned(ast.Expr(node.test)) if t.names.get(name) is None]
    if begun:
        forms = forms_after()
        t.names.update({name: forms[name] for name in begun if name in forms})


def _forms_after(t: Translation, test: ast.expr) -> dict[str, Value]:
    """Values of the form that names have after a condition; nothing is left of it."""
    scratch, saved = ir.Operation.create("scf.execute_region", regions=1), dict(t.names)
    with ir.InsertionPoint(scratch.regions[0].blocks.append()):
        t.scalar(test)
    found = t.names
    t.frame.environment.locals = saved
    scratch.erase()
    return {name: zeros_like(value) for name, value in found.items() if flows(value)}


def _loop(
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
    assigned = [n for n in dict.fromkeys((*kept, *assigned_names(body))) if n not in local]
    initial = {n: before[n] for n in assigned if flows(before.get(n))}
    carried = _carried(initial)
    changing: dict[str, Value] = {}
    while True:
        t.frame.environment.locals = {**before, **changing}
        op, block, counter = make(carried)
        ends = t.names
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
        carried = _Carried(carried.initial, widened)
        op.erase()
    _close(block, carried, ends, counter)
    t.frame.environment.locals = before
    for name in (*assigned, *local):
        first, last, place = before.get(name), ends.get(name), t.place_of(name, [node]) or t.span(node)
        if name in carried.initial or same(last, first):
            continue
        if name in local and name not in changing and last is not None and is_known(first):
            places = known.get(name), place
            changing[name] = differing(name, first, last, "before the loop", "after it", places)
        before[name] = changing.get(name, Undefined(name, place))
    skip = 1 if isinstance(counter, ir.Value) else 0
    before.update(carried.bind(list(op.results)[skip:]))


def is_known(value: Value | None) -> TypeGuard[Value]:
    """Whether a name has a value of one kind."""
    return value is not None and not isinstance(value, Undefined | UnsupportedValue)


def _carried(initial: dict[str, Value]) -> _Carried:
    return _Carried(initial, [leaf.dtype for v in initial.values() for leaf in leaves(v)])


def _unfit(carried: _Carried, ends: dict[str, Value]) -> set[str]:
    """Names with a constant, before the loop or at its end, that the type of both does not hold."""
    return {
        name
        for name, value in carried.initial.items()
        if flows(end := ends[name]) and same_form(value, end) and not holds(value, end)
    }


def _not_carried(
    t: Translation,
    body: list[ast.stmt],
    known: dict[str, SourceSpan],
    assigned: list[str],
    carried: _Carried,
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


def _close(
    block: ir.Block, carried: _Carried, ends: dict[str, Value], counter: ir.Value | int | None
) -> None:
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
    carried: _Carried,
    ends: dict[str, Value],
) -> list[DType]:
    types: list[DType] = []
    given: Iterator[DType] = iter(carried.types)
    for name, form in carried.initial.items():
        end = ends[name]
        if not flows(end) or not same_form(form, end):
            places = known.get(name), t.place_of(name, body)
            kinds = differing(name, form, end, "before the loop", "in it", places)
            raise t.type_error(node, f"`{name}` is {kinds.description}", "use another name in the loop",
                               CHANGED_KIND, kinds.places)  # fmt: skip
        types += [unify(next(given), leaf.dtype) for leaf in leaves(end)]
    return types


def assigned_names(body: list[ast.stmt]) -> Iterator[str]:
    """Names that the statements may bind, in order."""
    for statement in body:
        yield from assigned(statement)


def target_names(node: ast.For) -> list[str]:
    return [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
