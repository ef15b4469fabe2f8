"""Writes where arrays of indices say: ``x[k] = v``, ``np.add.at(x, k, v)``, ``pk.atomic_add(x, k, v)``.

Comes in: an array, its indices, values. Goes out: loops that write one element after the other, in their order: of
equal indices the last one counts, or each takes part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith, scf, tensor

from pykern.data.promotion import promote
from pykern.frontend import arithmetic
from pykern.frontend.casts import convert
from pykern.frontend.program import arguments, elementwise
from pykern.frontend.program.bounds import brought_inside
from pykern.frontend.program.composition import Composer
from pykern.frontend.program.tensors import Shape, from_memory, to_memory
from pykern.frontend.program.tile_lengths import refuse
from pykern.frontend.program.values import Cell
from pykern.frontend.values import NoneValue, Scalar, TupleValue, Value

if TYPE_CHECKING:
    import ast

    from pykern.frontend.program.translator import ProgramTranslator

Update = Callable[[Scalar, Scalar], Scalar]
"""What is written, of the old and the new value."""


def _operator(symbol: str) -> Update:
    return lambda old, new: arithmetic.binary(symbol, old, new)


UPDATES: dict[str, Update] = {
    "add": _operator("+"), "subtract": _operator("-"), "multiply": _operator("*"), "divide": _operator("/"),
    "maximum": arithmetic.maximum, "minimum": arithmetic.minimum,
}  # fmt: skip
_ATOMICS: dict[str, Update] = {
    "atomic_add": UPDATES["add"], "atomic_sub": UPDATES["subtract"], "atomic_max": arithmetic.maximum,
    "atomic_min": arithmetic.minimum, "atomic_and_": _operator("&"), "atomic_or_": _operator("|"),
    "atomic_xor": _operator("^"),
}  # fmt: skip


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
    kind = x.dtype if converts or not isinstance(values, Cell | Scalar) else promote(x.dtype, values.dtype)
    given = elementwise.broadcast_to(t, node, values, kind, (*shape, *rest))
    if 0 in (*shape, *x.shape):
        return
    wide = [elementwise.broadcast_to(t, node, p, p.dtype, shape) for p in places]
    t.write(node, x, _written(x, wide, given, shape, update))


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
            value = convert(update(from_memory(x.dtype, tensor.extract(into, where)), value), x.dtype)
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


def _atomic(name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "x index value", args, keywords)
        at(Composer(t, node), given["x"], given["index"], given["value"], _ATOMICS[name])
        return NoneValue()

    return apply


def at(made: Composer, x: Value, index: Value, values: Value, update: Update, converts: bool = True) -> None:
    """``np.add.at(x, index, values)``: an array of indices, or a tuple of them. `converts`: see `write`."""
    places = index.items if isinstance(index, TupleValue) else (index,)
    write(made, made.array(x), [made.array(p) for p in places], values, update, converts)


HANDLERS: dict[str, Callable] = {name: _atomic(name) for name in _ATOMICS}
