"""Indices and slices of rows on the reference device: what is given for each dimension, and whether it lies inside."""

from __future__ import annotations

import operator
from typing import Any

from pykern.errors import OutOfBounds


def place_in(index: Any, length: int) -> int:
    """An index. Raises `OutOfBounds` for one outside."""
    place = operator.index(index)
    if not -length <= place < length:
        raise OutOfBounds(f"index {place} is outside of a computed row of {length}",
                          hint="guard the access, or launch with a smaller ndrange")  # fmt: skip
    return place


def whole_index(index: Any, rank: int) -> tuple[Any, ...]:
    """An index for each dimension: ``...`` and what is left out stand for whole ones."""
    items = list(index) if isinstance(index, tuple) else [index]
    at = next((n for n, part in enumerate(items) if part is Ellipsis), None)
    if at is None:
        return tuple(items + [slice(None)] * (rank - len(items)))
    more = [slice(None)] * (rank - len(items) + 1)
    return tuple(items[:at] + more + items[at + 1 :])


def inside(part: slice, length: int) -> slice:
    """A slice of a dimension, the same. Raises `OutOfBounds` where it does not lie inside."""
    bounds = [bound for bound in (part.start, part.stop) if bound is not None]
    if any(not -length <= operator.index(bound) <= length for bound in bounds):
        raise OutOfBounds(f"the slice {_shown(part)} is outside of a dimension of {length}",
                          hint="a slice lies inside of its array: nothing is cut off")  # fmt: skip
    return part


def _shown(part: slice) -> str:
    first, last = ("" if bound is None else str(bound) for bound in (part.start, part.stop))
    return f"{first}:{last}"
