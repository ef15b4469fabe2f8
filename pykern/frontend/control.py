"""Branches and loops: scf.if, scf.for, scf.while, with the values that flow through them.

The types of what flows are known only after a body was translated. A branch is built in a scratch
op first and moved; a loop is built again with wider types until they stand still.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith

from pykern.dialect.memory import GuardOp
from pykern.frontend import arithmetic
from pykern.frontend.casts import convert, materialise, mlir_type
from pykern.frontend.desugar import BROKE, RESULT, RETURNED, SKIPPED, none_of
from pykern.frontend.merging import flows, leaves, meet, rebuild, same, same_form, unify, zeros_like
from pykern.frontend.values import (
    RangeValue,
    Scalar,
    TupleValue,
    Undefined,
    UnsupportedValue,
    Value,
    describe,
)
from pykern.types import DType, bool_, i64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.translator import Translator

MAX_UNROLL = 4096
_TRUE = Scalar(bool_, const=True)
_ITEM = ".item"


@dataclass
class _Path:
    """One side of a branch: its block and what the names mean at its end."""

    block: ir.Block
    names: dict[str, Value]


def branch(t: Translator, node: ast.If) -> None:
    """``if``: a constant condition translates one side only."""
    condition = arithmetic.truth(t.scalar(node.test))
    if condition.is_const:
        t.statements(node.body if condition.const else node.orelse)
        return
    scratch = ir.Operation.create("scf.if", operands=[condition.ssa], regions=2)
    before = dict(t.names)
    paths = [
        _path(t, scratch, n, lambda body=b: t.statements(body))
        for n, b in enumerate((node.body, node.orelse))
    ]
    t.frame.environment.locals = before
    changed = {
        name for path in paths for name, value in path.names.items() if not same(value, before.get(name))
    }
    left = [_has_left(t, path, before) for path in paths]
    if getattr(node, "else_has_left", False) and not t.frame.unrolling:
        left[1] = True
    merged: dict[str, tuple[Value, Value]] = {}
    for name in sorted(changed):
        sides = paths[0].names.get(name), paths[1].names.get(name)
        if name != RESULT:  # which is read of the path that has left, and of no other
            sides = _still_read(left, *sides)
        met = meet(name, *sides, t.span(node))
        if isinstance(met, tuple):
            merged[name] = met
        else:
            before[name] = met
    if getattr(node, "is_guard", False):
        for path in paths:
            with ir.InsertionPoint.at_block_begin(path.block):
                GuardOp.create()
    before.update(_finish_branch(scratch, condition.ssa, paths, merged, bool(node.orelse)))
    scratch.erase()


def _has_left(t: Translator, path: _Path, before: dict[str, Value]) -> bool:
    """Whether the path ends in return, break or continue: what follows is guarded, and reads nothing of it."""
    flags = (RETURNED,) if t.frame.unrolling else (RETURNED, BROKE, SKIPPED)
    return any(
        name.startswith(flags) and same(value, _TRUE) and not same(before.get(name), _TRUE)
        for name, value in path.names.items()
    )


def _still_read(left: list[bool], a: Value | None, b: Value | None) -> tuple[Value | None, Value | None]:
    """A path that has left takes the form of the other side."""
    if left[0] == left[1]:
        return a, b
    gone, kept = (a, b) if left[0] else (b, a)
    if kept is not None and not (flows(gone) and flows(kept) and gone is not None and same_form(gone, kept)):
        gone = zeros_like(kept) if flows(kept) else kept
    return (gone, kept) if left[0] else (kept, gone)


def _path(t: Translator, scratch: ir.Operation, region: int, body: Callable[[], object]) -> _Path:
    saved = dict(t.names)
    block = scratch.regions[region].blocks.append()
    with ir.InsertionPoint(block):
        body()
    path = _Path(block, t.names)
    t.frame.environment.locals = saved
    return path


def _finish_branch(
    scratch: ir.Operation,
    condition: ir.Value,
    paths: list[_Path],
    merged: dict[str, tuple[Value, Value]],
    has_else: bool,
) -> dict[str, Value]:
    """Make the real scf.if after the scratch, with results, and move the blocks into it."""
    types = [
        unify(a.dtype, b.dtype)
        for pair in merged.values()
        for a, b in zip(leaves(pair[0]), leaves(pair[1]), strict=True)
    ]
    for side, path in enumerate(paths):
        flat = [leaf for pair in merged.values() for leaf in leaves(pair[side])]
        _yield(path.block, flat, types)
    made = ir.Operation.create(
        "scf.if", results=[mlir_type(d) for d in types], operands=[condition], regions=2
    )
    made.move_after(scratch)
    paths[0].block.append_to(made.regions[0])
    if has_else or types:
        paths[1].block.append_to(made.regions[1])
    scalars = iter([Scalar(d, r) for d, r in zip(types, made.results, strict=True)])
    return {name: rebuild(pair[0], scalars) for name, pair in merged.items()}


def _yield(block: ir.Block, values: list[Scalar], types: list[DType]) -> None:
    with ir.InsertionPoint(block):
        operands = [materialise(convert(v, d)) for v, d in zip(values, types, strict=True)]
        ir.Operation.create("scf.yield", operands=operands)


# -- expressions that choose ------------------------------------------------------------------


def conditional(t: Translator, node: ast.IfExp) -> Value:
    """``a if c else b``: only the chosen side is evaluated, unless evaluating both does no harm."""
    condition = arithmetic.truth(t.scalar(node.test))
    if condition.is_const:
        return t.expression(node.body if condition.const else node.orelse)
    return _choose(t, node, condition, lambda: t.expression(node.body), lambda: t.expression(node.orelse))


def short_circuit(t: Translator, node: ast.BoolOp) -> Value:
    """``and`` / ``or``: the right side is evaluated only where it decides."""
    is_and = isinstance(node.op, ast.And)
    value: Value = t.scalar(node.values[0])
    for item in node.values[1:]:
        left = t.as_scalar(node, value)
        condition = arithmetic.truth(left)
        if condition.is_const:
            if bool(condition.const) == is_and:
                value = t.scalar(item)
            continue
        right: Callable[[], Value] = lambda item=item: t.scalar(item)  # noqa: E731
        keep: Callable[[], Value] = lambda left=left: left  # noqa: E731
        value = (
            _choose(t, node, condition, right, keep) if is_and else _choose(t, node, condition, keep, right)
        )
    return value


def _choose(
    t: Translator,
    node: ast.expr,
    condition: Scalar,
    on_true: Callable[[], Value],
    on_false: Callable[[], Value],
) -> Value:
    scratch = ir.Operation.create("scf.if", operands=[condition.ssa], regions=2)
    chosen: list[Value] = []
    paths = [_path(t, scratch, n, lambda f=f: chosen.append(f())) for n, f in enumerate((on_true, on_false))]
    for path in paths:
        for name, value in path.names.items():
            if not same(value, t.names.get(name)):
                t.names[name] = Undefined(name, t.span(node))
    a, b = chosen
    if same(a, b) and flows(a) and all(leaf.is_const for leaf in leaves(a)):
        scratch.erase()
        return a
    if not (flows(a) and flows(b) and same_form(a, b)):
        raise t.type_error(node, f"the sides are {describe(a)} and {describe(b)}: they have no common type")
    if all(_harmless(path.block) for path in paths):
        for path in paths:
            for op in list(path.block.operations):
                op.operation.move_before(scratch)
        scratch.erase()
        pairs = zip(leaves(a), leaves(b), strict=True)
        return rebuild(a, iter([_select(condition, x, y) for x, y in pairs]))
    results = _finish_branch(scratch, condition.ssa, paths, {"": (a, b)}, True)
    scratch.erase()
    return results[""]


def _harmless(block: ir.Block) -> bool:
    """Whether running a side that was not chosen changes nothing: no loads, no stores, no regions."""
    return all(
        op.operation.name.startswith(("arith.", "math.")) or op.operation.name == "memref.dim"
        for op in block.operations
    )


def _select(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    dtype = unify(a.dtype, b.dtype)
    a, b = convert(a, dtype), convert(b, dtype)
    if dtype == bool_:  # and / or say more to the passes than select
        if b.is_const and not b.const:
            return arithmetic.binary("&", condition, a)
        if a.is_const and a.const:
            return arithmetic.binary("|", condition, b)
        if b.ssa is not None and b.ssa == condition.ssa:
            return arithmetic.binary("&", condition, a)
        if a.ssa is not None and a.ssa == condition.ssa:
            return arithmetic.binary("|", condition, b)
    return Scalar(dtype, arith.SelectOp(condition.ssa, materialise(a), materialise(b)).result)


# -- loops ------------------------------------------------------------------------------------


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


def for_loop(t: Translator, node: ast.For) -> None:
    """``for`` over a range, or unrolled over a tuple or ``pk.unroll(range(...))``."""
    iterated = t.expression(node.iter)
    if isinstance(iterated, TupleValue):
        unrolled(t, node, iterated.items)
    elif not isinstance(iterated, RangeValue):
        raise t.type_error(node.iter, f"a loop runs over range(...) or a tuple, not {describe(iterated)}",
                           "write `for k in range(len(x)):` and index")  # fmt: skip
    elif iterated.unroll:
        unrolled(t, node, constant_items(t, node, iterated))
    else:
        count = trip_count(iterated)
        body = _ForBody(t, node, iterated)
        if node.exit_flags:
            _while_form(t, node, body, count)
        else:
            _loop(
                t,
                node,
                node.body,
                lambda carried: _scf_for(t, body, carried, count),
                set(target_names(node)),
            )


def unrolled(t: Translator, node: ast.For, items) -> None:
    if len(items) > MAX_UNROLL:
        raise t.syntax_error(node, f"{len(items)} copies of the body are too many (at most {MAX_UNROLL})",
                             "loop over range(...) without pk.unroll")  # fmt: skip
    bind = ast.copy_location(ast.Assign([node.target], ast.Name(_ITEM, ast.Load())), node)
    ast.copy_location(bind.value, node)
    body: list[ast.stmt] = [bind, *node.body]
    if node.exit_flags:  # the target, too, stays as it was when the loop was left
        body = [ast.copy_location(ast.If(none_of(node.exit_flags, node), body, []), node)]
        t.frame.unrolling += 1
    for item in items:
        t.names[_ITEM] = item
        t.statements(body)
    if node.exit_flags:
        t.frame.unrolling -= 1


def constant_items(t: Translator, node: ast.For, r: RangeValue) -> list[Value]:
    bounds = (r.start, r.stop, r.step)
    if not all(b.is_const for b in bounds):
        raise t.type_error(node.iter, "pk.unroll needs bounds that are known when compiling",
                           "use constants, pk.static parameters, or a plain range")  # fmt: skip
    return [Scalar(weak_int, const=k) for k in range(*(b.const for b in bounds))]


def trip_count(r: RangeValue) -> ir.Value | None:
    """The number of iterations, or None where start, stop and a positive step bound the loop themselves."""
    if r.step.is_const and r.step.const > 0:
        return None
    one = Scalar(weak_int, const=1)
    up = ceil_divide(arithmetic.binary("-", r.stop, r.start), r.step)
    down = ceil_divide(arithmetic.binary("-", r.start, r.stop), arithmetic.negate(r.step))
    if r.step.is_const:
        return materialise(down)
    rises = arithmetic.binary(">=", r.step, one)
    # a step of zero divides safely and gives 0 iterations: a kernel cannot raise
    return arith.SelectOp(rises.ssa, materialise(up), materialise(down)).result


def ceil_divide(a: Scalar, b: Scalar) -> Scalar:
    quotient = arithmetic.binary("//", arithmetic.negate(a), b)
    return arithmetic.maximum(arithmetic.negate(quotient), Scalar(weak_int, const=0))


class _ForBody:
    """One iteration of a `for` loop: binds the target and translates the body."""

    def __init__(self, t: Translator, node: ast.For, r: RangeValue) -> None:
        self.t, self.node, self.range = t, node, r

    def __call__(self, counter: ir.Value, counts: bool) -> None:
        """`counts`: the counter runs from 0 by 1 and the target is start + counter * step."""
        index = Scalar(weak_int, counter)
        if counts:
            index = arithmetic.binary("+", self.range.start, arithmetic.binary("*", index, self.range.step))
        self.t.assign(self.node.target, index)
        self.t.statements(self.node.body)


def _scf_for(t: Translator, body: _ForBody, carried: _Carried, count: ir.Value | None):
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


def _while_form(t: Translator, node: ast.For, body: _ForBody, count: ir.Value | None) -> None:
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


def while_loop(t: Translator, node: ast.While) -> None:
    """``while``: the condition is evaluated before each iteration, and not after a break."""
    test_node: ast.expr = node.test
    if node.exit_flags:
        both = ast.BoolOp(ast.And(), [none_of(node.exit_flags, node), node.test])
        test_node = ast.copy_location(both, node.test)
    elif isinstance(node.test, ast.Constant) and node.test.value:
        raise t.syntax_error(node, "this loop never ends", "leave it with break or return")

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

    _loop(t, node, [*node.body, ast.Expr(node.test)], make, set())


def _loop(t: Translator, node: ast.stmt, body: list[ast.stmt], make: Callable, local: set[str]) -> None:
    """Build the loop, with wider types for what it carries until they stand still."""
    before = dict(t.names)
    # a target that had an integer before the loop keeps its last value after it
    kept = sorted(n for n in local if isinstance(v := before.get(n), Scalar) and v.dtype in (weak_int, i64))
    local = local.difference(kept)
    assigned = [n for n in dict.fromkeys((*kept, *assigned_names(body))) if n not in local]
    initial = {n: before[n] for n in assigned if flows(before.get(n))}
    carried = _Carried(initial, [leaf.dtype for v in initial.values() for leaf in leaves(v)])
    changing: dict[str, Value] = {}
    while True:
        t.frame.environment.locals = {**before, **changing}
        op, block, counter = make(carried)
        ends = t.names
        found = _not_carried(assigned, carried, before, ends)
        if found.keys() - changing.keys():
            changing.update(found)
            op.erase()
            continue
        widened = _widened(t, node, carried, ends)
        result = ends.get(RESULT)
        late_result = RESULT in assigned and RESULT not in carried.initial and flows(result)
        if widened == carried.types and not late_result:
            break
        if late_result:
            carried.initial[RESULT] = zeros_like(result)
            widened = widened + [leaf.dtype for leaf in leaves(result)]
        carried = _Carried(carried.initial, widened)
        op.erase()
    _close(block, carried, ends, counter)
    t.frame.environment.locals = before
    for name in (*assigned, *local):
        if name not in carried.initial and not same(ends.get(name), before.get(name)):
            before[name] = Undefined(name, t.span(node))
    skip = 1 if isinstance(counter, ir.Value) else 0
    before.update(carried.bind(list(op.results)[skip:]))


def _not_carried(
    assigned: list[str], carried: _Carried, before: dict[str, Value], ends: dict[str, Value]
) -> dict[str, Value]:
    """Names whose meaning changes in the loop and cannot flow around it (None, an array): not read at its start."""
    return {
        name: UnsupportedValue(
            f"{describe(before[name])} in the first round of the loop and {describe(ends[name])} later"
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


def _widened(t: Translator, node: ast.stmt, carried: _Carried, ends: dict[str, Value]) -> list[DType]:
    types: list[DType] = []
    given: Iterator[DType] = iter(carried.types)
    for name, form in carried.initial.items():
        end = ends[name]
        if not flows(end) or not same_form(form, end):
            raise t.type_error(node, f"`{name}` is {describe(form)} before the loop and {describe(end)} in it",
                               "use another name in the loop")  # fmt: skip
        types += [unify(next(given), leaf.dtype) for leaf in leaves(end)]
    return types


def assigned_names(body: list[ast.stmt]) -> Iterator[str]:
    """Names that the statements may bind, in order."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def target_names(node: ast.For) -> list[str]:
    return [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
