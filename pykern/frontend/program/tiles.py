"""Tiles as values of an array program: `pk.tiles`, `pk.positions`, and indices that are tiles.

Comes in: an index or a call in the body of a tile kernel. Goes out: what of an axis it takes, a value. A tile whose
size is open is the whole range, and its length a `TileLength`, on which nothing may depend. Read next: `tile_body`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.tiles import NO_SIZE, backwards
from pykern.errors import KernelError
from pykern.frontend import arithmetic
from pykern.frontend.casts import convert, materialise
from pykern.frontend.program import arguments, tensors
from pykern.frontend.program.tensors import Extent, loop_index
from pykern.frontend.program.tile_accesses import Accesses, Along
from pykern.frontend.program.tile_lengths import HasLength, TileLength
from pykern.frontend.program.tile_reductions import TileReductions
from pykern.frontend.program.values import Cell
from pykern.frontend.translation import Frame
from pykern.frontend.values import Extension, NoneValue, Scalar, TupleValue, Value, describe
from pykern.types import i64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True, eq=False)
class TileValue(HasLength):
    """A range as an index: `count` places from `start` by `step`. `dimension`: of the index space, None in a loop.

    `length` is `count` as a length of arrays: a `TileLength` where the compiler chooses it. `moved`: ``i + 1`` is 1.
    `spacing`: ``2 * i`` is 2, and `start` and `step` are multiples of it.
    """

    name: str
    start: Scalar
    step: int
    count: int
    length: int
    dimension: int | None = None
    moved: int = 0
    spacing: int = 1
    reach: tuple[int, int] = (0, 0)
    """Of a tile whose place is a number of run time: the first and the last place of all tiles."""

    @property
    def description(self) -> str:
        return f"the tile `{self.name}`"

    def first(self) -> Scalar:
        return arithmetic.binary("+", self.start, Scalar(weak_int, const=self.moved))

    def spaced(self, by: int) -> TileValue:
        """``by * i``: every `by`-th place."""
        return replace(
            self,
            start=arithmetic.binary("*", self.start, Scalar(weak_int, const=by)),
            step=self.step * by,
            moved=self.moved * by,
            spacing=self.spacing * by,
            reach=(self.reach[0] * by, self.reach[1] * by),
        )


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
    space: tuple[tuple[int, int, int], ...] = ()
    sizes: tuple[int | None, ...] = ()
    cuts: bool = False
    """Tiles of fixed sizes are cut in loops."""
    accesses: Accesses = field(default_factory=Accesses)
    reductions: TileReductions = field(default_factory=TileReductions)
    frame: Frame | None = None
    """The kernel's, in which ``.tile0`` is its first tile."""

    @property
    def may_cut(self) -> bool:
        """Whether there are fixed sizes, and tiles of them are not cut yet."""
        return not self.cuts and any(size not in (None, 1) for size in self.sizes)

    def dimension_of(self, value: Value) -> int | None:
        """The dimension whose integer an index is, where tiles have one element."""
        assert self.frame is not None
        for number, size in enumerate(self.sizes):
            own = self.frame.environment.locals.get(f".tile{number}")
            if size != 1 or not isinstance(own, Scalar) or not isinstance(value, Scalar):
                continue
            if own.ssa is not None and value.ssa is not None and own.ssa == value.ssa:
                return number
        return None

    def along(self, axis: int, value: Value | None) -> Along:
        """What an index of an axis says of which tile takes which elements."""
        if isinstance(value, TileValue):
            if value.dimension is None:
                return frozenset()
            return frozenset([(axis, value.dimension, value.spacing, value.moved // value.spacing)])
        number = None if value is None else self.dimension_of(value)
        return frozenset() if number is None else frozenset([(axis, number, 1, 0)])


def make_tile(name: str, extent: tuple[int, int, int], dimension: int | None, is_open: bool) -> TileValue:
    start, step, count = extent
    length = TileLength.make(count, object(), name, dimension is None) if is_open else count
    return TileValue(name, Scalar(weak_int, const=start), step, count, length, dimension)


def moved(t: ProgramTranslator, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    """``i + 1``, ``i - 1``: a tile that lies beside; ``2 * i``: one of every second place."""
    tile, by = (left, right) if isinstance(left, TileValue) else (right, left)
    fits = isinstance(op, ast.Add | ast.Mult) or (isinstance(op, ast.Sub) and tile is left)
    if not fits or not isinstance(tile, TileValue) or not isinstance(by, Scalar):
        raise t.type_error(node, f"{describe(left)} and {describe(right)} are not joined by this operator",
                           "write x[i + 1] for the tile beside, x[2 * i] for every second element, "
                           "pk.positions(i) for indices")  # fmt: skip
    if isinstance(op, ast.Mult):
        spacing = arguments.integer(t, node, by, "the spacing of a tile")
        if spacing < 1:
            raise t.type_error(node, f"the spacing of a tile is 1 at least, and not {spacing}",
                               "pk.positions(i) are indices, which may be multiplied by any number")  # fmt: skip
        return tile.spaced(spacing)
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
    if first < 0 or ((tile.moved or tile.spacing > 1) and there < tile.count):
        raise _outside(t, node, tile, x, axis)
    return Extent(first if there else 0, _taken(tile, there), tile.step if there > 1 else 1)


def element(
    t: ProgramTranslator, node: ast.AST, dimension: int, index: Scalar, x: Cell, axis: int
) -> ir.Value:
    """The place of an integer that the index space gives: within the array, as is known when compiling."""
    assert t.tile is not None
    start, step, count = t.tile.space[dimension]
    if not 0 <= start <= start + (count - 1) * step < x.shape[axis]:
        raise t.type_error(node, f"the ndrange reaches outside of axis {axis} of {x.description}",
                           f"launch over at most {x.shape[axis]} along it")  # fmt: skip
    return materialise(index)


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


def _misplaced(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if t.tile is None:
        raise t.syntax_error(node, "`tile` is not available in array programs",
                             "it is for kernels: write @pk.kernel above the function")  # fmt: skip
    raise t.syntax_error(node, "pk.tile() stands once in a kernel, in a statement of its own: i, j = pk.tile()",
                         "assign what it gives to names at the beginning of the kernel")  # fmt: skip


def _tiles(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """All of a range is one tile: the loop runs once, and never where there is nothing."""
    _need(t, node, "tiles")
    given = arguments.bind(t, node, "tiles", "start stop=", args, keywords)
    bounds = [given["start"], given["stop"]]
    if isinstance(bounds[1], NoneValue):
        bounds = [Scalar(weak_int, const=0), bounds[0]]
    for bound in bounds:
        if isinstance(bound, Cell) or (isinstance(bound, Scalar) and not bound.is_const):
            raise t.type_error(node, f"a bound of pk.tiles is known when compiling, and this is {describe(bound)}",
                               "go over all, for k in pk.tiles(x.shape[0]), and choose with pk.where: "
                               "(pk.positions(k) >= start) & (pk.positions(k) < stop)")  # fmt: skip
    start, stop = (arguments.integer(t, node, b, "a bound of pk.tiles") for b in bounds)
    if start < 0:
        raise t.type_error(node, f"tiles begin at 0 at least, not at {start}")
    if stop < start:
        raise t.type_error(node, backwards(start, stop), NO_SIZE)
    if stop == start:
        return TupleValue(())
    return TupleValue((make_tile(f"pk.tiles({stop})", (start, 1, stop - start), None, True),))


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


HANDLERS: dict[str, Callable] = {"tile": _misplaced, "tiles": _tiles, "positions": _positions}
