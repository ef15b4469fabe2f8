"""What stands for itself in a kernel: a loop in copies, and printing."""

from __future__ import annotations

import builtins
from typing import Any

from pykern.language.builtin import builtin


@builtin
def unroll(items: Any) -> Any:
    """``for k in pk.unroll(range(4))``: one copy of the body for each value; `items` are known when compiling.

    A range or a tuple. Raises `KernelTypeError` for one that only the run knows.
    """
    return items


@builtin
def print(*values: Any, sep: str = " ", end: str = "\n") -> None:
    """Print from a kernel, one work-item at a time, in no order: numbers, tuples of them, constant texts."""
    builtins.print(*map(_shown, values), sep=sep, end=end)


def _shown(value: Any) -> str:
    """A value as compiled kernels print it: in a tuple, too, by `str`."""
    return f"({', '.join(map(_shown, value))})" if isinstance(value, tuple) else str(value)
