"""Branches of an array program: scf.if, with names and the contents of arrays merged after it.

A path is translated into a block of its own; what it wrote into arrays is taken back, and comes out of the
scf.if as results. Two names for one array stay two names for one array.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.frontend import arithmetic
from pykern.frontend.left_paths import Flow, have_left
from pykern.frontend.merging import as_complex, differing, values_of_paths
from pykern.frontend.program.flow import (
    Leaf,
    LeafType,
    common_types,
    flows,
    joined,
    leaves,
    operand,
    rebuild,
    same,
    same_contents,
    type_of,
    zeros_like,
)
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, Undefined, UnsupportedValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_FLOW = Flow(flows, common_types, zeros_like)
_CHOSEN = ".chosen"


@dataclass
class Path:
    """One side of a branch: its block, what the names mean and what the arrays hold at its end."""

    block: ir.Block
    names: dict[str, Value]
    contents: dict[Cell, ir.Value]


def branch(t: ProgramTranslator, node: ast.If) -> None:
    """``if``: a condition known when compiling translates one side only."""
    condition = arithmetic.truth(t.condition(node.test))
    if condition.is_const:
        t.statements(node.body if condition.const else node.orelse)
        return
    sides = [lambda: t.statements(node.body), lambda: t.statements(node.orelse)]
    _either(t, node, condition, sides)


def conditional(t: ProgramTranslator, node: ast.IfExp) -> Value:
    """``a if c else b``."""
    condition = arithmetic.truth(t.condition(node.test))
    return choose(t, node, condition, lambda: t.expression(node.body), lambda: t.expression(node.orelse))


def choose(
    t: ProgramTranslator,
    node: ast.AST,
    condition: Scalar,
    on_true: Callable[[], Value],
    on_false: Callable[[], Value],
) -> Value:
    """The value of one of two expressions; only the chosen one is evaluated."""
    if condition.is_const:
        return on_true() if condition.const else on_false()

    def side(value: Callable[[], Value]) -> Callable[[], None]:
        def run() -> None:
            found = value()  # first: a choice inside of it makes new names
            t.names[_CHOSEN] = found

        return run

    _either(t, node, condition, [side(on_true), side(on_false)])
    chosen = t.names.pop(_CHOSEN)
    if isinstance(chosen, UnsupportedValue):
        raise t.type_error(node, f"the sides have no common type: {chosen.description}",
                           "give both one type and shape, or write if and else, with a name for each")  # fmt: skip
    return chosen


def _either(
    t: ProgramTranslator,
    node: ast.AST,
    condition: Scalar,
    sides: list[Callable[[], object]],
) -> None:
    assert condition.ssa is not None
    scratch = ir.Operation.create("scf.if", operands=[condition.ssa], regions=2)
    before = dict(t.names)
    paths = [run_path(t, scratch.regions[n].blocks.append(), side) for n, side in enumerate(sides)]
    t.frame.environment.locals = before
    left = have_left(node, t.frame.unrolling, [path.names for path in paths], before)
    merged: dict[str, tuple[Value, Value, list[LeafType]]] = {}
    for name in sorted({n for path in paths for n, v in path.names.items() if not same(v, before.get(n))}):
        a, b = _FLOW.still_read(left, paths[0].names.get(name), paths[1].names.get(name))
        met = _meet(t, node, name, a, b)
        if isinstance(met, tuple):
            merged[name] = met
        else:
            before[name] = met
    written = list(dict.fromkeys(cell for path in paths for cell in path.contents))
    pairs = [p for a, b, types in merged.values() for p in zip(leaves(a), leaves(b), types, strict=True)]
    pairs += [(cell, cell, type_of(cell)) for cell in written]
    results = _finish(scratch, condition.ssa, paths, pairs)
    _bind(t, before, merged, written, pairs, results)


def run_path(t: ProgramTranslator, block: ir.Block, body: Callable[[], object]) -> Path:
    """Translate into `block`; names and arrays are afterwards what they were."""
    saved = dict(t.names)
    with t.writes() as contents, ir.InsertionPoint(block):
        body()
    path = Path(block, t.names, contents)
    t.frame.environment.locals = saved
    return path


def _meet(
    t: ProgramTranslator, node: ast.AST, name: str, a: Value | None, b: Value | None
) -> tuple[Value, Value, list[LeafType]] | Value:
    """Two values of one form, to be merged in the IR, or the value known without it."""
    if same_contents(a, b):
        assert a is not None and b is not None
        return joined(a, b)
    pair = values_of_paths(name, (a, b), flows, zeros_like, lambda: t.place_of(name, [node]) or t.span(node))
    if isinstance(pair, Undefined):
        return pair
    a, b = as_complex(*pair), as_complex(*reversed(pair))
    types = common_types(a, b) if flows(a) and flows(b) else None
    if types is None:
        places = t.frame.places.get(name), t.place_of(name, [node])
        if isinstance(node, ast.If):
            places = t.place_of(name, node.body) or places[0], t.place_of(name, node.orelse) or places[0]
        return differing(name, a, b, "on one path", "on the other", places)
    return a, b, types


def _finish(
    scratch: ir.Operation,
    condition: ir.Value,
    paths: list[Path],
    pairs: list[tuple[Leaf, Leaf, LeafType]],
) -> list[ir.Value]:
    """Make the real scf.if in place of the scratch, and move the blocks into it."""
    for side, path in enumerate(paths):
        with ir.InsertionPoint(path.block):
            operands = [operand(p[side], p[2], path.contents) for p in pairs]  # type: ignore[arg-type]
            ir.Operation.create("scf.yield", operands=operands)
    made = ir.Operation.create(
        "scf.if", results=[p[2].mlir() for p in pairs], operands=[condition], regions=2
    )
    made.move_after(scratch)
    for side, path in enumerate(paths):
        path.block.append_to(made.regions[side])
    scratch.erase()
    return list(made.results)


def _bind(
    t: ProgramTranslator,
    names: dict[str, Value],
    merged: dict[str, tuple[Value, Value, list[LeafType]]],
    written: list[Cell],
    pairs: list[tuple[Leaf, Leaf, LeafType]],
    results: list[ir.Value],
) -> None:
    """Names and arrays after the branch. One array on both sides under two names is one array again."""
    made: dict[tuple[int, int], Leaf] = {}
    bound: list[Leaf] = []
    for (a, b, kind), ssa in zip(pairs, results, strict=True):
        leaf = made.get((id(a), id(b))) if isinstance(a, Cell) and isinstance(b, Cell) else None
        if leaf is None:
            leaf = kind.bind(ssa, a.name if isinstance(a, Cell) else "")
            made[id(a), id(b)] = leaf
            if isinstance(a, Cell) and isinstance(b, Cell) and isinstance(leaf, Cell) and not leaf.is_scalar:
                leaf.may_be = a.origins | b.origins
        bound.append(leaf)
    given = iter(bound)
    names.update({name: rebuild(joined(a, b), given) for name, (a, b, _) in merged.items()})
    for cell, ssa in zip(written, results[len(results) - len(written) :], strict=True):
        t.put(cell, ssa)


def short_circuit(t: ProgramTranslator, node: ast.BoolOp) -> Value:
    """``and`` / ``or`` of numbers: the right side is evaluated only where it decides."""
    is_and = isinstance(node.op, ast.And)
    value: Value = t.condition(node.values[0])
    for item in node.values[1:]:
        left = t.as_scalar(node, value)
        condition = arithmetic.truth(left)
        right: Callable[[], Value] = lambda item=item: t.condition(item)  # noqa: E731
        keep: Callable[[], Value] = lambda left=left: left  # noqa: E731
        value = choose(t, node, condition, right, keep) if is_and else choose(t, node, condition, keep, right)
    return value
