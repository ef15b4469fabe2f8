"""Writes where arrays of indices say: ``x[k] = v``, and updates of `atomics`.

Comes in: an array, its indices, values. Goes out: loops that write one element after the other, in their order: of
equal indices the last one counts, or each takes part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith, scf, tensor

from pykern.data.promotion import promote
from pykern.frontend.casts import convert
from pykern.frontend.program import elementwise
from pykern.frontend.program.bounds import brought_inside
from pykern.frontend.program.composition import Composer
from pykern.frontend.program.tensors import Shape, from_memory, to_memory
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, Value

if TYPE_CHECKING:
    import ast

    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True)
class Update:
    """What is written, of the old and the new value. `by` is the operator that puts values together in any order."""

    function: Callable[[Scalar, Scalar], Scalar]
    by: str


def write(
    made: Composer,
    x: Cell,
    places: list[Cell],
    values: Value,
    update: Update | None = None,
    converts: bool = True,
) -> None:
    """``x[places] = values`` along the first axes; `update` says what is written, without it the new value. `converts`:
    values have the type of `x` before the update, else behind it, as in NumPy's ``np.add.at``.

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
    if t.tile is not None and x.born < t.tile.begin:
        t.tile.accesses.scatter(x, node)
    shape = elementwise.broadcast_shapes(t, node, places)
    rest = x.shape[len(places) :]
    given = taken(t, node, x, values, (*shape, *rest), update, converts)
    if 0 in (*shape, *x.shape):
        return
    wide = [elementwise.broadcast_to(t, node, p, p.dtype, shape) for p in places]
    t.write(node, x, _written(x, wide, given, shape, update))


def taken(
    t: ProgramTranslator,
    node: ast.AST,
    x: Cell,
    values: Value,
    shape: Shape,
    update: Update | None,
    converts: bool,
) -> Cell:
    """The values in the shape of what is written. In a tile kernel they may be parts that the update puts together."""
    kind = x.dtype if converts or not isinstance(values, Cell | Scalar) else promote(x.dtype, values.dtype)
    given = elementwise.broadcast_to(t, node, values, kind, shape)
    if t.tile is None or update is None or x.born >= t.tile.begin:
        return given
    return Cell(kind, shape, t.tile.reductions.combines(t, node, update.by, shape, given.ssa))


def _written(x: Cell, places: list[Cell], values: Cell, shape: Shape, update: Update | None) -> ir.Value:
    """The tensor behind the loops."""

    def element(cell: Cell, at: list[ir.Value]) -> Scalar:
        return from_memory(cell.dtype, tensor.extract(cell.ssa, at))

    def each(into: ir.Value, at: list[ir.Value]) -> ir.Value:
        looked_up = [
            brought_inside(element(p, at[: len(shape)]), n) for p, n in zip(places, x.shape, strict=False)
        ]
        where = [*looked_up, *at[len(shape) :]]
        value = element(values, at)
        if update is not None:
            value = convert(
                update.function(from_memory(x.dtype, tensor.extract(into, where)), value), x.dtype
            )
        return tensor.insert(to_memory(value), into, where)

    return _loops(values.shape, x.ssa, [], each)


def _loops(
    extents: Shape, into: ir.Value, at: list[ir.Value], each: Callable[[ir.Value, list[ir.Value]], ir.Value]
) -> ir.Value:
    if not extents:
        return each(into, at)
    low, high, step = (arith.ConstantOp(ir.IndexType.get(), n).result for n in (0, extents[0], 1))
    loop = scf.ForOp(low, high, step, [into])
    with ir.InsertionPoint(loop.body):
        inside = _loops(extents[1:], loop.inner_iter_args[0], [*at, loop.induction_variable], each)
        scf.YieldOp([inside])
    return loop.results[0]
