"""Which type `a + b` has, for every pair, from the function that decides it."""

from __future__ import annotations

from extensions.markdown import table
from pykern.data.promotion import promote
from pykern.types import STRONG, weak_float, weak_int


def page() -> str:
    kinds = (*STRONG, weak_int, weak_float)
    rows = [[f"**{_name(a)}**", *(_name(promote(a, b)) for b in kinds)] for a in kinds]
    return table(["", *map(_name, kinds)], rows)


def _name(dtype) -> str:
    return f"{dtype.name}*" if dtype.weak else dtype.name
