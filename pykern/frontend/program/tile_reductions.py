"""Reductions along tiles, and what loops over tiles carry: used only where the size of tiles is not seen.

A tile of an open size is the whole range, so a sum along it is the whole sum, while each real tile gives a part. That
is the same where one operator puts all parts together: an atomic of the launch, or the accumulation of a loop
(``acc += x[i, k].sum(1)``). Everything else would depend on the size of tiles, and is refused. How a value depends on
such parts is told by `tile_forms`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlir import ir

from pykern.frontend.program.flow import cells
from pykern.frontend.program.tile_forms import (
    ADD,
    FIXED,
    IDEMPOTENT,
    MARK,
    MAX,
    MIN,
    STAND_IN,
    Form,
    Forms,
    Mark,
)
from pykern.frontend.program.tile_lengths import DependsOnSize, TileLength, depends
from pykern.frontend.program.values import Cell

if TYPE_CHECKING:
    from pykern.frontend.program.tiles import TileValue
    from pykern.frontend.program.translator import ProgramTranslator

_ATOMICS = {ADD: "atomic_add", MAX: "atomic_max", MIN: "atomic_min"}


@dataclass
class _LaunchReduction(Mark):
    """A reduction along tiles of the launch. `error` is raised where something else than an atomic uses it."""

    error: DependsOnSize | None = None


@dataclass
class TileReductions:
    """Of the tile kernel that is translated. `open`: the tiles of an open size, by what their lengths belong to."""

    open: dict[object, TileValue] = field(default_factory=dict)
    forms: Forms = field(init=False)

    def __post_init__(self) -> None:
        self.forms = Forms(self.open)

    def opened(self, tile: TileValue) -> None:
        """A tile of an open size is there from now on. One of a single element has no size to choose."""
        if isinstance(tile.length, TileLength) and tile.count > 1:
            self.open[tile.length.of] = tile

    def reduces(
        self, t: ProgramTranslator, node: ast.AST, what: str, lengths: Iterable[int], by: str, value: ir.Value
    ) -> None:
        """`value` is a reduction along these lengths. `what` says so in an error."""
        tiles = [n for n in lengths if isinstance(n, TileLength) and n.of in self.open]
        if not tiles:
            return
        owners = frozenset(n.of for n in tiles)
        kernel = [n for n in tiles if not n.summed]
        if not kernel:
            self.forms.mark(value.owner, Mark(None, by, owners))
            return
        error = depends(t, node, f"{what} the axis of the tile `{kernel[0].name}`")
        if by in _ATOMICS:
            error.hint = f"put together what all tiles give with pk.{_ATOMICS[by]}, or {error.hint}"
        self.forms.mark(value.owner, _LaunchReduction(None, by, owners, error))

    def placed(self, value: ir.Value, shape: Iterable[int]) -> ir.Value:
        """What an array holds that was written where the tiles of these lengths are, each at its own place."""
        loops = frozenset(n.of for n in shape if isinstance(n, TileLength) and n.summed and n.of in self.open)
        return self.stand_in(value, Mark(Form("carried", carries=loops))) if loops else value

    def combines(
        self, t: ProgramTranslator, node: ast.AST, by: str, lengths: Iterable[int], value: ir.Value
    ) -> ir.Value:
        """`value`, which an atomic puts together with what is there. The shape of what it writes has these lengths."""
        form = self.forms.of(value)
        along = {n.of for n in lengths if isinstance(n, TileLength)}
        whole = form.kind == "reduced" and form.op == by and not form.moves and not along & form.over
        if form.kind != "fixed" and not whole:
            return value
        for owner, tile in self.open.items():
            if owner not in along | form.over and by not in IDEMPOTENT:
                error = depends(t, node, f"this takes part once for each tile of `{tile.name}`")
                error.hint = f"index with `{tile.name}`, or give a sum along it; or {error.hint}"
                raise error
        return self.stand_in(value, Mark(FIXED)) if whole else value

    def close(self, t: ProgramTranslator, written: Iterable[Cell]) -> None:
        """At the end of the kernel, which has written these arrays. Raises where a reduction along a tile is used by
        something else than an atomic."""
        marked = [op for op in _operations() if MARK in op.attributes]
        stored = [self.forms.of(cell.ssa).over for cell in written]
        for op in marked:
            mark = self.forms.mark_of(op)
            if not isinstance(mark, _LaunchReduction) or mark.error is None:
                continue
            if self._escapes(op.results[0]) or any(over & mark.tiles for over in stored):
                raise mark.error
        for cell in arrays(t):
            while not isinstance(made := cell.ssa.owner, ir.Block) and made.operation.name == STAND_IN:
                cell.ssa = made.operation.operands[0]
        for op in reversed(marked):
            del op.attributes[MARK]
            if op.name == STAND_IN:
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()

    def _escapes(self, value: ir.Value) -> bool:
        """Whether something else than an atomic uses the reduction, or what is made of it."""
        for use in value.uses:
            op = use.owner.operation
            mark = self.forms.mark_of(op)
            if mark is not None and mark.form is FIXED:
                continue
            if not len(op.results):
                return True
            for result in op.results:
                used = bool(list(result.uses))
                if used and (self.forms.of(result).kind not in ("reduced", "fixed") or self._escapes(result)):
                    return True
        return False

    def stand_in(self, value: ir.Value, mark: Mark) -> ir.Value:
        """The same value, of which something else is known; gone when the kernel is closed."""
        made = ir.Operation.create(STAND_IN, results=[value.type], operands=[value])
        self.forms.mark(made, mark)
        return made.results[0]

    def mark(self, form: Form | None, values: Iterable[ir.Value]) -> None:
        """Give stand-ins a form, or take it back."""
        for value in values:
            mark = self.forms.mark_of(value.owner.operation)
            assert mark is not None
            mark.form = form


def _operations() -> list[ir.Operation]:
    """All of the block that is written, in order."""
    found: list[ir.Operation] = []

    def note(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    for top in ir.InsertionPoint.current.block.operations:
        top.operation.walk(note, ir.WalkOrder.PRE_ORDER)
    return found


def named_arrays(t: ProgramTranslator) -> Iterator[tuple[str, Cell]]:
    """The arrays that names mean, of all functions that are being translated."""
    for frame in t.frames_in_reach():
        for name, value in frame.environment.locals.items():
            for cell in cells(value):
                yield name, cell


def arrays(t: ProgramTranslator) -> list[Cell]:
    """The same, each once."""
    return list({id(cell): cell for _, cell in named_arrays(t)}.values())
