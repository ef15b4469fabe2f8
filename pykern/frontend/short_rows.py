"""Short computed rows are updated in place: ``d = x[j] - total``, then ``d[0] = 1`` or ``d += y[i]``.

Comes in: a name, the row that it means, and what is stored. Goes out: the name means another row of values. That is
what NumPy's update in place gives as long as no other name means the same row, which is refused.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from pykern.frontend import arithmetic, rows, slices
from pykern.frontend.advice import SAY_HOW_LONG
from pykern.frontend.casts import convert
from pykern.frontend.row_merging import is_alone
from pykern.frontend.rows import Row, ShortRow
from pykern.frontend.values import Scalar, Value, describe
from pykern.types import bool_, weak_int

if TYPE_CHECKING:
    from pykern.frontend.elements import Elements


def update(t: Elements, node: ast.AugAssign, row: Row, value: Value) -> None:
    """``d += ...``: elements keep their type."""
    name = _alone(t, node.target, row)
    shape = rows.joined(t, node, list(row.shape), rows.lengths(t, value))
    if len(shape) > len(row.shape):
        raise t.type_error(node, f"{describe(value)} has more dimensions than {describe(row)}",
                           "write a loop over the rows")  # fmt: skip
    t.names[name] = rows.computed(
        t, node, [value], lambda one: convert(arithmetic.element(one[0], row.dtype), row.dtype)
    )


def put(t: Elements, target: ast.Subscript, row: Row, value: Value, written: ast.AST) -> None:
    """``d[0] = ...``, ``d[1:] = ...``."""
    name = _alone(t, target.value, row)
    if not isinstance(row, ShortRow):
        raise t.type_error(target, f"{describe(row)} is not kept in memory, and cannot be updated in place",
                           f"{SAY_HOW_LONG}, or keep it in d = np.zeros(3), with d[:] = ...")  # fmt: skip
    taken = slices.parts(t, target, row)
    shape = [part.length for part in taken if isinstance(part, slices.Taken)]
    given = rows.lengths(t, value)
    if not (isinstance(value, Scalar) or rows.are_operands([row, value])) or len(given) > len(shape):
        t.as_scalar(written, value)
    rows.joined(t, written, shape, given)
    starts = [part.start for part in taken if isinstance(part, slices.Taken)]
    if rows.known_count([*shape, *starts]) is None:
        raise t.type_error(target, "where the slice of a computed row begins and ends is known only when this runs",
                           "keep the row in d = np.zeros(3), with d[:] = ...")  # fmt: skip
    for part, length in zip(taken, row.shape, strict=True):
        if isinstance(part, Scalar):
            rows.check_index(t, row, part, length)
    numbers: list[Scalar] = []
    for place in itertools.product(*(range(length.const) for length in row.shape)):  # type: ignore[arg-type]
        old = rows.element_of(t, target, row, tuple(Scalar(weak_int, const=k) for k in place))
        numbers.append(_element(t, target, old, value, place, taken, row))
    known = [length.const for length in row.shape]
    made = rows.short_row(t, row.text, numbers, known)  # type: ignore[arg-type]
    t.names[name] = replace(made, origin=row.origin)


def _element(
    t: Elements, node: ast.AST, old: Scalar, value: Value, place: tuple[int, ...],
    taken: list[Scalar | slices.Taken], row: Row,
) -> Scalar:  # fmt: skip
    """What stands at a place afterwards."""
    condition, own = Scalar(bool_, const=True), []
    for k, part in zip(place, taken, strict=True):
        if isinstance(part, Scalar):
            with t.operands_of(node):
                condition = arithmetic.binary(
                    "&", condition, arithmetic.binary("==", part, Scalar(weak_int, const=k))
                )
            continue
        number, rest = divmod(k - part.start.const, part.step)  # type: ignore[operator]
        if rest or not 0 <= number < part.length.const:  # type: ignore[operator]
            return old
        own.append(Scalar(weak_int, const=number))
    if condition.is_const and not condition.const:
        return old
    with t.operands_of(node):
        found = rows.element_of(t, node, value, tuple(own))
        new = convert(arithmetic.element(found, row.dtype), row.dtype)
        return new if condition.is_const else rows.where(condition, new, old)


def _alone(t: Elements, target: ast.expr, row: Row) -> str:
    """The only name of the row."""
    hint = "make a row of your own: d = np.zeros(3), with d[:] = ..."
    if isinstance(row, rows.View) or not isinstance(target, ast.Name):
        raise t.type_error(
            target, f"{describe(row)} is a part of a computed row, and cannot be updated in place", hint
        )
    if (isinstance(row, ShortRow) and row.is_shared) or not is_alone(t, target.id, row):
        raise t.type_error(
            target, f"{describe(row)} may have another name, too, and cannot be updated in place", hint
        )
    return target.id
