"""A compile before the first one is asked for: what passes prepare once a process is ready then.

Comes in: `compile_source`, in a process that has nothing else to do. Goes out: nothing. The patterns of all dialects,
LLVM's tables, pages of both libraries: two thirds of what a first program takes, half of a first kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, FunctionSource, Parameter
from pykern.errors import KernelError

TEXT = "def warm_up(a, b):\n    return (a @ b).sum(axis=1)\n"


def warm_up(compile: Callable[..., Any]) -> None:
    """Compile a small program. What fails fails again for the user's own, and is told there."""
    array = ArraySpec(dtype="f32", shape=(64, 64))
    function = FunctionSource(name="warm_up", file=__file__, first_line=1, text=TEXT)
    parameters = tuple(Parameter(name=name, spec=array) for name in ("a", "b"))
    try:
        compile(ProgramSource(function=function, parameters=parameters))
    except KernelError:
        return
