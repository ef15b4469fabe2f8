"""Loops: scf.for and scf.while.

What flows around them is found in `loop_values`, loops in copies are in `unrolling`, branches in `branches`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mlir import ir

from pykern.dialect.index_space import NdrangeOp
from pykern.frontend import arithmetic, iterations
from pykern.frontend.casts import convert, materialise, mlir_type
from pykern.frontend.desugar import none_of
from pykern.frontend.iterations import Item
from pykern.frontend.liveness import names_read_after
from pykern.frontend.loop_values import Carried, assigned_names, build_loop
from pykern.frontend.merging import (
    flows,
    leaves,
    zeros_like,
)
from pykern.frontend.rows import ShortRow, is_row, places_of
from pykern.frontend.unrolling import constant_items, constant_values, indexes_tuple, target_names, unrolled
from pykern.frontend.values import (
    ComplexValue,
    LanguageName,
    RangeValue,
    Scalar,
    TupleValue,
    Undefined,
    Value,
    describe,
)
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.translation import Translation


def for_loop(t: Translation, node: ast.For) -> None:
    """``for`` over a range or the elements of an array, or unrolled over a tuple or ``pk.unroll(range(...))``."""
    if _is_of_several(t, node.iter):
        _over_items(t, node)
        return
    iterated = t.expression(node.iter)
    if isinstance(iterated, TupleValue) and not isinstance(iterated, ComplexValue):
        unrolled(t, node, iterated.items)
    elif isinstance(iterated, ShortRow):
        unrolled(t, node, [t.item(node.iter, iterated, k) for k in places_of(iterated)])  # type: ignore[attr-defined]
    elif is_row(iterated):
        item: Item = lambda index: t.item(node.iter, iterated, index)  # type: ignore[attr-defined]  # noqa: E731
        _counted(t, node, RangeValue(_NIL, t.length(iterated, 0), _ONE), item)
    elif not isinstance(iterated, RangeValue):
        raise t.type_error(node.iter, f"a loop runs over range(...), an array or a tuple, not {describe(iterated)}",
                           "write `for k in range(len(x)):` and index")  # fmt: skip
    elif iterated.unroll or indexes_tuple(t, node, iterated):
        unrolled(t, node, constant_items(t, node, iterated))
    else:
        _counted(t, node, iterated)


_NIL, _ONE = Scalar(weak_int, const=0), Scalar(weak_int, const=1)


def _is_of_several(t: Translation, node: ast.expr) -> bool:
    """Whether a loop goes over ``enumerate``, ``zip`` or ``reversed``."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    known = t.names.get(node.func.id) or t.frame.environment.captures.get(node.func.id)
    return isinstance(known, LanguageName) and known.name in ("enumerate", "zip", "reversed")


def _over_items(t: Translation, node: ast.For) -> None:
    """A loop over ``enumerate(x[i])`` and the like."""
    found = iterations.iterated(t, node.iter)
    if found is None:
        raise t.type_error(node.iter, f"`{ast.unparse(node.iter)}` goes over rows, ranges and tuples in kernels",
                           "write `for k in range(len(x)):` and index")  # fmt: skip
    length, item, copies = found
    if not copies:
        _counted(t, node, RangeValue(_NIL, length, _ONE), item)
    elif not length.is_const:
        raise t.type_error(node.iter, "a tuple and a row whose length is not known do not go together in a loop",
                           "say how long the row is, as in x[i, :3]")  # fmt: skip
    else:
        unrolled(t, node, [item(Scalar(weak_int, const=k)) for k in range(length.const)])  # type: ignore[arg-type]


def items(t: Translation, node: ast.expr) -> list[Value]:
    """What a comprehension goes over: its length must be known when compiling."""
    found = iterations.iterated(t, node)
    if found is None or not found[0].is_const:
        raise t.type_error(node, f"the length of `{ast.unparse(node)}` is known only when this runs",
                           "sum, any and all of any length stand in a statement alone; else write a loop")  # fmt: skip
    length, item, _ = found
    return [item(Scalar(weak_int, const=k)) for k in range(length.const)]  # type: ignore[arg-type]


def _counted(t: Translation, node: ast.For, r: RangeValue, item: Item | None = None) -> None:
    """A loop in the IR, over the numbers of a range or over what `item` makes of them. What each
    iteration assigns has a value after a range that is known not to be empty."""
    count, body, targets = trip_count(r), _ForBody(t, node, r, item), set(target_names(node))
    values = constant_values(r) if item is None else range(0)
    read = read_later(t, node, [*targets, *assigned_names(node.body)]) if values else frozenset()
    counter = next((n for n in targets if n in read and n not in assigned_names(node.body)), None)
    if node.exit_flags:
        # without an iteration the loop is not left early, and its `else` gives the value that is read
        if item is None:
            counter = next(iter(targets & node.otherwise), counter)
        if counter is not None and not flows(t.names.get(counter)):
            t.names[counter] = Scalar(weak_int, const=values[0] if values else 0)
        _while_form(t, node, body, count)
        return
    build_loop(t, node, node.body, lambda carried: _scf_for(t, body, carried, count), targets, read - targets)
    if values and counter is not None and not flows(t.names.get(counter)):
        t.names[counter] = Scalar(weak_int, const=values[-1])


def read_later(t: Translation, node: ast.stmt, names: Iterable[str]) -> frozenset[str]:
    """Which of the names may be read after a statement, before they get another value."""
    return names_read_after(t.frame.function.node, node, names)


def trip_count(r: RangeValue) -> ir.Value | None:
    """The number of iterations, or None where start, stop and a positive step bound the loop themselves."""
    if (r.step.is_const and r.step.const > 0) or (not r.step.is_const and _is_of_launch(r.step.ssa)):
        return None
    if r.step.is_const:
        return materialise(ceil_divide(arithmetic.binary("-", r.start, r.stop), arithmetic.negate(r.step)))
    # either way; a step of zero divides safely and gives 0 iterations: a kernel cannot raise
    return materialise(ceil_divide(arithmetic.binary("-", r.stop, r.start), r.step))


def _is_of_launch(value: ir.Value) -> bool:
    """Whether a step is a number of work-items or groups, or a product of those: where code runs it is positive."""
    if isinstance(value.owner, ir.Block):
        return False
    op = value.owner.operation
    if op.name == "arith.muli":
        return all(map(_is_of_launch, op.operands))
    return op.name in _POSITIVE


_POSITIVE = (NdrangeOp.OPERATION_NAME, "kern.group_size", "kern.num_groups", "kern.subgroup_size")


def ceil_divide(a: Scalar, b: Scalar) -> Scalar:
    quotient = arithmetic.binary("//", arithmetic.negate(a), b)
    return arithmetic.maximum(arithmetic.negate(quotient), Scalar(weak_int, const=0))


class _ForBody:
    """One iteration of a `for` loop: binds the target and translates the body."""

    def __init__(self, t: Translation, node: ast.For, r: RangeValue, item: Item | None) -> None:
        self.t, self.node, self.range, self.item = t, node, r, item

    def __call__(self, counter: ir.Value, counts: bool) -> None:
        """`counts`: the counter runs from 0 by 1 and the target is start + counter * step."""
        index = Scalar(weak_int, counter)
        if counts:
            index = arithmetic.binary("+", self.range.start, arithmetic.binary("*", index, self.range.step))
        self.t.assign(self.node.target, index if self.item is None else self.item(index))
        self.t.statements(self.node.body)


def _scf_for(t: Translation, body: _ForBody, carried: Carried, count: ir.Value | None):
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

    def make(carried: Carried):
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

    build_loop(t, node, node.body, make, set(target_names(node)))


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

    def make(carried: Carried):
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

    begin(t, node, lambda first: _forms_after(t, node.test, first))
    build_loop(t, node, [*node.body, ast.Expr(node.test)], make, set())


def begin(t: Translation, node: ast.While, forms_after: Callable[[list[ast.stmt]], dict[str, Value]]) -> None:
    """Give a form to the names of ``while (k := ...)``, and to those that ``while True`` assigns first: both are
    evaluated before anything else, however often the loop runs, so nobody reads what the names hold before it."""
    first = _always(node)
    begun = [
        name
        for name in assigned_names([ast.Expr(node.test), *first])
        if isinstance(t.names.get(name), Undefined | None)
    ]
    if begun:
        forms = forms_after(first)
        t.names.update({name: forms[name] for name in begun if name in forms})


def _always(node: ast.While) -> list[ast.stmt]:
    """The assignments that a loop without a condition begins with, before anything may leave it."""
    if not isinstance(node.test, ast.Constant) or not node.test.value:
        return []
    return list(itertools.takewhile(_names_values, node.body))


def _names_values(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and all(
        isinstance(target, ast.Name | ast.Tuple) for target in statement.targets
    )


def _forms_after(t: Translation, test: ast.expr, first: list[ast.stmt]) -> dict[str, Value]:
    """Values of the form that names have after a condition and these statements; nothing is left of them."""
    scratch, saved = ir.Operation.create("scf.execute_region", regions=1), dict(t.names)
    with ir.InsertionPoint(scratch.regions[0].blocks.append()):
        t.scalar(test)
        t.statements(first)
    found = t.names
    t.frame.environment.locals = saved
    scratch.erase()
    return {name: zeros_like(value) for name, value in found.items() if flows(value)}
