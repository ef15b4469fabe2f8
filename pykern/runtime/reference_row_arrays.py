"""Rows that NumPy's functions make on the reference device: ``np.array([a, b, c])``, ``np.stack``, ``np.concatenate``.

Comes in: a list of numbers or of rows. Goes out: a `ComputedRow`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pykern.errors import KernelTypeError
from pykern.runtime import reference
from pykern.runtime.reference_rows import ComputedRow, copied, is_row, transposed
from pykern.types import from_numpy


def stacked(listed: Any, axis: int = 0) -> Any:
    """``np.stack([x[i], y[i]])``, of rows of one dimension also along axis 1."""
    found = of_numbers(listed)
    return transposed(found) if axis else found


def of_numbers(numbers: Any, dtype: Any = None) -> ComputedRow:
    """``np.array([a, b, c])``, ``np.array([[a, b], [c, d]])``, ``np.array([x[i], y[i]])``: numbers in one type."""
    values = np.array(_leaves(numbers))
    kind = from_numpy(values.dtype if dtype is None else np.dtype(getattr(dtype, "numpy", dtype)))
    assert kind is not None

    def made(part: Any) -> Any:
        if not (isinstance(part, list | tuple) or is_row(part)):
            return reference.cast(part, kind)
        items = [made(item) for item in part]
        inner = items[0].shape if isinstance(items[0], ComputedRow) else ()
        return ComputedRow(items, (len(items), *inner), kind)

    return made(numbers)


def _leaves(value: Any) -> list[Any]:
    """The numbers, one after the other."""
    if isinstance(value, list | tuple) or is_row(value):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def concatenate(parts: Any) -> ComputedRow:
    """Rows of one dimension, one after the other."""
    return of_numbers([value for part in parts for value in part])


def diagonal(row: Any) -> ComputedRow:
    """The matrix with a row on its diagonal, or the diagonal of a matrix."""
    if row.ndim == 2:
        if len({*row.shape}) > 1:
            raise KernelTypeError(f"rows of {row.shape[0]} and of {row.shape[1]} elements do not go together",
                                  hint="give both the same length")  # fmt: skip
        return ComputedRow([row[k, k] for k in range(len(row))], (len(row),), row.dtype.loaded)
    values, nil = copied(row), row.dtype.loaded.numpy.type(0)
    lines = [[values[i] if i == k else nil for k in range(len(row))] for i in range(len(row))]
    return of_numbers(lines)


def ordered(row: Any) -> ComputedRow:
    """The elements in order, NaN last."""
    values = np.sort(np.array(list(row)))
    return ComputedRow(list(values), (len(values),), row.dtype.loaded)


def median(row: Any) -> Any:
    """The middle element, or the mean of the two in the middle; NaN where one is."""
    kind = row.dtype.loaded.numpy.type if row.dtype.is_float else np.float64
    values = list(ordered(row))
    a, b = kind(values[(len(values) - 1) // 2]), kind(values[len(values) // 2])
    return kind(values[-1]) if values[-1] != values[-1] else (a + b) * kind(0.5)
