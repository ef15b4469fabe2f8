"""Reductions of a row on the reference device, in the order and the types of compiled kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from pykern.data.promotion import sum_type
from pykern.errors import KernelTypeError
from pykern.runtime import reference
from pykern.types import f64


def reduced(name: str, row: Any, others: tuple[Any, ...] = ()) -> Any:
    """The reduction `name` of all elements of an array of one dimension; `others` are further arguments, all None."""
    if any(value is not None for value in others):
        raise KernelTypeError(f"`{name}` of a row takes nothing else in kernels", hint=f"write x[i].{name}()")
    if row.ndim != 1:
        raise KernelTypeError(
            f"`{name}` goes over one dimension, and this is {row!r}",
            hint=f"take a row, as in x[i].{name}(), and write a loop over the rows",
        )
    if name in ("max", "min"):
        found = row[0]
        for k in range(1, len(row)):
            found = reference.extremum((found, row[k]), f"{name}imum")
        return found
    if name in ("argmax", "argmin"):
        return _place(row, name == "argmax")
    if name in ("any", "all"):
        known = [bool(value != 0) for value in row]
        return np.bool_(any(known) if name == "any" else all(known))
    return _total(name, row)


def _place(row: Any, is_greatest: bool) -> int:
    best, place = row[0], 0
    for k in range(1, len(row)):
        value = row[k]
        is_better = value > best if is_greatest else value < best
        if is_better or (value != value and best == best):
            best, place = value, k
    return place


def _total(name: str, row: Any) -> Any:
    held = row.dtype.loaded
    kind = sum_type(held).numpy.type
    total = kind(name == "prod")
    for value in row:
        total = total * kind(value) if name == "prod" else total + kind(value)
    if name == "mean":
        total = total / kind(len(row)) if held.is_float else f64.numpy.type(total) / len(row)
    return held.numpy.type(total) if held.is_float else total
