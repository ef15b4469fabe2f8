"""Loops over tiles: what they carry from one tile to the next must not depend on how many tiles there are.

A loop over tiles of an open size is translated once, over the whole range. Comes in: its statement and its tile. Goes
out: the names behind it; an error where the loop would count its iterations, or keep what its last tile gave. What
may be carried is what one operator accumulates; `tile_forms` tells.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.errors import KernelError
from pykern.frontend.casts import materialise
from pykern.frontend.liveness import read_first
from pykern.frontend.loop_values import assigned_names
from pykern.frontend.program.tile_forms import Form, Mark
from pykern.frontend.program.tile_lengths import TileLength, depends
from pykern.frontend.program.tile_reductions import TileReductions, arrays, named_arrays
from pykern.frontend.program.values import Cell, DictValue, parts, with_parts
from pykern.frontend.values import Extension, Scalar, TupleValue, Value
from pykern.types import bool_

if TYPE_CHECKING:
    from pykern.frontend.program.tiles import TileValue
    from pykern.frontend.program.translator import ProgramTranslator

_ACCUMULATE = (
    "accumulate with one operator, as in acc += x[i, k].sum(1), or count elements in a loop over range(n)"
)
_LAST = "gets what the last tile of the loop gives"


@dataclass(frozen=True)
class LastTile(Extension):
    """What a name of a loop over tiles means behind it: nothing that may be read."""

    @property
    def description(self) -> str:
        return "what the last tile of a loop gives, and is not known behind the loop"


@contextmanager
def checked(t: ProgramTranslator, node: ast.For, tile: TileValue) -> Iterator[None]:
    """The body of a loop over tiles, which is translated once. Raises where it counts how often it runs."""
    if not isinstance(tile.length, TileLength) or tile.count <= 1:
        yield
        return
    assert t.tile is not None
    reductions, owner = t.tile.reductions, tile.length.of
    assigned = list(dict.fromkeys(assigned_names(node.body)))
    carried = [name for name in assigned if name in t.names and read_first(node.body, name)]
    reductions.open[owner] = tile
    held = _carry(t, reductions, owner, carried)
    try:
        yield
        _check(t, reductions, node, owner, held, assigned, carried)
    finally:
        del reductions.open[owner]
        _release(t, reductions, held)


def _carry(
    t: ProgramTranslator, reductions: TileReductions, owner: object, names: list[str]
) -> dict[ir.Value, ir.Value]:
    """Let arrays, and the numbers that are carried, stand for what they are at the begin of any iteration."""
    held: dict[ir.Value, ir.Value] = {}

    def carry(value: ir.Value) -> ir.Value:
        made = reductions.stand_in(value, Mark())
        held[made] = value
        return made

    def number(leaf: Scalar | Cell) -> Value:
        is_flag = isinstance(leaf, Cell) or (leaf.is_const and leaf.dtype == bool_)
        return leaf if is_flag else Scalar(leaf.dtype, carry(materialise(leaf)))

    for cell in arrays(t):
        cell.ssa = carry(cell.ssa)
    for name in names:
        t.names[name] = _mapped(t.names[name], number)
        reductions.mark(_carried(owner), (v.ssa for v in _leaves(t.names[name]) if v.ssa in held))
    return held


def _release(t: ProgramTranslator, reductions: TileReductions, held: dict[ir.Value, ir.Value]) -> None:
    """The loop is over: what it did not change is what it was."""
    reductions.mark(None, held)
    for cell in arrays(t):
        cell.ssa = held.get(cell.ssa, cell.ssa)
    for writes in t.journal:
        writes.before.update({c: held[v] for c, v in writes.before.items() if v in held})
    for frame in t.frames_in_reach():
        for name, value in frame.environment.locals.items():
            frame.environment.locals[name] = _mapped(value, lambda leaf: _released(leaf, held))


def _check(
    t: ProgramTranslator,
    reductions: TileReductions,
    node: ast.For,
    owner: object,
    held: dict[ir.Value, ir.Value],
    assigned: list[str],
    carried: list[str],
) -> None:
    now = {cell.ssa for cell in arrays(t)}
    reductions.mark(_carried(owner), (made for made in held if made not in now))
    for name in assigned:
        value = t.names.get(name)
        for leaf in _leaves(value):
            wrong = _wrong(reductions, owner, leaf)
            if wrong and name in carried:
                raise _refused(t, node, name, wrong)
            if wrong:
                t.names[name] = LastTile()
    for name, cell in named_arrays(t):
        if cell.ssa not in held and (wrong := _wrong(reductions, owner, cell)):
            raise _refused(t, node, name, wrong)


def _wrong(reductions: TileReductions, owner: object, leaf: Scalar | Cell) -> str:
    """Why a value that the loop leaves depends on how many tiles there are."""
    if isinstance(leaf, Cell) and any(isinstance(n, TileLength) and n.of is owner for n in leaf.shape):
        return _LAST
    if leaf.ssa is None:
        return ""
    form = reductions.forms.of(leaf.ssa)
    if form.kind == "carried" and owner in form.carries:
        changed = "accumulates a reduction that depends on what other tiles gave"
        return form.wrong or (changed if form.moves and not form.scaled else "")
    return _LAST if owner in form.over and owner not in form.carries else ""


def _refused(t: ProgramTranslator, loop: ast.For, name: str, wrong: str) -> KernelError:
    places = [p for s in loop.body for p in ast.walk(s) if _stores(p, name)]
    made = depends(t, places[-1] if places else loop, f"`{name}` {wrong}")
    made.hint, made.fixed = _ACCUMULATE, False
    return made


def _carried(owner: object) -> Form:
    return Form("carried", carries=frozenset((owner,)))


def _stores(part: ast.AST, name: str) -> bool:
    """Whether a statement gives a name a value, or writes the array that it means."""
    targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
    if not isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return False
    return any(
        isinstance(n, ast.Name) and n.id == name for to in targets if to is not None for n in ast.walk(to)
    )


def _leaves(value: Value | None) -> Iterator[Scalar | Cell]:
    """The numbers and arrays in a value of any kind."""
    if isinstance(value, Scalar | Cell):
        yield value
    elif isinstance(value, TupleValue | DictValue):
        for item in parts(value):
            yield from _leaves(item)


def _mapped(value: Value, change: Callable[[Scalar | Cell], Value]) -> Value:
    """A value with other numbers and arrays in it."""
    if isinstance(value, Scalar | Cell):
        return change(value)
    if not isinstance(value, TupleValue | DictValue):
        return value
    return with_parts(value, [_mapped(item, change) for item in parts(value)])


def _released(leaf: Scalar | Cell, held: dict[ir.Value, ir.Value]) -> Value:
    return Scalar(leaf.dtype, held[leaf.ssa]) if isinstance(leaf, Scalar) and leaf.ssa in held else leaf
