"""Plain functions may be differentiated, too: they become programs. Comes in: what a user gave. Goes out: a program."""

from __future__ import annotations

from collections.abc import Callable

from pykern.api.jit import Program, jit
from pykern.errors import KernelTypeError


def as_program(f: Callable) -> Program:
    """A program, or the program of a plain function."""
    if isinstance(f, Program):
        return f
    if callable(f) and hasattr(f, "__code__"):
        return jit(f)
    raise KernelTypeError(
        f"an array program is differentiated, not {type(f).__name__}",
        hint="decorate the function with @pk.jit; a kernel's derivative is pk.autodiff(kernel)",
    )
