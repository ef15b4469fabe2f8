"""Arrays of an array program that are written in place: what they hold now, and who else would see it in NumPy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlir import ir

from pykern.frontend.program.aliasing import current
from pykern.frontend.program.displays import Displays
from pykern.frontend.program.flow import cells
from pykern.frontend.program.values import Cell, Writes
from pykern.types import bool_


@dataclass
class WrittenArrays(Displays):
    """The part of a program's translator that writes arrays."""

    journal: list[Writes] = field(default_factory=list)
    sealed: list[int] = field(default_factory=list)
    """Where functions begin that are being differentiated: they write no older array."""

    def mark(self) -> int:
        """A number: arrays made from now on are born at or after it."""
        return Cell(bool_, (), None).born  # type: ignore[arg-type]

    @contextmanager
    def writes(self) -> Iterator[dict[Cell, ir.Value]]:
        """What is written inside is taken back at the end; gives what the older arrays held then."""
        contents: dict[Cell, ir.Value] = {}
        self.journal.append(Writes(self.mark()))
        try:
            yield contents
        finally:
            for cell, before in self.journal.pop().before.items():
                contents[cell] = cell.ssa
                cell.ssa = before

    def put(self, cell: Cell, ssa: ir.Value) -> None:
        """Let an array hold another tensor from here on."""
        if self.journal and cell.born < self.journal[-1].start:
            self.journal[-1].before.setdefault(cell, cell.ssa)
        cell.ssa = ssa

    def write(self, node: ast.AST, cell: Cell, ssa: ir.Value) -> None:
        """Write an array in place; a view writes into the array that it was taken of, as in NumPy. Raises where another
        name would see it in NumPy and not here."""
        if cell.way is not None and self.seen_as(cell.origins, beside=cell) is not None:
            whole = current(cell.way.whole)
            assert isinstance(whole, Cell)
            self.write(node, whole, cell.way.put(whole, Cell(cell.dtype, cell.shape, ssa)))
            return
        self.check_writable(node, cell, "this writes it")
        self.note_write(cell)
        self.put(cell, ssa)

    def note_write(self, cell: Cell) -> None:
        """Views taken before are not what they were."""
        cell.version = self.mark()
        cell.was_written = True
        if cell.base is not None:  # nobody sees the whole any more
            cell.base.version = cell.base_version = cell.version
            cell.base.was_written = True

    def check_writable(self, node: ast.AST, cell: Cell, why: str) -> None:
        if cell.is_scalar:
            raise self.type_error(node, f"{why}, and a NumPy scalar cannot be written",
                                  "make an array: pk.zeros((), dtype)")  # fmt: skip
        if self.sealed and cell.born < self.sealed[-1]:
            raise self.type_error(node, f"{why}, and it is {cell.description} of the program around the function that "
                                  "is differentiated", "let the function make a copy: x2 = x.copy()")  # fmt: skip
        if not cell.writes:
            raise self.type_error(node, f"`{cell.name}` is annotated pk.In: the program may not write it")
        other = self.seen_as(cell.origins, beside=cell)
        if other is None:
            return
        if cell.way is not None:
            self.check_writable(node, cell.way.whole, why)
            return
        if cell.base is not None:
            raise self.type_error(node, f"{why}, and it is a part of {cell.base.description}: here a value",
                                  "write the array itself, as in x[1:] = ..., or take a copy")  # fmt: skip
        raise self.type_error(node, f"{why}, and on some path it is the same as {other.description}",
                              "take a copy where the paths part: x.copy()")  # fmt: skip

    def seen_as(self, origins: frozenset[Cell], beside: Cell | None = None) -> Cell | None:
        """An array of the caller or of a name in scope, other than `beside`, that may have these elements."""
        mine = next((c for c in origins if c.parameter is not None and c is not beside), None)
        return mine or self.named_as(origins, beside)

    def named_as(self, origins: frozenset[Cell], beside: Cell | None = None) -> Cell | None:
        """An array a name in scope means. Parts of `beside` do not count: reading them is refused from now on."""
        for frame in self.frames_in_reach():
            for value in frame.environment.locals.values():
                for found in cells(value):
                    own = found is beside or (beside is not None and found.base is beside)
                    if not own and not found.is_scalar and found.origins & origins:
                        return found
        return None
