"""The body of a tile kernel as an array program.

Comes in: a kernel that begins with `pk.tile`, and the index space. Goes out: what an array program would say. Where
the size of tiles is open, the body is translated once, over the whole range, and the schedules of array programs cut it
up. A size of 1 is a loop over integers. A fixed size becomes a loop over tiles only where a result depends on it. Read
next: `tiles`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from mlir import ir

from pykern.data.source import FunctionSource
from pykern.data.tiles import TileLaunch
from pykern.errors import LaunchError
from pykern.frontend import captured
from pykern.frontend.desugar import RESULT, Desugarer
from pykern.frontend.parse import parse_function
from pykern.frontend.program import arguments
from pykern.frontend.program.tile_accesses import whole_reads
from pykern.frontend.program.tile_lengths import DependsOnSize
from pykern.frontend.program.tiles import CutTile, TileScope, TileValue, make_tile
from pykern.frontend.program.values import Cell
from pykern.frontend.translation import Frame
from pykern.frontend.values import Environment, LanguageName, NoneValue, RangeValue, Scalar, Value
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

S = TypeVar("S", bound=ast.stmt)


def body(t: ProgramTranslator, node: ast.FunctionDef, launch: TileLaunch, cuts: bool = False) -> TileScope:
    """Translate the body for an index space. Raises `DependsOnSize`, where fixed sizes have to be cut too."""
    place = next((n for n, s in enumerate(node.body) if _asks(t, s) is not None), None)
    if place is None:
        raise t.syntax_error(node, "pk.tile() stands in no statement of its own at the beginning of the kernel",
                             "write i = pk.tile() before everything that is done for each tile")  # fmt: skip
    statement = node.body[place]
    assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
    with _scope(t, cuts) as scope:
        for name, read in whole_reads(node):
            if isinstance(given := t.names.get(name), Cell):
                scope.accesses.read(given, frozenset(), read)
        t.statements(node.body[:place])
        scope.space, scope.sizes = launch.space, _sizes(t, statement.value, launch)
        made = _nest(t, statement, launch, scope, node.body[place + 1 :])
        t.statements(Desugarer().function_body(made))
        if not isinstance(t.names.get(RESULT, NoneValue()), NoneValue):
            raise t.syntax_error(node, f"the kernel `{node.name}` returns a value", "store it: o[i] = value")
        scope.reductions.close(t, [*scope.accesses.writes, *scope.accesses.scattered])
        several = [n for n, (_, _, count) in enumerate(launch.space) if count > 1]
        scope.accesses.check(t, several, _names(statement.targets[0], len(launch.space)))
    return scope


def launch(
    t: ProgramTranslator,
    node: ast.Call,
    function: FunctionSource,
    bound: dict[str, Value],
    launch: TileLaunch,
) -> list[Cell]:
    """A launch inside of a program: the body stands here. Gives the arrays that it writes."""
    parsed = parse_function(function)

    def translate(cuts: bool) -> list[Cell]:
        frame = Frame(parsed, Environment(dict(bound), captured.values(function.captures)))
        t.locations.append(t.location(node))
        t.frame.call_span = t.span(node)
        t.frames.append(frame)
        try:
            found = body(t, parsed.node, launch, cuts).accesses
            return [*found.writes, *found.scattered]
        finally:
            t.frames.pop()
            t.locations.pop()

    return translate(_has_to_cut(t, translate))


def _has_to_cut(t: ProgramTranslator, translate: Callable[[bool], list[Cell]]) -> bool:
    """Whether a result depends on the fixed sizes of tiles, by trying."""
    scratch = ir.Operation.create("scf.execute_region", regions=1)
    try:
        with t.writes(), ir.InsertionPoint(scratch.regions[0].blocks.append()):
            translate(False)
    except DependsOnSize as error:
        if not error.fixed:
            raise
        return True
    finally:
        scratch.erase()
    return False


@contextmanager
def _scope(t: ProgramTranslator, cuts: bool) -> Iterator[TileScope]:
    outer, t.tile = t.tile, TileScope(t.mark(), cuts=cuts, frame=t.frame)
    try:
        yield t.tile
    finally:
        t.tile = outer


def _asks(t: ProgramTranslator, statement: ast.stmt) -> ast.Call | None:
    """The call of `pk.tile` that a statement assigns."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    path = ast.unparse(statement.value.func)
    meant = t.frame.environment.captures.get(path)
    return statement.value if meant == LanguageName("tile") else None


def _sizes(t: ProgramTranslator, call: ast.Call, launch: TileLaunch) -> tuple[int | None, ...]:
    given, keywords = t.arguments(call)
    if keywords:
        raise t.type_error(
            call, "pk.tile takes sizes, one a dimension of the ndrange", "write pk.tile(128, 64)"
        )
    sizes = [
        None if isinstance(v, NoneValue) else arguments.integer(t, call, v, "the size of a tile")
        for v in given
    ]
    try:
        return launch.with_sizes(tuple(sizes))
    except LaunchError as error:
        error.span = t.span(call)
        raise


def _nest(
    t: ProgramTranslator, asked: ast.Assign, launch: TileLaunch, scope: TileScope, rest: list[ast.stmt]
) -> list[ast.stmt]:
    """The statements behind ``i, j = pk.tile()``, in loops over what is not one whole tile."""
    names = _names(asked.targets[0], len(launch.space))
    tiles = [f".tile{n}" for n in range(len(launch.space))]
    loaded: list[ast.expr] = [ast.Name(tile, ast.Load()) for tile in tiles]
    value = loaded[0] if len(loaded) == 1 else ast.Tuple(loaded, ast.Load())
    made: list[ast.stmt] = [_placed(ast.Assign(asked.targets, value), asked), *rest]
    for number in reversed(range(len(tiles))):
        start, step, count = launch.space[number]
        size = scope.sizes[number]
        if step < 0 or start < 0:
            raise t.type_error(asked, "the places of tiles are not negative, and run forwards",
                               "write the range from its least end, as in ndrange=range(1, n)")  # fmt: skip
        if size == 1:
            t.names[f".range{number}"] = _range(start, step, count)
            made = [_loop(asked, tiles[number], f".range{number}", made)]
        elif size is None or not scope.cuts or size >= count:
            open_size = size is None or not scope.cuts
            made = [
                _given(t, asked, number, make_tile(names[number], (start, step, count), number, open_size)),
                *made,
            ]
        else:
            made = _cut(t, asked, names[number], number, launch.space[number], size, made)
    return made


def _cut(
    t: ProgramTranslator,
    asked: ast.Assign,
    name: str,
    number: int,
    extent: tuple[int, int, int],
    size: int,
    inner: list[ast.stmt],
) -> list[ast.stmt]:
    """A loop over the full tiles, and the last one where it is smaller."""
    start, step, count = extent
    full = count // size
    reach = (start, start + (full * size - 1) * step)
    t.names[f".cut{number}"] = CutTile(
        replace(make_tile(name, (start, step, size), number, False), reach=reach)
    )
    t.names[f".range{number}"] = _range(0, 1, full)
    taken = ast.Subscript(
        ast.Name(f".cut{number}", ast.Load()), ast.Name(f".number{number}", ast.Load()), ast.Load()
    )
    first = _placed(ast.Assign([ast.Name(f".tile{number}", ast.Store())], taken), asked)
    made: list[ast.stmt] = [_loop(asked, f".number{number}", f".range{number}", [first, *inner])]
    if full * size < count:
        last = make_tile(name, (start + full * size * step, step, count - full * size), number, False)
        made += [_given(t, asked, number, last), *inner]
    return made


def _given(t: ProgramTranslator, asked: ast.Assign, number: int, tile: TileValue) -> ast.stmt:
    """``.tile0 = ...``: the value stands under a name of ours that says where it begins."""
    name = f".given{number}.{tile.start.const}"
    assert t.tile is not None
    t.tile.reductions.opened(tile)
    t.names[name] = tile
    return _placed(ast.Assign([ast.Name(f".tile{number}", ast.Store())], ast.Name(name, ast.Load())), asked)


def _range(start: int, step: int, count: int) -> RangeValue:
    return RangeValue(*(Scalar(weak_int, const=n) for n in (start, start + step * count, step)))


def _loop(asked: ast.Assign, target: str, over: str, inner: list[ast.stmt]) -> ast.For:
    made = ast.For(ast.Name(target, ast.Store()), ast.Name(over, ast.Load()), inner, [])
    made.is_tile = True  # type: ignore[attr-defined]
    return _placed(made, asked)


def _placed(made: S, asked: ast.Assign) -> S:
    """The statement, with the place of ``i = pk.tile()`` where it has none."""
    for part in ast.walk(made):
        if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, asked)
    return made


def _names(target: ast.expr, rank: int) -> list[str]:
    """What the kernel calls its tiles."""
    items = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return [
        ast.unparse(items[n]) if n < len(items) and len(items) == rank else f"pk.tile()[{n}]"
        for n in range(rank)
    ]
