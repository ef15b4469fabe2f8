"""Which indices of a kernel are negative constants, and so count from the end: the reference device asks.

Comes in: places where the frontend meets one. Goes out: ``(file, line, column, dimension)`` of the access. Whatever
way the constant comes there, through a name, a tuple, an argument of a function, is the frontend's knowledge.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Places = set[tuple[str, int, int, int]]
_KEPT: ContextVar[Places | None] = ContextVar("pykern_from_end", default=None)


@contextmanager
def collected() -> Iterator[Places]:
    """Keep what is noted inside."""
    kept: Places = set()
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


def note(file: str, access: ast.expr, dimension: int) -> None:
    """An access, ``x[i, -1]`` or a call of an atomic, counts from the end of a dimension."""
    kept = _KEPT.get()
    if kept is not None:
        kept.add((file, access.lineno, access.col_offset, dimension))
