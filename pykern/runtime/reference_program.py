"""Whether what runs now was called by an array program on the reference device.

Comes in: that a program begins and ends (`pykern.program.reference`). Goes out: answers for the programs and the
launches inside of it.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

_inside: contextvars.ContextVar[bool | None] = contextvars.ContextVar("pykern_program", default=None)
"""None outside of programs; inside, whether the program checks."""


@contextlib.contextmanager
def inside_program(checks: bool) -> Iterator[None]:
    """The block is the run of a program; `checks` is its ``debug=``."""
    token = _inside.set(checks)
    try:
        yield
    finally:
        _inside.reset(token)


def is_inside() -> bool:
    """Whether a program is running on this device: one that is called then is a helper."""
    return _inside.get() is not None


def checks() -> bool:
    """Whether a program with ``debug=True`` is running on this device: it checks what it launches, too."""
    return bool(_inside.get())
