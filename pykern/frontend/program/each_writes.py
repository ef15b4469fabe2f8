"""Writes where arrays of indices say: ``x[k] = v``, ``np.add.at(x, k, v)``.

Comes in: an array, its indices, values. Goes out: a loop that writes one element after the other, in their order: of
equal indices the last one counts, or each takes part.
"""

from __future__ import annotations

from pykern.data.source import Builtin, FunctionSource
from pykern.frontend.program import elementwise
from pykern.frontend.program.composition import Composer, numbers
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import FunctionValue, Value

_TEXT = """\
def write_each(x, values, {places}):
    for k in loop_range(values.shape[0]):
        x[{at}] = {taken_in}
"""
_BUILTINS = ("loop_range", "maximum", "minimum")


def write(made: Composer, x: Cell, places: list[Cell], values: Value, taken_in: str = "{new}") -> None:
    """``x[places] = values`` along the first axes; `taken_in` says what is written, of the `old` and the `new` value.

    Raises `KernelTypeError` for indices that are no integers, and for shapes that do not fit together.
    """
    t, node = made.t, made.node
    for place in places:
        if not place.dtype.is_integer:
            raise t.type_error(
                node, f"indices are integers, not {place.description}", "convert them: k.astype(pk.i64)"
            )
    if len(places) > len(x.shape):
        raise t.type_error(
            node, f"{len(places)} indices are given for {x.description}", "give one an axis at most"
        )
    refuse(t, node, x.shape[: len(places)], "these indices go along")
    shape = elementwise.broadcast_shapes(t, node, places)
    rest = x.shape[len(places) :]
    given = elementwise.broadcast_to(t, node, values, x.dtype, (*shape, *rest))
    if 0 in (*shape, *x.shape):
        return
    wide = [made.reshaped(made.cell("broadcast_to", p, numbers(shape)), -1) for p in places]
    flat = made.reshaped(given, -1, *rest)
    names = [f"place{n}" for n in range(len(places))]
    at = ", ".join(f"{name}[k]" for name in names)
    text = _TEXT.format(
        places=", ".join(names), at=at, taken_in=taken_in.format(old=f"x[{at}]", new="values[k]")
    )
    captures = tuple((b, Builtin(b)) for b in _BUILTINS)
    function = FunctionValue(FunctionSource("write_each", "<pykern.write_each>", 1, text, captures))
    t.called_with(node, function, [x, flat, *wide], {})
