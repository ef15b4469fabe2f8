"""Tile kernels as array programs: `pk.tile`, `pk.tiles`, `pk.positions`, and indices that are tiles.

Comes in: the body of a kernel whose index is a range, and the index space. Goes out: what an array program would say.
A tile whose size is open is the whole range: its body is translated once, over whole slices, and the schedules of array
programs cut it up. Its lengths are `TileLength`s, so that nothing depends on where. A size of 1 is a loop over integers. A
fixed size becomes a loop over tiles only where a result depends on it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.tiles import TileLaunch
from pykern.errors import KernelError, LaunchError
from pykern.frontend import arithmetic
from pykern.frontend.casts import convert, materialise
from pykern.frontend.desugar import RESULT, Desugarer
from pykern.frontend.program import arguments, tensors
from pykern.frontend.program.tensors import Extent, loop_index
from pykern.frontend.program.tile_accesses import Accesses, whole_reads
from pykern.frontend.program.tile_lengths import DependsOnSize, HasLength, TileLength
from pykern.frontend.program.values import Cell
from pykern.frontend.translation import Frame
from pykern.frontend.values import Extension, LanguageName, NoneValue, RangeValue, Scalar, TupleValue, Value, describe
from pykern.types import i64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True, eq=False)
class TileValue(HasLength):
    """A range as an index: `count` places from `start` by `step`. `dimension`: of the index space, None in a loop.

    `length` is `count` as a length of arrays: a `TileLength` where the compiler chooses it. `moved`: ``i + 1`` is 1.
    """

    name: str
    start: Scalar
    step: int
    count: int
    length: int
    dimension: int | None = None
    moved: int = 0
    reach: tuple[int, int] = (0, 0)
    """Of a tile whose place is a number of run time: the first and the last place of all tiles."""

    @property
    def description(self) -> str:
        return f"the tile `{self.name}`"

    def first(self) -> Scalar:
        return arithmetic.binary("+", self.start, Scalar(weak_int, const=self.moved))


@dataclass(frozen=True, eq=False)
class CutTile(Extension):
    """Tiles of a fixed size: a loop gives their number, and takes the tile of this number."""

    tile: TileValue

    @property
    def description(self) -> str:
        return self.tile.description

    def at(self, number: Scalar) -> TileValue:
        by = Scalar(weak_int, const=self.tile.count * self.tile.step)
        start = arithmetic.binary("+", self.tile.start, arithmetic.binary("*", number, by))
        return replace(self.tile, start=start)


@dataclass
class TileScope:
    """The tile kernel that is being translated. Arrays born before `begin` are its arguments."""

    begin: int
    sizes: tuple[int | None, ...] = ()
    cuts: bool = False
    """Tiles of fixed sizes are cut in loops."""
    accesses: Accesses = field(default_factory=Accesses)
    frame: Frame | None = None
    """The kernel's, in which ``.tile0`` is its first tile."""

    @property
    def may_cut(self) -> bool:
        """Whether there are fixed sizes, and tiles of them are not cut yet."""
        return not self.cuts and any(size not in (None, 1) for size in self.sizes)

    def dimension_of(self, value: Value) -> int | None:
        """The dimension whose tile, or whose integer, an index is."""
        if isinstance(value, TileValue):
            return None if value.moved else value.dimension
        assert self.frame is not None
        for number, size in enumerate(self.sizes):
            own = self.frame.environment.locals.get(f".tile{number}")
            if size == 1 and isinstance(own, Scalar) and isinstance(value, Scalar) and own.ssa == value.ssa:
                return number
        return None


# -- the body -----------------------------------------------------------------------------------


def body(t: ProgramTranslator, node: ast.FunctionDef, launch: TileLaunch, cuts: bool = False) -> None:
    """Translate the body of a tile kernel for an index space. Raises `DependsOnSize` where fixed sizes have to be cut."""
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
        scope.sizes = _sizes(t, statement.value, launch)
        made = _nest(t, statement, launch, scope, node.body[place + 1 :])
        t.statements(Desugarer().function_body(made))
        if not isinstance(t.names.get(RESULT, NoneValue()), NoneValue):
            raise t.syntax_error(node, f"the kernel `{node.name}` returns a value", "store it: o[i] = value")
        several = [n for n, (_, _, count) in enumerate(launch.space) if count > 1]
        scope.accesses.check(t, several, _names(statement.targets[0], len(launch.space)))


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
        raise t.type_error(call, "pk.tile takes sizes, one a dimension of the ndrange", "write pk.tile(128, 64)")
    sizes = [None if isinstance(v, NoneValue) else arguments.integer(t, call, v, "the size of a tile") for v in given]
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
            made = [_given(t, asked, number, _tile(names[number], (start, step, count), number, open_size)), *made]
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
    t.names[f".cut{number}"] = CutTile(replace(_tile(name, (start, step, size), number, False), reach=reach))
    t.names[f".range{number}"] = _range(0, 1, full)
    taken = ast.Subscript(ast.Name(f".cut{number}", ast.Load()), ast.Name(f".number{number}", ast.Load()), ast.Load())
    first = _placed(ast.Assign([ast.Name(f".tile{number}", ast.Store())], taken), asked)
    made: list[ast.stmt] = [_loop(asked, f".number{number}", f".range{number}", [first, *inner])]
    if full * size < count:
        last = _tile(name, (start + full * size * step, step, count - full * size), number, False)
        made += [_given(t, asked, number, last), *inner]
    return made


def _given(t: ProgramTranslator, asked: ast.Assign, number: int, tile: TileValue) -> ast.stmt:
    """``.tile0 = ...``: the value stands under a name of ours that says where it begins."""
    name = f".given{number}.{tile.start.const}"
    t.names[name] = tile
    return _placed(ast.Assign([ast.Name(f".tile{number}", ast.Store())], ast.Name(name, ast.Load())), asked)


def _tile(name: str, extent: tuple[int, int, int], dimension: int | None, is_open: bool) -> TileValue:
    start, step, count = extent
    length = TileLength.make(count, object(), name, dimension is None) if is_open else count
    return TileValue(name, Scalar(weak_int, const=start), step, count, length, dimension)


def _range(start: int, step: int, count: int) -> RangeValue:
    return RangeValue(*(Scalar(weak_int, const=n) for n in (start, start + step * count, step)))


def _loop(asked: ast.Assign, target: str, over: str, inner: list[ast.stmt]) -> ast.For:
    made = ast.For(ast.Name(target, ast.Store()), ast.Name(over, ast.Load()), inner, [])
    ast.copy_location(made, asked)
    for part in (made.target, made.iter):
        ast.copy_location(part, asked)
    return made


def _placed(made: ast.stmt, asked: ast.Assign) -> ast.stmt:
    for part in ast.walk(made):
        if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, asked)
    return made


def _names(target: ast.expr, rank: int) -> list[str]:
    """What the kernel calls its tiles."""
    items = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return [ast.unparse(items[n]) if n < len(items) and len(items) == rank else f"pk.tile()[{n}]" for n in range(rank)]


# -- in the body --------------------------------------------------------------------------------


def moved(t: ProgramTranslator, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    """``i + 1``, ``i - 1``: a tile that lies beside."""
    tile, by = (left, right) if isinstance(left, TileValue) else (right, left)
    fits = isinstance(op, ast.Add) or (isinstance(op, ast.Sub) and tile is left)
    if not fits or not isinstance(tile, TileValue) or not isinstance(by, Scalar):
        raise t.type_error(node, f"{describe(left)} and {describe(right)} are not joined by this operator",
                           "a tile takes an integer, as in x[i + 1]; pk.positions(i) gives its indices as an array")  # fmt: skip
    distance = arguments.integer(t, node, by, "the distance of a tile")
    return replace(tile, moved=tile.moved + (distance if isinstance(op, ast.Add) else -distance))


def extent(t: ProgramTranslator, node: ast.AST, tile: TileValue, x: Cell, axis: int) -> Extent:
    """What a tile takes of an axis: all that is there."""
    length = x.shape[axis]
    if isinstance(length, TileLength):
        raise t.type_error(node, f"axis {axis} of {x.description} is a tile already",
                           "take tiles of arguments; a value of the kernel has its tile")  # fmt: skip
    if not tile.start.is_const:
        return _running(t, node, tile, x, axis)
    first = int(tile.start.const) + tile.moved  # type: ignore[call-overload]
    there = len(range(first, min(first + tile.count * tile.step, length), tile.step))
    if first < 0 or (tile.moved and there < tile.count):
        raise _outside(t, node, tile, x, axis)
    return Extent(first if there else 0, _taken(tile, there), tile.step if there > 1 else 1)


def _taken(tile: TileValue, there: int) -> int:
    """The length of what a tile takes; fewer where the axis ends before the range does."""
    length = tile.length
    if isinstance(length, TileLength):
        return TileLength.make(there, length.of, length.name, length.summed)
    return there


def _running(t: ProgramTranslator, node: ast.AST, tile: TileValue, x: Cell, axis: int) -> Extent:
    """A tile whose place is a number of run time. Its array holds the whole range."""
    if tile.reach[0] + tile.moved < 0 or tile.reach[1] + tile.moved >= x.shape[axis]:
        raise _outside(t, node, tile, x, axis)
    return Extent(materialise(tile.first()), tile.count, tile.step)


def _outside(t: ProgramTranslator, node: ast.AST, tile: TileValue, x: Cell, axis: int) -> KernelError:
    return t.type_error(node, f"{tile.description} reaches outside of axis {axis} of {x.description}",
                        "launch over a range that leaves the border out, as in ndrange=range(1, n - 1)")  # fmt: skip


def _tile_again(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if t.tile is None:
        raise t.syntax_error(node, "`tile` is not available in array programs",
                             "it is for kernels: write @pk.kernel above the function, and launch it with ndrange=")  # fmt: skip
    raise t.syntax_error(node, "pk.tile() stands once in a kernel, in a statement of its own: i, j = pk.tile()",
                         "assign what it gives to names at the beginning of the kernel")  # fmt: skip


def _tiles(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """All of a range is one tile: the loop runs once, and never where there is nothing."""
    _need(t, node, "tiles")
    given = arguments.bind(t, node, "tiles", "start stop=", args, keywords)
    bounds = [given["start"], given["stop"]]
    if isinstance(bounds[1], NoneValue):
        bounds = [Scalar(weak_int, const=0), bounds[0]]
    start, stop = (arguments.integer(t, node, b, "a bound of pk.tiles") for b in bounds)
    if start < 0:
        raise t.type_error(node, f"tiles begin at 0 at least, not at {start}")
    if stop <= start:
        return TupleValue(())
    return TupleValue((_tile(f"pk.tiles({stop})", (start, 1, stop - start), None, True),))


def _positions(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    _need(t, node, "positions")
    tile = arguments.bind(t, node, "positions", "tile", args, keywords)["tile"]
    if not isinstance(tile, TileValue):
        raise t.type_error(node, f"pk.positions takes a tile, not {describe(tile)}",
                           "an integer is its own position")  # fmt: skip
    first = tile.first()

    def place(_: list[Scalar]) -> list[Scalar]:
        along = arithmetic.binary("*", loop_index(0), Scalar(weak_int, const=tile.step))
        return [convert(arithmetic.binary("+", first, along), i64)]

    [(dtype, ssa)] = tensors.elementwise((tile.length,), [], place)
    return Cell(dtype, (tile.length,), ssa)


def _need(t: ProgramTranslator, node: ast.Call, name: str) -> None:
    if t.tile is None:
        raise t.syntax_error(node, f"`{name}` is for kernels whose index is a tile",
                             "write @pk.kernel above the function, and i = pk.tile() at its beginning")  # fmt: skip


HANDLERS: dict[str, Callable] = {"tile": _tile_again, "tiles": _tiles, "positions": _positions}

__all__ = ["HANDLERS", "CutTile", "DependsOnSize", "TileScope", "TileValue", "body", "extent", "moved"]
