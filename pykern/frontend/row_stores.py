"""Rows kept in memory: ``x[i] = a[i] + b[i]``, ``x[i] += dt * v[i]``, ``acc[:] = 0``, ``x[i] = (a, b)``.

Comes in: a row of an array, or private memory, and a value: a row, a tuple of numbers, a number for all elements. Goes
out: a store for each element, in their order, in loops where the length is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import scf

from pykern.frontend import rows
from pykern.frontend.advice import scalar_from
from pykern.frontend.casts import materialise
from pykern.frontend.rows import Row
from pykern.frontend.values import Array, Scalar, TupleValue, Value, describe
from pykern.passes.analysis.cost_model.lengths import COPIED_ROW
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.elements import Elements


def store(t: Elements, node: ast.expr, target: Array, value: Value, written: ast.AST | None = None) -> None:
    """All elements of `target`. Raises `KernelTypeError` for what has another shape, or is no number."""
    if target.space != "private" and not target.outer:
        raise t.type_error(node, f"each work-item would write all of {describe(target)}", scalar_from(target))
    if not (isinstance(value, Scalar) or rows.are_operands([target, value])):
        t.as_scalar(written or node, value)  # says what it is instead
    given = rows.lengths(t, value)
    if len(given) > len(target.shape):
        raise t.type_error(written or node, f"{describe(value)} has more dimensions than {describe(target)}",
                           "write a loop over the rows")  # fmt: skip
    if isinstance(value, Row):
        rows.check_fresh(t, written or node, value)
        _refuse_shifted(t, written or node, target, value)
    shape = rows.joined(t, written or node, rows.lengths(t, target), given)
    with t.array_writes.storing():
        _store(t, node, target, value, shape, written)
    t.note_array_write(target.ssa)


def _store(
    t: Elements, node: ast.expr, target: Array, value: Value, shape: list[Scalar], written: ast.AST | None
) -> None:
    length = shape[0]

    def one(index: Scalar) -> None:
        part = rows.part(t, node, value, len(shape), index)
        if len(shape) > 1:
            into = t.item(node, target, index)
            assert isinstance(into, Array)
            _store(t, node, into, part, shape[1:], written)
        else:
            t.store(node, target, [*target.outer, materialise(index)], part, written)

    if length.is_const and (length.const <= COPIED_ROW or rows.has_tuple(value)):  # type: ignore[operator]
        for place in range(length.const):  # type: ignore[arg-type]
            one(Scalar(weak_int, const=place))
        return
    bounds = [
        materialise(Scalar(weak_int, const=0)),
        materialise(length),
        materialise(Scalar(weak_int, const=1)),
    ]
    loop = scf.ForOp(*bounds)
    with ir.InsertionPoint(loop.body):
        one(Scalar(weak_int, loop.induction_variable))
        scf.YieldOp([])


def _refuse_shifted(t: Elements, node: ast.AST, target: Array, row: Row) -> None:
    """A row of the target that is taken for each of its rows would be written while it is still read."""
    for operand in row.operands:
        if isinstance(operand, Row):
            _refuse_shifted(t, node, target, operand)
        elif isinstance(operand, Array) and operand.ssa is target.ssa and len(operand.shape) < len(row.shape):
            raise t.type_error(node, f"`{operand.name}` is read for each row of `{target.name}`, and written with them",
                               "write a loop over the elements")  # fmt: skip


def items(t: Elements, node: ast.expr, row: Value, count: int) -> TupleValue:
    """``a, b, c = x[i]``: the elements. Raises `KernelTypeError` for a row that is known to have more or fewer."""
    rows.joined(t, node, rows.lengths(t, row)[:1], [Scalar(weak_int, const=count)])
    if isinstance(row, TupleValue):
        return row
    assert rows.is_row(row)
    return TupleValue(tuple(t.item(node, row, Scalar(weak_int, const=k)) for k in range(count)))
