"""A launch of a kernel as a program whose results are fresh arrays: what JAX can call.

Comes in: a kernel, the parameters that are results with their shapes and dtypes, those that are copied because the
kernel writes them, and the index space. Goes out: the program's `FunctionSource`. It has a text, as programs have:
derivatives and the rest of the compiler take it like any other. Read next: `pykern.jax.code`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pykern.capture.functions import captured_kernel
from pykern.data.index_space import Extent
from pykern.data.source import Builtin, FunctionSource, TypeName

ZEROS, KERNEL = "pykern_zeros", "pykern_kernel"


@dataclass(frozen=True)
class Fresh:
    """A result that starts as zeros."""

    name: str
    shape: tuple[int, ...]
    dtype: str


def launch_function(
    kernel: Any,
    parameters: Sequence[str],
    fresh: Sequence[Fresh],
    copied: Sequence[str],
    results: Sequence[str],
    space: Sequence[Extent],
) -> FunctionSource:
    """The program: it takes `parameters`, and gives the parameters of the kernel that are `results`."""
    passed = ", ".join(kernel.signature.parameters)
    extents = ", ".join(_extent(e) for e in space)
    lines = [f"def {kernel.__name__}({', '.join(parameters)}):"]
    lines += [f"    {f.name} = {ZEROS}({f.shape!r}, pykern_{f.dtype})" for f in fresh]
    lines += [f"    {name} = {name}.copy()" for name in copied]
    lines += [f"    {KERNEL}({passed}, ndrange=({extents},))", f"    return {', '.join(results)}"]
    captures = (
        (KERNEL, captured_kernel(kernel, kernel.captured()[0])),
        (ZEROS, Builtin("zeros")),
        ("range", Builtin("range")),
        *((f"pykern_{dtype}", TypeName(dtype)) for dtype in dict.fromkeys(f.dtype for f in fresh)),
    )
    text = kernel.text
    return FunctionSource(kernel.__name__, text.file, text.first_line, "\n".join(lines) + "\n", captures)


def _extent(extent: Extent) -> str:
    if extent == Extent(0, 1, extent.count):
        return str(extent.count)
    return f"range({extent.start}, {extent.start + extent.count * extent.step}, {extent.step})"


def is_launch(function: FunctionSource) -> bool:
    """Whether it is such a program: its text is made for the lengths."""
    return any(path == KERNEL for path, _ in function.captures)
