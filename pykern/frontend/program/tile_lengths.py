"""Lengths that belong to a tile: the compiler chooses them, so nothing may depend on how large they are.

A `TileLength` is an int, and goes wherever lengths of arrays go: into results of broadcasting, transposes, slices. What
would give other results for tiles of another size meets one here, and is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pykern.errors import KernelTypeError
from pykern.frontend.values import Extension, Scalar, Value
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

FIX = "fix the size where that is meant, as in pk.tile(128)"


class DependsOnSize(KernelTypeError):
    """A result would depend on how large the tiles are. `fixed`: the kernel says how large, and they can be cut."""

    fixed = False


class HasLength(Extension):
    """A value that may stand in a shape, for `length`."""

    length: int


@dataclass(frozen=True)
class TileShape(HasLength):
    """The length of a tile as a value: for shapes alone."""

    length: TileLength

    @property
    def description(self) -> str:
        return f"the length of the tile `{self.length.name}`, which the compiler chooses"


class TileLength(int):
    """The length of a tile along its axis. `of` tells tiles apart; `summed`: it is that of a loop over tiles."""

    of: object
    name: str
    summed: bool

    @classmethod
    def make(cls, length: int, of: object, name: str, summed: bool) -> TileLength:
        made = cls(length)
        made.of, made.name, made.summed = of, name, summed
        return made


def length_value(length: int) -> Value:
    """A length as a value. That of a tile has none: it stands where a shape is written, and says nothing else."""
    return TileShape(length) if isinstance(length, TileLength) else Scalar(weak_int, const=length)


def owner(length: int) -> object:
    """What the length belongs to; None of a length that is known."""
    return length.of if isinstance(length, TileLength) else None


def meet(t: ProgramTranslator, node: ast.AST, lengths: Sequence[int]) -> int:
    """The one length of axes that are matched, equal as numbers. Raises `DependsOnSize` where tiles differ."""
    first = lengths[0]
    for other in lengths[1:]:
        if owner(other) is not owner(first):
            raise depends(t, node, f"{_called(first)} is matched with {_called(other)}")
    return first


def of_one(ones: Sequence[int]) -> int:
    """The length of axes of one element that are matched: that of the tile, where one has such an axis."""
    tiles = {owner(n): n for n in ones if owner(n) is not None}
    return next(iter(tiles.values())) if len(tiles) == 1 else 1


def refuse(t: ProgramTranslator, node: ast.AST, lengths: Iterable[int], what: str) -> None:
    """Raise `DependsOnSize` where one of the lengths is that of a tile."""
    for length in lengths:
        if isinstance(length, TileLength):
            raise depends(t, node, f"{what} {_called(length)}")


def depends(t: ProgramTranslator, node: ast.AST, what: str) -> DependsOnSize:
    made = DependsOnSize(
        f"{what}: the result would depend on how large the tiles are, which the compiler chooses",
        t.span(node),
        FIX,
    )
    made.fixed = t.tile is not None and t.tile.may_cut
    return made


def _called(length: int) -> str:
    return (
        f"the axis of the tile `{length.name}`" if isinstance(length, TileLength) else f"a length of {length}"
    )
