"""Reductions along tiles, and what loops over tiles carry: used only where the size of tiles is not seen.

A tile of an open size is the whole range, so a sum along it is the whole sum, while each real tile gives a part. That
is the same where one operator puts all parts together: an atomic of the launch, or the accumulation of a loop
(``acc += x[i, k].sum(1)``). Everything else would depend on the size of tiles, and is refused. How a value depends on
such parts is told by `tile_forms`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlir import ir

from pykern.errors import KernelError
from pykern.frontend.casts import materialise
from pykern.frontend.liveness import read_first
from pykern.frontend.loop_values import assigned_names
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
from pykern.frontend.program.values import Cell, DictValue, parts, with_parts
from pykern.frontend.values import Extension, Scalar, TupleValue, Value
from pykern.types import bool_

if TYPE_CHECKING:
    from pykern.frontend.program.tiles import TileValue
    from pykern.frontend.program.translator import ProgramTranslator

_ACCUMULATE = (
    "accumulate with one operator, as in acc += x[i, k].sum(1), or count elements in a loop over range(n)"
)
_ATOMICS = {ADD: "atomic_add", MAX: "atomic_max", MIN: "atomic_min"}
_LAST = "gets what the last tile of the loop gives"


@dataclass(frozen=True)
class LastTile(Extension):
    """What a name of a loop over tiles means behind it: nothing that may be read."""

    name: str

    @property
    def description(self) -> str:
        return "what the last tile of a loop gives, and is not known behind the loop"


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
        return self._stand_in(value, Mark(Form("carried", carries=loops))) if loops else value

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
        return self._stand_in(value, Mark(FIXED)) if whole else value

    @contextmanager
    def loop(self, t: ProgramTranslator, node: ast.For, tile: TileValue) -> Iterator[None]:
        """The body of a loop over tiles, which is translated once. Raises where it counts how often it runs."""
        if not isinstance(tile.length, TileLength) or tile.count <= 1:
            yield
            return
        owner = tile.length.of
        assigned = list(dict.fromkeys(assigned_names(node.body)))
        carried = [name for name in assigned if name in t.names and read_first(node.body, name)]
        self.open[owner] = tile
        held = self._carry(t, owner, carried)
        try:
            yield
            self._check_loop(t, node, owner, held, assigned, carried)
        finally:
            del self.open[owner]
            self._release(t, held)

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
        for cell in _arrays(t):
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

    # -- loops -------------------------------------------------------------------------------

    def _stand_in(self, value: ir.Value, mark: Mark) -> ir.Value:
        made = ir.Operation.create(STAND_IN, results=[value.type], operands=[value])
        self.forms.mark(made, mark)
        return made.results[0]

    def _carry(self, t: ProgramTranslator, owner: object, names: list[str]) -> dict[ir.Value, ir.Value]:
        """Let arrays, and the numbers that are carried, stand for what they are at the begin of any iteration."""
        held: dict[ir.Value, ir.Value] = {}

        def carry(value: ir.Value) -> ir.Value:
            made = self._stand_in(value, Mark())
            held[made] = value
            return made

        def number(leaf: Scalar | Cell) -> Value:
            is_flag = isinstance(leaf, Cell) or (leaf.is_const and leaf.dtype == bool_)
            return leaf if is_flag else Scalar(leaf.dtype, carry(materialise(leaf)))

        for cell in _arrays(t):
            cell.ssa = carry(cell.ssa)
        for name in names:
            t.names[name] = _mapped(t.names[name], number)
            self._mark(_carried(owner), (v.ssa for v in _leaves(t.names[name]) if v.ssa in held))
        return held

    def _mark(self, form: Form | None, values: Iterable[ir.Value]) -> None:
        for value in values:
            mark = self.forms.mark_of(value.owner.operation)
            assert mark is not None
            mark.form = form

    def _release(self, t: ProgramTranslator, held: dict[ir.Value, ir.Value]) -> None:
        """The loop is over: what it did not change is what it was."""
        self._mark(None, held)
        for cell in _arrays(t):
            cell.ssa = held.get(cell.ssa, cell.ssa)
        for writes in t.journal:
            writes.before.update({c: held[v] for c, v in writes.before.items() if v in held})
        for frame in t.frames_in_reach():
            for name, value in frame.environment.locals.items():
                frame.environment.locals[name] = _mapped(value, lambda leaf: _released(leaf, held))

    def _check_loop(
        self,
        t: ProgramTranslator,
        node: ast.For,
        owner: object,
        held: dict[ir.Value, ir.Value],
        assigned: list[str],
        carried: list[str],
    ) -> None:
        now = {cell.ssa for cell in _arrays(t)}
        self._mark(_carried(owner), (made for made in held if made not in now))
        for name in assigned:
            value = t.names.get(name)
            for leaf in _leaves(value):
                wrong = self._wrong(owner, leaf)
                if wrong and name in carried:
                    raise self._refused(t, node, name, wrong)
                if wrong:
                    t.names[name] = LastTile(name)
        for name, cell in _named_arrays(t):
            if cell.ssa not in held and (wrong := self._wrong(owner, cell)):
                raise self._refused(t, node, name, wrong)

    def _wrong(self, owner: object, leaf: Scalar | Cell) -> str:
        """Why a value that the loop leaves depends on how many tiles there are."""
        if isinstance(leaf, Cell) and any(isinstance(n, TileLength) and n.of is owner for n in leaf.shape):
            return _LAST
        if leaf.ssa is None:
            return ""
        form = self.forms.of(leaf.ssa)
        if form.kind == "carried" and owner in form.carries:
            changed = "accumulates a reduction that depends on what other tiles gave"
            return form.wrong or (changed if form.moves and not form.scaled else "")
        return _LAST if owner in form.over and owner not in form.carries else ""

    def _refused(self, t: ProgramTranslator, loop: ast.For, name: str, wrong: str) -> KernelError:
        places = [p for s in loop.body for p in ast.walk(s) if _stores(p, name)]
        return _depends(t, places[-1] if places else loop, f"`{name}` {wrong}", _ACCUMULATE)


def _carried(owner: object) -> Form:
    return Form("carried", carries=frozenset((owner,)))


def _operations() -> list[ir.Operation]:
    """All of the block that is written, in order."""
    found: list[ir.Operation] = []

    def note(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    for top in ir.InsertionPoint.current.block.operations:
        top.operation.walk(note, ir.WalkOrder.PRE_ORDER)
    return found


def _depends(t: ProgramTranslator, node: ast.AST, what: str, hint: str) -> DependsOnSize:
    made = depends(t, node, what)
    made.hint, made.fixed = hint, False
    return made


def _stores(part: ast.AST, name: str) -> bool:
    """Whether a statement gives a name a value, or writes the array that it means."""
    targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
    if not isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return False
    return any(
        isinstance(n, ast.Name) and n.id == name for to in targets if to is not None for n in ast.walk(to)
    )


def _named_arrays(t: ProgramTranslator) -> Iterator[tuple[str, Cell]]:
    for frame in t.frames_in_reach():
        for name, value in frame.environment.locals.items():
            for cell in cells(value):
                yield name, cell


def _arrays(t: ProgramTranslator) -> list[Cell]:
    return list({id(cell): cell for _, cell in _named_arrays(t)}.values())


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
