"""The Python that is shown: a kernel or program, what it calls, what it launches.

Comes in: a `KernelSource` or `ProgramSource`. Goes out: `SourceText`s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pykern.program_source import ProgramSource
from pykern.source import CapturedCustom, CapturedKernel, FunctionSource, KernelSource


@dataclass(frozen=True)
class SourceText:
    """The text of a kernel, or of a function it calls: `lines` start at line `first` of `file`."""

    name: str
    file: str
    first: int
    lines: tuple[str, ...]


def texts(source: KernelSource | ProgramSource) -> tuple[SourceText, ...]:
    """The kernel first, then what it calls, each once."""
    found = dict.fromkeys(_with_callees(source.function))
    return tuple(SourceText(f.name, f.file, f.first_line, tuple(f.text.splitlines())) for f in found)


def signature(source: KernelSource | ProgramSource) -> str:
    """The parameters with what is passed for them: ``x: f32[?, 4], n: i64``."""
    return ", ".join(f"{p.name}: {_described(p.spec)}" for p in source.parameters)


def _described(spec: Any) -> str:
    dtype = getattr(spec, "dtype", None)
    if dtype is None:
        return str(getattr(spec, "value", spec))
    shape = getattr(spec, "shape", None)
    return dtype if shape is None else f"{dtype}[{', '.join('?' if n is None else str(n) for n in shape)}]"


def _with_callees(function: FunctionSource) -> Iterator[FunctionSource]:
    yield function
    for _, captured in function.captures:
        match captured:
            case FunctionSource():
                yield from _with_callees(captured)
            case CapturedKernel() | CapturedCustom():
                yield from _with_callees(captured.function)
