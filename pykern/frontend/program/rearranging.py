"""NumPy's functions that put elements of an axis elsewhere: roll, take, repeat, tile, diff.

Comes in: a call. Goes out: a value made of slices, reshapes, broadcasts and look-ups.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir.dialects import arith, tensor

from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise
from pykern.frontend.program import arguments, gathering
from pykern.frontend.program.bounds import brought_inside
from pykern.frontend.program.composition import Composer, is_given, number, numbers
from pykern.frontend.program.tensors import Extent, elementwise, from_memory, loop_index
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, TupleValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def _roll(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Elements that leave an axis at one end come in at the other."""
    given = arguments.bind(t, node, "roll", "x shift axis=", args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    if not is_given(given["axis"]):
        if isinstance(given["shift"], TupleValue):
            raise t.type_error(node, "`roll` by several shifts takes as many axes", "write axis=(0, 1)")
        flat = _rolled(made, made.reshaped(x, -1), 0, given["shift"])
        return made.reshaped(flat, *x.shape)
    axes = given["axis"].items if isinstance(given["axis"], TupleValue) else (given["axis"],)
    shifts = given["shift"].items if isinstance(given["shift"], TupleValue) else (given["shift"],)
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise t.type_error(
            node, f"`roll` is given {len(shifts)} shifts for {len(axes)} axes", "give one an axis"
        )
    count = max(len(axes), len(shifts))
    for axis, shift in zip(axes * (count // len(axes)), shifts * (count // len(shifts)), strict=True):
        x = _rolled(made, x, arguments.axis(t, node, axis, len(x.shape)), shift)
    return x


def _rolled(made: Composer, x: Cell, axis: int, shift: Value) -> Cell:
    length = x.shape[axis]
    refuse(made.t, made.node, (length,), "`roll` goes along")
    amount = made.t.as_scalar(made.node, shift)
    if not amount.dtype.is_integer:
        raise made.t.type_error(
            made.node, f"a shift is an integer, not {amount.dtype.name}", "convert it: int(n)"
        )
    if x.size == 0:
        return x
    if not amount.is_const:
        places = made.op("%", made.op("-", made.call("arange", number(length)), amount), number(length))
        return _looked_up(made, x, axis, made.array(places))
    moved = int(amount.const) % length  # type: ignore[call-overload]
    return _periodic(x, axis, moved) if moved else made.cell("copy", x)


def _periodic(x: Cell, axis: int, shift: int) -> Cell:
    """One loop nest, in which each element looks up the one that comes to its place, around the end of the axis."""

    def body(_: list[Scalar]) -> list[Scalar]:
        places = [loop_index(a) for a in range(len(x.shape))]
        before = arithmetic.binary("-", places[axis], number(shift))
        around = arithmetic.binary("+", before, number(x.shape[axis]))
        is_outside = materialise(arithmetic.binary("<", before, number(0)))
        inside = arith.SelectOp(is_outside, materialise(around), materialise(before)).result
        indices = [inside if a == axis else materialise(place) for a, place in enumerate(places)]
        return [from_memory(x.dtype, tensor.ExtractOp(x.ssa, indices).result)]

    [(dtype, ssa)] = elementwise(x.shape, [], body)
    return Cell(dtype, x.shape, ssa)


def _looked_up(made: Composer, x: Cell, axis: int, places: Cell) -> Cell:
    """The elements of an axis that an array of places names."""
    parts = [
        gathering.Taken(a, array=places) if a == axis else gathering.Taken(a, Extent(0, n))
        for a, n in enumerate(x.shape)
    ]
    return gathering.read(made.t, made.node, x, parts, brought_inside)


def _take(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "take", "x indices axis=", args, keywords)
    made = Composer(t, node)
    x, places = made.array(given["x"]), made.array(given["indices"])
    if not places.dtype.is_integer:
        raise t.type_error(
            node, f"indices are integers, not {places.description}", "convert them: k.astype(pk.i64)"
        )
    if not is_given(given["axis"]):
        x, axis = made.reshaped(x, -1), 0
    else:
        axis = arguments.axis(t, node, given["axis"], len(x.shape))
    refuse(t, node, (x.shape[axis],), "`take` goes along")
    return _looked_up(made, x, axis, places)


def _take_along_axis(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Each index names an element of its own row."""
    given = arguments.bind(t, node, "take_along_axis", "x indices axis=", args, keywords)
    made = Composer(t, node)
    x, places = made.array(given["x"]), made.array(given["indices"])
    if not is_given(given["axis"]):
        x, axis = made.reshaped(x, -1), 0
    else:
        axis = arguments.axis(t, node, given["axis"], len(x.shape))
    rank = len(x.shape)
    if len(places.shape) != rank or not places.dtype.is_integer:
        raise t.type_error(node, f"{places.description} does not name elements of {x.description}",
                           "indices are integers, in as many dimensions")  # fmt: skip
    refuse(t, node, (x.shape[axis],), "`take_along_axis` looks up along")
    parts = [gathering.Taken(a, array=places if a == axis else _own_places(made, x, a)) for a in range(rank)]
    return gathering.read(t, node, x, parts, brought_inside)


def _own_places(made: Composer, x: Cell, axis: int) -> Cell:
    """0, 1, 2 ... along an axis of `x`, and as many dimensions as `x` has. A tile's axis stays that of the tile."""
    own = made.array(made.call("arange", number(x.shape[axis])))
    shape = tuple(n if a == axis else 1 for a, n in enumerate(x.shape))
    return Cell(own.dtype, shape, made.reshaped(own, *map(int, shape)).ssa)


def _repeat(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Each element, or each part along an axis, several times in a row."""
    given = arguments.bind(t, node, "repeat", "x repeats axis=", args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    if not is_given(given["axis"]):
        x, axis = made.reshaped(x, -1), 0
    else:
        axis = arguments.axis(t, node, given["axis"], len(x.shape))
    refuse(t, node, (x.shape[axis],), "`repeat` goes along")
    times = arguments.integer(t, node, given["repeats"], "the number of repeats")
    _refuse_negative(t, node, times)
    before, n, behind = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    lone = made.reshaped(x, *before, n, 1, *behind)
    wide = made.cell("broadcast_to", lone, numbers((*before, n, times, *behind)))
    return made.cell("copy", made.reshaped(wide, *before, n * times, *behind))


def _tile(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """The whole array several times along its axes: `numpy.tile`."""
    given = arguments.bind(t, node, "tile", "x reps", args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    refuse(t, node, x.shape, "`numpy.tile` goes along")
    times = arguments.integers(t, node, given["reps"], "the number of repeats")
    for count in times:
        _refuse_negative(t, node, count)
    rank = max(len(times), len(x.shape))
    times = (1,) * (rank - len(times)) + times
    shape = (1,) * (rank - len(x.shape)) + x.shape
    lone = made.reshaped(x, *(n for length in shape for n in (1, length)))
    wide = made.cell(
        "broadcast_to", lone, numbers(tuple(n for pair in zip(times, shape, strict=True) for n in pair))
    )
    return made.cell("copy", made.reshaped(wide, *(r * n for r, n in zip(times, shape, strict=True))))


def _refuse_negative(t: ProgramTranslator, node: ast.Call, times: int) -> None:
    if times < 0:
        raise t.type_error(
            node, f"a number of repeats is not negative, and this is {times}", "write 0 for none"
        )


def _diff(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """Differences of neighbours along an axis, `n` times."""
    given = arguments.bind(t, node, "diff", "x n= axis=", args, keywords)
    made = Composer(t, node)
    x = made.array(given["x"])
    axis = arguments.axis(t, node, given["axis"] if is_given(given["axis"]) else number(-1), len(x.shape))
    times = arguments.integer(t, node, given["n"], "`n`") if is_given(given["n"]) else 1
    if times < 0:
        raise t.type_error(node, f"`n` is not negative, and this is {times}", "write 0 for the array itself")
    for _ in range(times):
        length = x.shape[axis]
        symbol = "!=" if x.dtype.kind == "b" else "-"
        x = made.array(
            made.op(symbol, made.part(x, axis, 1, length), made.part(x, axis, 0, max(length - 1, 0)))
        )
    return x


HANDLERS: dict[str, Callable] = {
    "roll": _roll, "take": _take, "take_along_axis": _take_along_axis, "repeat": _repeat, "numpy.tile": _tile,
    "diff": _diff,
}  # fmt: skip
