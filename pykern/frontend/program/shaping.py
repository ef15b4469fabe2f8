"""The same elements in another form: transpose, reshape, broadcast, flip, concatenate, stack."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir

from pykern.data.promotion import promote
from pykern.frontend.program import arguments, elementwise
from pykern.frontend.program.aliasing import current
from pykern.frontend.program.appended_lists import arrays_of
from pykern.frontend.program.tensors import (
    PARALLEL,
    Extent,
    Input,
    Output,
    Shape,
    empty,
    generic,
    insert_slice,
    reshape,
)
from pykern.frontend.program.tile_lengths import depends, owner, refuse
from pykern.frontend.program.values import Cell, Way
from pykern.frontend.values import NoneValue, TupleValue, Value, describe

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def permuted(x: Cell, order: tuple[int, ...]) -> Cell:
    """`x` with its axes in `order`."""
    shape, dims = tuple(x.shape[a] for a in order), tuple(order.index(a) for a in range(len(order)))
    way = Way(x, lambda now: permuted(now, order), lambda _, given: permuted(given, dims).ssa)
    if order == tuple(range(len(order))):
        return x.view(Cell(x.dtype, shape, x.ssa), way)
    return x.view(_copied(x, dims, shape), way)


def backwards(x: Cell, axes: tuple[int, ...]) -> Cell:
    """`x` with the order along some axes turned round."""
    if not axes or 0 in x.shape:
        return Cell(x.dtype, x.shape, x.ssa)
    dims = tuple(
        ir.AffineExpr.get_constant(n - 1) - ir.AffineExpr.get_dim(a) if a in axes else a
        for a, n in enumerate(x.shape)
    )
    return _copied(x, dims, x.shape)


def flipped(x: Cell, axes: tuple[int, ...]) -> Cell:
    """A view of `x` with the order along some axes turned round."""
    way = Way(x, lambda now: flipped(now, axes), lambda _, given: backwards(given, axes).ssa)
    return x.view(backwards(x, axes), way)


def _copied(x: Cell, dims: tuple, shape: Shape) -> Cell:
    output = Output(x.dtype, shape, tuple(range(len(shape))))
    inputs = [Input(x.dtype, x.ssa, dims)]
    [ssa] = generic([PARALLEL] * len(shape), inputs, [output], lambda elements, _: elements)
    return Cell(x.dtype, shape, ssa)


def reshaped(t: ProgramTranslator, node: ast.AST, x: Cell, lengths: tuple[int, ...]) -> Cell:
    """`x` in another shape; one length may be -1."""
    if lengths.count(-1) > 1 or any(n < -1 for n in lengths):
        raise t.type_error(node, f"{lengths} is no shape", "one length may be -1")
    if -1 in lengths:
        rest = math.prod(n for n in lengths if n != -1)
        known = _tile_of(x, lengths, x.size // rest if rest else 0)
        lengths = tuple(known if n == -1 else n for n in lengths)
    if math.prod(lengths) != x.size:
        raise t.type_error(node, f"{x.description} has {x.size} elements, and the shape {lengths} "
                           f"{math.prod(lengths)}", "give lengths whose product is the same")  # fmt: skip
    _keeps_tiles(t, node, x, lengths)
    return x.view(Cell(x.dtype, lengths, reshape(x.ssa, x.dtype, x.shape, lengths)))


def _tile_of(x: Cell, lengths: Shape, known: int) -> int:
    """The length that -1 stands for: that of a tile, where as many elements lie behind it as before."""
    behind = math.prod(lengths[lengths.index(-1) + 1 :])
    for axis, length in enumerate(x.shape):
        if owner(length) is not None and length == known and math.prod(x.shape[axis + 1 :]) == behind:
            return length
    return known


def _keeps_tiles(t: ProgramTranslator, node: ast.AST, x: Cell, lengths: Shape) -> None:
    """Lengths of tiles stay what they are: as many elements lie behind each of them as before."""

    def tiles(shape: Shape) -> list[tuple[object, int]]:
        return [(owner(n), math.prod(shape[a + 1 :])) for a, n in enumerate(shape) if owner(n) is not None]

    if tiles(x.shape) != tiles(lengths):
        raise depends(t, node, "the axis of a tile is joined with others, or cut")


# -- calls --------------------------------------------------------------------------------------


def _transpose(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if len(args) > 2:  # x.transpose(1, 0)
        args = [args[0], TupleValue(tuple(args[1:]))]
    given = arguments.bind(t, node, "transpose", "x axes=", args, keywords)
    x = arguments.array(t, node, given["x"])
    rank = len(x.shape)
    if isinstance(given["axes"], NoneValue):
        return permuted(x, tuple(reversed(range(rank))))
    order = arguments.axes(t, node, given["axes"], rank)
    if len(order) != rank:
        raise t.type_error(node, f"{len(order)} axes are given for {x.description}")
    return permuted(x, order)


def _swapaxes(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "swapaxes", "x axis1 axis2", args, keywords)
    x = arguments.array(t, node, given["x"])
    order = list(range(len(x.shape)))
    a, b = (arguments.axis(t, node, given[n], len(order)) for n in ("axis1", "axis2"))
    order[a], order[b] = b, a
    return permuted(x, tuple(order))


def _reshape(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if len(args) > 2:  # x.reshape(2, 3)
        args = [args[0], TupleValue(tuple(args[1:]))]
    given = arguments.bind(t, node, "reshape", "x shape", args, keywords)
    lengths = arguments.lengths_of(t, node, given["shape"])
    return reshaped(t, node, arguments.array(t, node, given["x"]), lengths)


def _ravel(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "ravel", "x", args, keywords)
    return reshaped(t, node, arguments.array(t, node, given["x"]), (-1,))


def _expand_dims(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "expand_dims", "x axis", args, keywords)
    x = arguments.array(t, node, given["x"])
    at = arguments.axis(t, node, given["axis"], len(x.shape) + 1)
    return reshaped(t, node, x, (*x.shape[:at], 1, *x.shape[at:]))


def _squeeze(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "squeeze", "x axis=", args, keywords)
    x = arguments.array(t, node, given["x"])
    axes = arguments.axes(t, node, given["axis"], len(x.shape))
    asked = not isinstance(given["axis"], NoneValue)
    if asked and any(x.shape[a] != 1 for a in axes):
        raise t.type_error(node, f"an axis of {x.description} is not of length 1")
    return reshaped(t, node, x, tuple(n for a, n in enumerate(x.shape) if a not in axes or n != 1))


def _broadcast_to(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "broadcast_to", "x shape", args, keywords)
    x = arguments.array(t, node, given["x"])
    made = elementwise.broadcast_to(t, node, x, x.dtype, arguments.shape(t, node, given["shape"]))
    return x.view(Cell(made.dtype, made.shape, made.ssa))


def _flip(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "flip", "x axis=", args, keywords)
    x = arguments.array(t, node, given["x"])
    axes = arguments.axes(t, node, given["axis"], len(x.shape))
    refuse(t, node, (x.shape[a] for a in axes), "`flip` goes along")
    return flipped(x, axes)


def _several(t: ProgramTranslator, node: ast.AST, name: str, value: Value) -> list[Cell]:
    """Arrays to be put together, in their common type."""
    if not isinstance(value, TupleValue) or not value.items:
        raise t.type_error(node, f"`{name}` takes a tuple of arrays, not {describe(value)}",
                           f"write pk.{name}((a, b))")  # fmt: skip
    cells = [arguments.array(t, node, current(item)) for item in value.items]
    dtype = cells[0].dtype
    for cell in cells:
        dtype = promote(dtype, cell.dtype)
    made = [elementwise.cast(t, node, cell, dtype) for cell in cells]
    return [c for c in made if isinstance(c, Cell)]


def _joined(cells: list[Cell], shape: Shape, axis: int) -> Cell:
    ssa, offset = empty(cells[0].dtype, shape), 0
    for cell in cells:
        extents = [Extent(offset if a == axis else 0, n) for a, n in enumerate(cell.shape)]
        ssa = insert_slice(cell.ssa, ssa, extents)
        offset += cell.shape[axis]
    return Cell(cells[0].dtype, shape, ssa)


def _concatenate(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "concatenate", "arrays axis=", args, keywords)
    cells = _several(t, node, "concatenate", given["arrays"])
    chosen = given["axis"]
    if isinstance(chosen, NoneValue) and (len(args) > 1 or "axis" in keywords):  # of what is flattened
        cells = [reshaped(t, node, c, (-1,)) for c in cells]
    rank = len(cells[0].shape)
    axis = 0 if isinstance(chosen, NoneValue) and rank else arguments.axis(t, node, chosen, rank)
    around = {(*c.shape[:axis], *c.shape[axis + 1 :]) for c in cells}
    if len(around) != 1 or any(len(c.shape) != rank for c in cells):
        shapes = " and ".join(c.description for c in cells)
        raise t.type_error(node, f"the shapes differ beside axis {axis}: {shapes}")
    refuse(t, node, (c.shape[axis] for c in cells), "`concatenate` goes along")
    total = sum(c.shape[axis] for c in cells)
    return _joined(cells, (*cells[0].shape[:axis], total, *cells[0].shape[axis + 1 :]), axis)


def _stack(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "stack", "arrays axis=", args, keywords)
    return stacked(t, node, given["arrays"], given["axis"])


def stacked(t: ProgramTranslator, node: ast.AST, arrays: Value, chosen: Value | None = None) -> Cell:
    """The arrays of a tuple along a new axis, the first one unless `chosen`."""
    if isinstance(arrays, TupleValue) and (rows := arrays_of(t, arrays.items)) is not None:
        shape = (sum(c.shape[0] for c in rows), *rows[0].shape[1:])
        axis = 0 if isinstance(chosen, NoneValue | None) else arguments.axis(t, node, chosen, len(shape))
        others, made = range(1, len(shape)), _joined(rows, shape, 0)
        return permuted(made, (*others[:axis], 0, *others[axis:])) if axis else made
    cells = _several(t, node, "stack", arrays)
    old = cells[0].shape
    if any(c.shape != old for c in cells):
        raise t.type_error(node, f"the shapes differ: {' and '.join(c.description for c in cells)}")
    axis = 0 if isinstance(chosen, NoneValue | None) else arguments.axis(t, node, chosen, len(old) + 1)
    one = (*old[:axis], 1, *old[axis:])
    expanded = [Cell(c.dtype, one, reshape(c.ssa, c.dtype, old, one)) for c in cells]
    return _joined(expanded, (*old[:axis], len(cells), *old[axis:]), axis)


HANDLERS: dict[str, Callable] = {
    "transpose": _transpose, "swapaxes": _swapaxes, "reshape": _reshape, "ravel": _ravel,
    "expand_dims": _expand_dims, "squeeze": _squeeze, "broadcast_to": _broadcast_to, "flip": _flip,
    "concatenate": _concatenate, "stack": _stack,
}  # fmt: skip
