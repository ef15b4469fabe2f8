"""Branches: scf.if, and the choices of `and`, `or` and `a if c else b`, with the values that flow out of them.

The types of what flows are known only after a side was translated: it is built in a scratch op first and
moved. Loops are in `control`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith

from pykern.data.locations import SourceSpan
from pykern.dialect.memory import GuardOp
from pykern.frontend import arithmetic, row_merging
from pykern.frontend.casts import convert, materialise, mlir_type
from pykern.frontend.desugar import RESULT
from pykern.frontend.left_paths import Flow, have_left
from pykern.frontend.liveness import read_after
from pykern.frontend.merging import flows, leaves, meet, rebuild, same, same_form, unify, zeros_like
from pykern.frontend.rows import Rows
from pykern.frontend.values import Scalar, Value, describe
from pykern.types import DType, bool_

if TYPE_CHECKING:
    from pykern.frontend.translation import Translation

_FLOW = Flow(flows, same_form, zeros_like)


@dataclass
class _Path:
    """One side of a branch: its block and what the names mean at its end."""

    block: ir.Block
    names: dict[str, Value]


def branch(t: Translation, node: ast.If) -> None:
    """``if``: a constant condition translates one side only."""
    condition = arithmetic.truth(t.scalar(node.test))
    if condition.is_const:
        t.statements(node.body if condition.const else node.orelse)
        return
    scratch = ir.Operation.create("scf.if", operands=[condition.ssa], regions=2)
    before, known = dict(t.names), dict(t.frame.places)
    paths = [
        _path(t, scratch, n, lambda body=b: t.statements(body))
        for n, b in enumerate((node.body, node.orelse))
    ]
    t.frame.environment.locals = before
    changed = {
        name for path in paths for name, value in path.names.items() if not same(value, before.get(name))
    }
    left = have_left(node, t.frame.unrolling, [path.names for path in paths], before)
    merged: dict[str, tuple[Value, Value]] = {}
    behind: dict[str, Callable[[Value], Value]] = {}
    for name in sorted(changed):
        where = t.place_of(name, [node]) or t.span(node)
        sides = paths[0].names.get(name), paths[1].names.get(name)
        if name != RESULT:  # which is read of the path that has left, and of no other
            sides = _FLOW.still_read(left, *sides)
        if row_merging.are_merged(t, *sides) and not same(*sides):
            merged[name], behind[name] = _merged_rows(t, node, name, condition, sides, paths)  # type: ignore[arg-type]
            continue
        met = meet(name, *sides, where, partial(_places, t, node, name, known.get(name)))
        if isinstance(met, tuple):
            merged[name] = met
        else:
            before[name] = met
    if getattr(node, "is_guard", False):
        for path in paths:
            with ir.InsertionPoint.at_block_begin(path.block):
                GuardOp.create()
    results = _finish_branch(scratch, condition.ssa, paths, merged, bool(node.orelse))
    before.update({name: behind.get(name, _itself)(value) for name, value in results.items()})
    scratch.erase()


def _itself(value: Value) -> Value:
    return value


def _merged_rows(
    t: Translation, node: ast.AST, name: str, condition: Scalar, sides: tuple[Rows, Rows], paths: list[_Path]
) -> tuple[tuple[Value, Value], Callable[[Value], Value]]:
    """The values of two rows that a name means on the paths, and what makes the row behind the branch."""

    def is_read(other: str) -> bool:
        return not isinstance(node, ast.stmt) or read_after(t.frame.function.node, node, other)

    alone = [
        row_merging.is_alone(t, name, row, path.names, is_read)
        for row, path in zip(sides, paths, strict=True)
    ]
    blocks = [path.block for path in paths]
    return row_merging.merged(t, node, condition, sides, blocks, not all(alone))


def _places(
    t: Translation, node: ast.If, name: str, earlier: SourceSpan | None
) -> tuple[SourceSpan | None, SourceSpan | None]:
    """Where a name gets its value on each side."""
    return t.place_of(name, node.body) or earlier, t.place_of(name, node.orelse) or earlier


def _path(t: Translation, scratch: ir.Operation, region: int, body: Callable[[], object]) -> _Path:
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


def conditional(t: Translation, node: ast.IfExp) -> Value:
    """``a if c else b``: only the chosen side is evaluated, unless evaluating both does no harm."""
    condition = arithmetic.truth(t.scalar(node.test))
    if condition.is_const:
        return t.expression(node.body if condition.const else node.orelse)
    return _choose(t, node, condition, lambda: t.expression(node.body), lambda: t.expression(node.orelse))


def short_circuit(t: Translation, node: ast.BoolOp) -> Value:
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


def both(t: Translation, node: ast.expr, condition: Scalar, following: Callable[[], Scalar]) -> Scalar:
    """`condition`, and where it holds what follows: evaluated there only."""
    if condition.is_const:
        return following() if condition.const else condition
    chosen = _choose(t, node, condition, following, lambda: Scalar(bool_, const=False))
    assert isinstance(chosen, Scalar)
    return chosen


def _choose(
    t: Translation,
    node: ast.expr,
    condition: Scalar,
    on_true: Callable[[], Value],
    on_false: Callable[[], Value],
) -> Value:
    scratch = ir.Operation.create("scf.if", operands=[condition.ssa], regions=2)
    chosen: list[Value] = []
    paths = [_path(t, scratch, n, lambda f=f: chosen.append(f())) for n, f in enumerate((on_true, on_false))]
    assigned = _assigned(t, node, paths)
    a, b = chosen
    if same(a, b) and flows(a) and all(leaf.is_const for leaf in leaves(a)):
        if assigned or not all(
            _harmless(path.block) for path in paths
        ):  # a helper that stores: one of the two runs
            t.names.update(_finish_branch(scratch, condition.ssa, paths, assigned, True))
        scratch.erase()
        return a
    if row_merging.are_merged(t, a, b):
        pair, behind = _merged_rows(t, node, "", condition, (a, b), paths)  # type: ignore[arg-type]
        results = _finish_branch(scratch, condition.ssa, paths, {"": pair, **assigned}, True)
        scratch.erase()
        value = behind(results.pop(""))
        t.names.update(results)
        return value
    if not (flows(a) and flows(b) and same_form(a, b)):
        raise t.type_error(node, f"the sides are {describe(a)} and {describe(b)}: they have no common type",
                           "give both a number, or write if and else, with a name for each")  # fmt: skip
    with t.operands_of(node):
        for pair in zip(leaves(a), leaves(b), strict=True):
            for leaf in pair:
                arithmetic.fitting(leaf, unify(*(side.dtype for side in pair)))
    if not assigned and all(_harmless(path.block) for path in paths):
        for path in paths:
            for op in list(path.block.operations):
                op.operation.move_before(scratch)
        scratch.erase()
        pairs = zip(leaves(a), leaves(b), strict=True)
        return rebuild(a, iter([_select(condition, x, y) for x, y in pairs]))
    results = _finish_branch(scratch, condition.ssa, paths, {"": (a, b), **assigned}, True)
    scratch.erase()
    value = results.pop("")
    t.names.update(results)
    return value


def _assigned(t: Translation, node: ast.expr, paths: list[_Path]) -> dict[str, tuple[Value, Value]]:
    """Names that ``:=`` gives a value on one side or both, with the values of both; others have none afterwards."""
    merged: dict[str, tuple[Value, Value]] = {}
    for name in sorted({n for p in paths for n, v in p.names.items() if not same(v, t.names.get(n))}):
        where = t.place_of(name, [ast.Expr(node)]) or t.span(node)
        met = meet(name, paths[0].names.get(name), paths[1].names.get(name), where)
        if isinstance(met, tuple):
            merged[name] = met
        else:
            t.names[name] = met
    return merged


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
