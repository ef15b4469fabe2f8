"""Loops of an array program: scf.for and scf.while over tensors and scalars, or copies of the body.

What a loop carries is found in `carried_arrays`. `long_loops` says which loops of known length stay, `aliasing` which
arrays the names mean afterwards.
"""

from __future__ import annotations

import ast
import math
from collections import ChainMap
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from mlir import ir

from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise
from pykern.frontend.control import begin, ceil_divide, read_later, test_of, trip_count
from pykern.frontend.desugar import none_of
from pykern.frontend.liveness import read_first
from pykern.frontend.loop_values import assigned_names
from pykern.frontend.program import appended_lists, sliced_loops, tile_loops
from pykern.frontend.program.branches import run_path
from pykern.frontend.program.carried_arrays import Carried, Made, build_loop
from pykern.frontend.program.counted_rows import Rows
from pykern.frontend.program.flow import (
    flows,
    zeros_like,
)
from pykern.frontend.program.long_loops import is_long, may_stay
from pykern.frontend.program.sharing import Running
from pykern.frontend.program.tiles import TileValue
from pykern.frontend.unrolling import constant_items, constant_values, target_names, unrolled
from pykern.frontend.values import RangeValue, Scalar, Undefined, Value
from pykern.passes.analysis.cost_model.code_size import UNASKED_COPIES
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


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
    copies = math.prod(map(len, t.running))
    return t.may_keep_loops and not r.is_asked and is_long(node, constant_values(r), names, copies)


def _long(t: ProgramTranslator, node: ast.For, r: RangeValue, views: frozenset[int]) -> None:
    """The first iteration, which shows what names become; then the others, as a loop where that may be."""
    numbers, captures = constant_values(r), t.frame.environment.captures
    before = dict(t.names)
    _copies(t, node, [Scalar(weak_int, const=numbers[0])], views)
    start, after = ChainMap(before, captures), ChainMap(t.names, captures)
    lists = appended_lists.of(t, node)
    zeros: dict[str, Scalar] = {}
    if not may_stay(appended_lists.without(node, lists), numbers, start, after):
        written = sliced_loops.written_out(node, numbers[1:], after)
        if written is None or not may_stay(appended_lists.without(written[0], lists), numbers, start, after):
            _copies(t, node, constant_items(t, node, r)[1:], views)
            return
        node, zeros = written
    made = [name for name in t.names if name not in before and not name.startswith(".")]
    read = read_later(t, node, made)
    for name in made:
        if name not in read and not read_first(node.body, name):
            del t.names[name]  # each iteration has its own
    t.has_kept_loops = True
    t.names.update(zeros)
    with appended_lists.growing(t, node, lists, numbers[1:]):
        _in_ir(t, node, RangeValue(Scalar(weak_int, const=numbers[1]), r.stop, r.step))
    for name in zeros:
        t.names.pop(name, None)


def _copies(t: ProgramTranslator, node: ast.For, items: list[Value], views: frozenset[int]) -> None:
    loop = Running(items, views, t.frame, len(t.journal))
    t.running.append(loop)
    tile = items[0] if len(items) == 1 else None
    with tile_loops.checked(t, node, tile) if isinstance(tile, TileValue) else nullcontext():
        unrolled(t, node, loop)
    t.running.pop()


def _scf_for(t: ProgramTranslator, node: ast.For, r: RangeValue) -> None:
    count = trip_count(r)

    def make(carried: Carried) -> Made:
        appended_lists.begin(t, node)
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
    build_loop(t, node, node.body, make, targets, _trips(r), read - targets)
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

    build_loop(t, node, node.body, make, set(target_names(node)), None)


def while_loop(t: ProgramTranslator, node: ast.While) -> None:
    """``while``: the condition is evaluated before each iteration, and not after a break.

    Where all that it asks is known, the body may be copied instead: lengths may then follow from what it asks."""
    test_node = test_of(t, node)
    if t.may_keep_loops:
        t.has_kept_loops = t.has_kept_loops or _is_known(t, test_node)
    elif _ends_in_copies(t, node, test_node):
        return

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

    begin(t, node, lambda first: _forms_after(t, node.test, first))
    build_loop(t, node, [*node.body, ast.Expr(node.test)], make, set(), None)


def _ends_in_copies(t: ProgramTranslator, node: ast.While, test: ast.expr) -> bool:
    """Copy the body while the condition is known to hold; whether it is known not to hold at last."""
    for _ in range(UNASKED_COPIES):
        if not _is_known(t, test):
            return False
        if not arithmetic.truth(t.condition(test)).const:
            return True
        t.statements(node.body)
    return False


def _is_known(t: ProgramTranslator, test: ast.expr) -> bool:
    """Whether a condition is one of numbers that are known."""
    parts = list(ast.walk(test))
    values = [t.names.get(part.id) for part in parts if isinstance(part, ast.Name)]
    plain = not any(isinstance(part, ast.Call | ast.Subscript | ast.Attribute) for part in parts)
    return plain and bool(values) and all(isinstance(v, Scalar) and v.is_const for v in values)


def _forms_after(t: ProgramTranslator, test: ast.expr, first: list[ast.stmt]) -> dict[str, Value]:
    """Values of the form that names have after a condition and these statements; nothing is left of them."""

    def evaluate() -> None:
        t.condition(test)
        t.statements(first)

    scratch = ir.Operation.create("scf.execute_region", regions=1)
    found = run_path(t, scratch.regions[0].blocks.append(), evaluate).names
    scratch.erase()
    return {name: zeros_like(value) for name, value in found.items() if flows(value)}
