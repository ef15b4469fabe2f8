"""Rows kept in memory: ``x[i] = a[i] + b[i]``, ``x[i] += dt * v[i]``, ``acc[:] = 0``, ``x[i] = (a, b)``.

Comes in: a row of an array, or private memory, and a value: a row, a tuple of numbers, a number for all elements. Goes
out: a store for each element, in their order, in loops where the length is not known.
"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import scf

from pykern.frontend import rows
from pykern.frontend.advice import SAY_HOW_LONG, scalar_from
from pykern.frontend.casts import convert, materialise
from pykern.frontend.merging import same
from pykern.frontend.rows import Row, View
from pykern.frontend.values import Array, Scalar, TupleValue, Value, describe
from pykern.passes.analysis.cost_model.code_size import UNASKED_COPIES
from pykern.passes.analysis.cost_model.lengths import COPIED_ROW
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.elements import Elements


def store(
    t: Elements, node: ast.expr, target: Array | View, value: Value, written: ast.AST | None = None
) -> None:
    """All elements of `target`. Raises `KernelTypeError` for what has another shape, or is no number."""
    if isinstance(target, Array) and target.space != "private" and not target.outer:
        raise t.type_error(node, f"each work-item would write all of {describe(target)}", scalar_from(target))
    if not (isinstance(value, Scalar) or rows.are_operands([target, value])):
        t.as_scalar(written or node, value)  # says what it is instead
    given = rows.lengths(t, value)
    if len(given) > len(target.shape):
        raise t.type_error(written or node, f"{describe(value)} has more dimensions than {describe(target)}",
                           "write a loop over the rows")  # fmt: skip
    if isinstance(value, Row):
        rows.check_fresh(t, written or node, value)
    shape = rows.joined(t, written or node, rows.lengths(t, target), given)
    with t.array_writes.storing():
        _store(t, node, target, value, shape, written)
    t.note_array_write(memory_of(target).ssa)


def memory_of(target: Array | View) -> Array:
    """The array that a view shows."""
    while isinstance(target, View):
        target = target.operands[0]  # type: ignore[assignment]
    return target


def put(
    t: Elements, node: ast.AST, target: Array | View, indices: tuple[Scalar, ...], value: Value,
    written: ast.AST | None = None,
) -> None:  # fmt: skip
    """One element of `target`."""
    while isinstance(target, View):
        indices = target.place(target.operands[1:], (*target.indices, *indices))
        target = target.operands[0]  # type: ignore[assignment]
    places = [materialise(convert(index, weak_int)) for index in indices]
    t.store(node, target, [*target.outer, *places], value, written)


def _store(
    t: Elements,
    node: ast.expr,
    target: Array | View,
    value: Value,
    shape: list[Scalar],
    written: ast.AST | None,
) -> None:
    count, is_moved = rows.known_count(shape), _is_moved(target, value, len(shape))
    if count is not None and (count <= COPIED_ROW or (count <= UNASKED_COPIES and is_moved)):
        ranges = (range(length.const) for length in shape)  # type: ignore[arg-type]
        places = [tuple(Scalar(weak_int, const=k) for k in place) for place in itertools.product(*ranges)]
        found = [rows.element_of(t, node, value, place) for place in places]  # all, before one is written
        for place, element in zip(places, found, strict=True):
            put(t, node, target, place, element, written)
        return
    if is_moved:
        name = memory_of(target).name
        reason = f"`{name}` is read at other places than it is written"
        hint = f"{SAY_HOW_LONG}, or write a loop over the elements"
        raise t.type_error(written or node, reason, hint)
    _store_each(t, node, target, value, shape, (), written)


def _store_each(
    t: Elements, node: ast.expr, target: Array | View, value: Value, shape: list[Scalar],
    before: tuple[Scalar, ...], written: ast.AST | None,
) -> None:  # fmt: skip
    """One element after the other."""
    if len(before) == len(shape):
        put(t, node, target, before, rows.element_of(t, node, value, before), written)
        return
    length = shape[len(before)]
    if length.is_const and (length.const <= COPIED_ROW or rows.has_tuple(value)):  # type: ignore[operator]
        for place in range(length.const):  # type: ignore[arg-type]
            _store_each(t, node, target, value, shape, (*before, Scalar(weak_int, const=place)), written)
        return
    bounds = [Scalar(weak_int, const=0), length, Scalar(weak_int, const=1)]
    loop = scf.ForOp(*map(materialise, bounds))
    with ir.InsertionPoint(loop.body):
        index = Scalar(weak_int, loop.induction_variable)
        _store_each(t, node, target, value, shape, (*before, index), written)
        scf.YieldOp([])


def _is_moved(target: Array | View, value: Value, rank: int) -> bool:
    """Whether elements of the array that is written are read at other places than they are written: all of them are to
    be read first."""
    if isinstance(value, View) and memory_of(target).ssa in rows.arrays_of(value):
        return not (isinstance(target, View) and _is_same(target, value))
    if isinstance(value, Row) and not value.is_elementwise:  # a product, or a reduction: of all elements
        return memory_of(target).ssa in rows.arrays_of(value)
    if isinstance(value, Row):
        return any(_is_moved(target, operand, rank) for operand in value.operands)
    if isinstance(value, Array) and value.ssa == memory_of(target).ssa:
        return isinstance(target, View) or len(value.shape) < rank
    return False


def _is_same(a: View, b: View) -> bool:
    """Whether two views were written alike, of the same numbers."""
    return a.text == b.text and len(a.operands) == len(b.operands) and all(map(same, a.operands, b.operands))


def items(t: Elements, node: ast.expr, row: Value, count: int) -> TupleValue:
    """``a, b, c = x[i]``: the elements. Raises `KernelTypeError` for a row that is known to have more or fewer."""
    rows.joined(t, node, rows.lengths(t, row)[:1], [Scalar(weak_int, const=count)])
    if isinstance(row, TupleValue):
        return row
    assert rows.is_row(row)
    return TupleValue(tuple(t.item(node, row, Scalar(weak_int, const=k)) for k in range(count)))
