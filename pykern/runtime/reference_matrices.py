"""Small matrices on the reference device: outer products, traces, determinants, inverses.

Comes in: rows of one or two dimensions. Goes out: a number, or a `ComputedRow`. The formulas are those of
`pykern.frontend.row_products`.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from pykern.errors import KernelTypeError
from pykern.runtime.reference_row_arrays import of_numbers
from pykern.runtime.reference_rows import ComputedRow, each, product, rows_of


def cross(left: Any, right: Any) -> Any:
    """``np.cross(left, right)`` of rows of three elements; of two, the number."""
    if len(left) == len(right) == 2:
        (a, b), (c, d) = left, right
        with np.errstate(all="ignore"):
            return a * d - b * c
    (a, b, c), (d, e, f) = left, right
    with np.errstate(all="ignore"):
        return of_numbers([b * f - c * e, c * d - a * f, a * e - b * d])


def outer(left: Any, right: Any) -> ComputedRow:
    """``np.outer`` of two rows."""
    with np.errstate(all="ignore"):
        return rows_of([each(lambda b, a=a: a * b, (right,)) for a in left], left, right)


def trace(matrix: Any) -> Any:
    """The sum of the diagonal."""
    if len({*matrix.shape}) > 1:
        raise KernelTypeError(f"rows of {matrix.shape[0]} and of {matrix.shape[1]} elements do not go together",
                              hint="give both the same length")  # fmt: skip
    return rows_of([matrix[k, k] for k in range(len(matrix))], matrix).sum()


def determinant(matrix: Any) -> Any:
    """Of matrices up to 4 x 4."""
    m = _floats(matrix)
    with np.errstate(all="ignore"):
        return _determinant(m)


def inverse(matrix: Any) -> ComputedRow:
    """Of matrices up to 4 x 4: the adjugate over the determinant."""
    m = _floats(matrix)
    with np.errstate(all="ignore"):
        scale = type(m[0][0])(1) / _determinant(m)
        found = [[_cofactor(m, k, i) * scale for k in range(len(m))] for i in range(len(m))]
    return rows_of([of_numbers(line) for line in found], of_numbers(found[0]))


def solution(matrix: Any, right: Any) -> Any:
    """Of matrices up to 4 x 4: the inverse times the right-hand side."""
    return product(inverse(matrix), right)


def _floats(matrix: Any) -> list[list[Any]]:
    kind = matrix.dtype.loaded.numpy.type if matrix.dtype.is_float else np.float64
    return [[kind(value) for value in line] for line in matrix]


def _determinant(m: list[list[Any]]) -> Any:
    if len(m) == 1:
        return m[0][0]
    if len(m) == 2:
        return m[0][0] * m[1][1] - m[0][1] * m[1][0]
    return functools.reduce(operator.add, (m[0][k] * _cofactor(m, 0, k) for k in range(len(m))))


def _cofactor(m: list[list[Any]], i: int, k: int) -> Any:
    if len(m) == 1:
        return type(m[0][0])(1)
    if len(m) != 3:
        found = _determinant([line[:k] + line[k + 1 :] for line in m[:i] + m[i + 1 :]])
        return -found if (i + k) % 2 else found
    (a, b), (c, d) = (((i + 1) % 3, (i + 2) % 3), ((k + 1) % 3, (k + 2) % 3))
    return m[a][c] * m[b][d] - m[a][d] * m[b][c]
