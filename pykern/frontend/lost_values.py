"""Lines of a kernel that compute a value and keep it nowhere: most likely a store or a `return` was forgotten.

Comes in: a kernel's source. Goes out: remarks at the lines, which a launch shows as warnings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pykern.data.artifact import Remark
from pykern.data.source import ArraySpec, KernelSource, reached
from pykern.frontend.parse import ParsedFunction, parse_function

_COMPUTED = (ast.BinOp, ast.BoolOp, ast.Compare, ast.Subscript, ast.UnaryOp)
"""Expressions that do nothing where they stand alone. A call may do something, a name alone may be for a reader."""


def lost_values(source: KernelSource) -> Iterator[Remark]:
    """What the kernel, and the functions that it calls, compute for nothing."""
    kernel = parse_function(source.function)
    yield from _overwritten(source, kernel)
    for function in reached(source.function):
        parsed = kernel if function is source.function else parse_function(function)
        for node in ast.walk(parsed.node):
            if isinstance(node, ast.Expr) and isinstance(node.value, _COMPUTED):
                yield _at(
                    parsed,
                    node,
                    f"`{ast.unparse(node)}` is computed, and kept nowhere: {_instead(node.value)}",
                )


def _overwritten(source: KernelSource, kernel: ParsedFunction) -> Iterator[Remark]:
    """Array parameters whose name gets another value, and is never read."""
    arrays = {p.name: p.spec for p in source.parameters if isinstance(p.spec, ArraySpec)}
    names = [node for node in ast.walk(kernel.node) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    for node in names:
        spec = arrays.get(node.id)
        if isinstance(node.ctx, ast.Store) and spec is not None and node.id not in read:
            element = f"{node.id}[{', '.join('ijklmnpq'[: len(spec.shape)])}]"
            yield _at(
                kernel,
                node,
                f"`{node.id}` names another value from here on, which nothing reads; the array stays as it is: "
                f"write {element} = ... to change an element",
            )


def _instead(value: ast.expr) -> str:
    if isinstance(value, ast.Compare) and len(value.ops) == 1 and isinstance(value.ops[0], ast.Eq):
        return f"write {ast.unparse(value.left)} = ... to store it"
    return "write y[i] = ... to store it, or `return` in a function"


def _at(function: ParsedFunction, node: ast.AST, text: str) -> Remark:
    span = function.span(node)
    return Remark(text, span.file, span.line)
