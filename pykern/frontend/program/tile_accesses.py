"""Which elements of its arguments a tile writes: its own alone, which no other tile reads.

Comes in: each access of an argument, with the dimensions of the index space that its index goes along. Goes out: an
error where tiles would write the same elements, or read what others write: they run in any order, and at the same time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pykern.frontend.program.values import Cell

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

Along = frozenset[tuple[int, int, int, int]]
"""(axis of the array, dimension of the index space, spacing, distance), where an index is the tile of the dimension.
The spacing of ``2 * i`` and ``2 * i + 1`` is 2, and their distance 0; ``i + 3`` has a spacing of 1 and a distance of 3.
Indices with the same four name elements of one tile alone."""


@dataclass
class Accesses:
    """Of one kernel: for each argument what was read and written, and where that stands."""

    reads: dict[Cell, list[tuple[Along, ast.AST]]] = field(default_factory=dict)
    writes: dict[Cell, list[tuple[Along, ast.AST]]] = field(default_factory=dict)
    scattered: dict[Cell, ast.AST] = field(default_factory=dict)

    def read(self, cell: Cell, along: Along, node: ast.AST) -> None:
        self.reads.setdefault(cell, []).append((along, node))

    def write(self, cell: Cell, along: Along, node: ast.AST) -> None:
        self.writes.setdefault(cell, []).append((along, node))

    def scatter(self, cell: Cell, node: ast.AST) -> None:
        """Elements are written where arrays of indices say."""
        self.scattered.setdefault(cell, node)

    def check(self, t: ProgramTranslator, several: list[int], names: list[str]) -> None:
        """`several`: the dimensions that have more than one tile; `names` are those of the tiles."""
        for cell in self.scattered:
            for _, place in (*self.reads.get(cell, []), *self.writes.get(cell, [])):
                raise t.type_error(place, f"this reads or writes {cell.description}, of which tiles write what "
                                   "indices name", "do this in a kernel of its own, or use a copy")  # fmt: skip
        for cell, writes in self.writes.items():
            for along, place in writes:
                missing = [names[n] for n in several if n not in {own[1] for own in along}]
                if missing:
                    raise t.type_error(place, f"all tiles of `{missing[0]}` write the same elements of "
                                       f"{cell.description}",
                                       f"index it with `{missing[0]}`, launch over fewer dimensions, or put together "
                                       "what all tiles give: pk.atomic_add(x, ..., value)")  # fmt: skip
            own = _of(several, writes[0][0])
            for along, place in (*writes[1:], *self.reads.get(cell, [])):
                if _of(several, along) != own:
                    raise t.type_error(place, f"a tile reads or writes elements of {cell.description} that other tiles "
                                       "write", "read and write it by the same index, or read a copy")  # fmt: skip


def _of(several: list[int], along: Along) -> Along:
    return frozenset(own for own in along if own[1] in several)


_FORMS = ("shape", "dtype", "ndim")
"""What is asked of an array without reading it."""


def whole_reads(node: ast.FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    """Names that stand for whole arrays, neither indexed nor asked for their form."""
    indexed = {
        id(part.value)
        for part in ast.walk(node)
        if isinstance(part, ast.Subscript) or (isinstance(part, ast.Attribute) and part.attr in _FORMS)
    }
    updated = {id(part.args[0]) for part in ast.walk(node) if isinstance(part, ast.Call) and _updates(part)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and id(part) not in indexed | updated:
            yield part.id, part


def _updates(call: ast.Call) -> bool:
    """``pk.atomic_add(x, k, v)``, ``np.add.at(x, k, v)``: what is told of `x` is told where it is written."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return bool(call.args) and (name == "at" or name.startswith("atomic_"))
