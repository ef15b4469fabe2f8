"""What is missing in a command to know a call, told with options that fit the kernel's code.

Comes in: a kernel or a program, and the options given. Goes out: a `UsageError` that names ``--args`` and
``--ndrange`` as they would be for this kernel; nothing where the call is known.
"""

from __future__ import annotations

import argparse
import ast
from typing import Any

from pykern.api.user_file import UsageError
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
    told += [f'--ndrange "{",".join([length] * _rank(code))}"'] * wants_space
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
    rank = max((_indices(node, name) for node in ast.walk(code)), default=0)
    if not rank and hasattr(type(kernel), "__pykern_program__"):
        rank = 1
    return f"f32[{','.join([length] * rank)}]" if rank else "float"


def _indices(node: ast.AST, name: str) -> int:
    """How many indices `name` has at this node; 1 where an array is passed on or asked for its shape."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
        return len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
        return 1
    return 0


def _rank(code: ast.AST) -> int:
    """The dimensions of the index space: as many names as ``pk.index()`` is unpacked to."""
    for node in ast.walk(code):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target, called = node.targets[0], ast.unparse(node.value.func)
            if isinstance(target, ast.Tuple) and called.rpartition(".")[2] == "index":
                return len(target.elts)
    return 1
