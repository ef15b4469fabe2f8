"""Flat arrays as the rows and columns that a kernel takes them for: `a[i * n + j]` is `a[i, j]` of rows of length n.

Comes in: a program whose lengths are numbers. Goes out: the same, with a subscript for each dimension, and the shapes
of the arrays that were split. Read next: `raise_to_linalg`, which gives the tensors these shapes.

Why: products of matrices, convolutions and stencils are found by which loops go along which dimension of an array.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from pykern.passes.raise_to_linalg.forms import Form
from pykern.passes.raise_to_linalg.independence import ArrayAccess, accesses, bounds_where, spread
from pykern.passes.raise_to_linalg.program import Bind, Program

Subscripts = list[tuple[Form, ...]]
"""Of each access of an array."""


def split_flat_arrays(program: Program) -> dict[int, tuple[int, ...]]:
    """Give each flat array that is read and written as rows a subscript for each dimension; their shapes."""
    shapes = {}
    touched = accesses(program.body)
    for number, array in program.arrays.items():
        kind = ir.MemRefType(array.type)
        mine = [access for access in touched if access.array == number]
        if kind.rank != 1 or not kind.has_static_shape or not mine:
            continue
        shape, subscripts = _split(mine, (kind.shape[0],), [access.subscripts for access in mine])
        if len(shape) == 1:
            continue
        shapes[number] = shape
        for access, found in zip(mine, subscripts, strict=True):
            statement = access.statement
            (statement.load if isinstance(statement, Bind) else statement).subscripts = found
    return shapes


def _split(
    touched: list[ArrayAccess], shape: tuple[int, ...], subscripts: Subscripts
) -> tuple[tuple[int, ...], Subscripts]:
    """The last dimension in two, and again, as long as all accesses allow it."""
    length = shape[-1]
    for columns in _columns([found[-1] for found in subscripts], length):
        split = [_rows(found[-1], access, columns) for found, access in zip(subscripts, touched, strict=True)]
        parts = [pair for pair in split if pair is not None]
        if len(parts) == len(split) and any(column.dims for _, column in parts):
            made = [(*found[:-1], *pair) for found, pair in zip(subscripts, parts, strict=True)]
            return _split(touched, (*shape[:-1], length // columns, columns), made)
    return shape, subscripts


def _columns(forms: list[Form], length: int) -> Iterator[int]:
    """Lengths that rows may have, the greatest first."""
    steps = {abs(form.factor(dim)) for form in forms for dim in form.dims}
    return iter(sorted((n for n in steps if 1 < n < length and length % n == 0), reverse=True))


def _rows(form: Form, access: ArrayAccess, columns: int) -> tuple[Form, Form] | None:
    """The row and the column of an element; None where the column may lie outside of the row."""
    row = Form(tuple((term, k // columns) for term, k in form.terms if k % columns == 0))
    column = Form(tuple((term, k) for term, k in form.terms if k % columns))
    ends = None if column.symbols else spread(column.terms, lambda dim: bounds_where(dim, access.mask))
    if ends is None:
        return None
    first = (ends[0] + form.constant) // columns
    rest = form.constant - first * columns
    return (row + first, column + rest) if ends[1] + rest < columns else None
