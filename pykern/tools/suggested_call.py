"""What is missing in a command to know a call, told with options that fit the kernel's code.

Comes in: a kernel or a program, and the options given. Goes out: a `UsageError` that names ``--args`` and
``--ndrange`` as they would be for this kernel; nothing where the call is known.
"""

from __future__ import annotations

import argparse
import ast
from typing import Any

from pykern.api.user_file import UsageError
from pykern.capture.usage import array_rank, index_rank
from pykern.data.locations import parse_definition
from pykern.types import ArrayAnnotation, IntentAnnotation, static


def refuse_incomplete(kernel: Any, chosen: argparse.Namespace, length: str = "?") -> None:
    """Raise where the types of arguments, or the index space, are neither given nor annotated."""
    names = list(kernel.signature.parameters)
    is_program = hasattr(type(kernel), "__pykern_program__")
    length = "64" if is_program else length  # programs are compiled for shapes
    wants_types = not chosen.args and any(kernel.annotations.get(name, static) is static for name in names)
    wants_space = not chosen.ndrange and not is_program
    if not wants_types and not wants_space:
        return
    missing = ["the types of its arguments"] * wants_types + ["its index space"] * wants_space
    code = parse_definition(kernel.text.text)
    told = [f'--args "{" ".join(_argument(kernel, name, code, length) for name in names)}"'] * wants_types
    told += [f'--ndrange "{",".join([length] * index_rank(code))}"'] * wants_space
    raise UsageError(
        f"`{kernel.__name__}({', '.join(names)})` is compiled for a call: say {' and '.join(missing)}",
        hint=f"as in {' '.join(told)}",
    )


def _argument(kernel: Any, name: str, code: ast.AST, length: str) -> str:
    """The type of a parameter: as annotated, else as the code uses it."""
    annotation = kernel.annotations.get(name)
    inner = annotation.of if isinstance(annotation, IntentAnnotation) else annotation
    if inner is static:
        return "3"
    if isinstance(inner, ArrayAnnotation):
        return f"{inner.dtype.name}[{','.join(length if n is None else str(n) for n in inner.shape)}]"
    if inner is not None:
        return getattr(inner, "name", None) or getattr(inner, "__name__", str(inner))
    rank = array_rank(code, name)
    if not rank and hasattr(type(kernel), "__pykern_program__"):
        rank = 1
    return f"f32[{','.join([length] * rank)}]" if rank else "float"
