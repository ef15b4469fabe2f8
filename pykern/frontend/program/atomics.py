"""Updates of arrays: ``pk.atomic_add(x, k, v)``, ``np.add.at(x, k, v)``.

Comes in: an array, indices, values. Goes out: where the indices are arrays, writes one after the other (`each_writes`);
where they are integers and tiles, an update of all that these name at once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend import arithmetic
from pykern.frontend.program import arguments, each_writes, elementwise, indexing
from pykern.frontend.program.composition import Composer
from pykern.frontend.program.each_writes import Update
from pykern.frontend.program.tile_forms import ADD, AND, MAX, MIN, MUL, OR, XOR
from pykern.frontend.program.tiles import TileValue
from pykern.frontend.program.values import AllAxes, Cell
from pykern.frontend.values import NoneValue, Scalar, TupleValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def _operator(symbol: str, by: str) -> Update:
    return Update(lambda old, new: arithmetic.binary(symbol, old, new), by)


UPDATES: dict[str, Update] = {
    "add": _operator("+", ADD), "subtract": _operator("-", ADD), "multiply": _operator("*", MUL),
    "divide": _operator("/", MUL), "maximum": Update(arithmetic.maximum, MAX),
    "minimum": Update(arithmetic.minimum, MIN),
}  # fmt: skip
_ATOMICS: dict[str, Update] = {
    "atomic_add": UPDATES["add"], "atomic_sub": UPDATES["subtract"], "atomic_max": UPDATES["maximum"],
    "atomic_min": UPDATES["minimum"], "atomic_and_": _operator("&", AND), "atomic_or_": _operator("|", OR),
    "atomic_xor": _operator("^", XOR),
}  # fmt: skip


def _atomic(name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "x index value", args, keywords)
        at(Composer(t, node), given["x"], given["index"], given["value"], _ATOMICS[name])
        return NoneValue()

    return apply


HANDLERS: dict[str, Callable] = {name: _atomic(name) for name in _ATOMICS}


def at(made: Composer, x: Value, index: Value, values: Value, update: Update, converts: bool = True) -> None:
    """Update `x` at an index: an array of indices, an integer, a tile, ``...``, or a tuple of these. `converts`: see
    `each_writes.write`."""
    places = index.items if isinstance(index, TupleValue) else (index,)
    if any(isinstance(p, TileValue | AllAxes) for p in places) or all(isinstance(p, Scalar) for p in places):
        _at_once(made, made.array(x), places, values, update, converts)
        return
    each_writes.write(made, made.array(x), [made.array(p) for p in places], values, update, converts)


def _at_once(
    made: Composer, x: Cell, places: tuple[Value, ...], values: Value, update: Update, converts: bool
) -> None:
    """Tiles and integers name each element once."""
    t, node = made.t, made.node
    part = indexing.part_of(t, node, places, x)
    given = each_writes.taken(t, node, x, values, part.shape, update, converts)
    old = indexing.read_part(t, node, x, part)
    new = elementwise.apply(t, node, [old, given], lambda e: update.function(e[0], e[1]))
    indexing.write_part(t, node, x, part, made.array(made.cast(new, x.dtype)))
    if t.tile is not None and x.born < t.tile.begin:
        t.tile.accesses.scatter(x, node)
