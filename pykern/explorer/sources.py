"""The Python that is shown: a kernel or program, what it calls, what it launches.

Comes in: a `KernelSource` or `ProgramSource`. Goes out: `SourceText`s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pykern.data.program_source import ProgramSource
from pykern.data.source import Derivative, KernelSource, reached


@dataclass(frozen=True)
class SourceText:
    """The text of a kernel, or of a function it calls: `lines` start at line `first` of `file`."""

    name: str
    file: str
    first: int
    lines: tuple[str, ...]


def texts(source: KernelSource | ProgramSource) -> tuple[SourceText, ...]:
    """The kernel first, then what it calls, each once."""
    found = dict.fromkeys(reversed(reached(source.function)))
    return tuple(SourceText(f.name, f.file, f.first_line, tuple(f.text.splitlines())) for f in found)


_CALLED = {
    "reverse": "gradient", "forward": "forward derivative", "gradient": "gradient", "vjp": "vector-Jacobian product",
    "residuals": "forward pass", "pullback": "backward pass", "jvp": "Jacobian-vector product",
}  # fmt: skip


def title(source: KernelSource | ProgramSource) -> str:
    """What is compiled, in words: ``heat``, ``gradient of heat``."""
    if isinstance(source, ProgramSource) and source.kernel is not None:
        return title(source.kernel.source)
    name = source.function.name
    for taken in source.derivatives:
        name = f"{_CALLED[taken.mode if isinstance(taken, Derivative) else taken.kind]} of {name}"
    return name


def signature(source: KernelSource | ProgramSource) -> str:
    """The parameters with what is passed for them: ``x: f32[?, 4], n: i64``."""
    return ", ".join(f"{p.name}: {_described(p.spec)}" for p in source.parameters)


def _described(spec: Any) -> str:
    dtype = getattr(spec, "dtype", None)
    if dtype is None:
        return str(getattr(spec, "value", spec))
    shape = getattr(spec, "shape", None)
    return dtype if shape is None else f"{dtype}[{', '.join('?' if n is None else str(n) for n in shape)}]"
