"""Errors raised at the user's own line: a last frame in the kernel, and none of ours below it.

Python, rich, pytest and pdb show and stop at the last frame of a traceback. So an error with a place
is raised again from code compiled under the user's file name, at the line and columns of the place.
"""

from __future__ import annotations

import ast
import types

from pykern.errors import KernelError


def at_kernel_line(error: KernelError) -> types.TracebackType | None:
    """A traceback of one frame, at the error's place; None where it has none."""
    span = error.span
    if span is None or span.line <= 0:
        return None
    tree = ast.parse("raise error")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = span.line
            node.col_offset, node.end_col_offset = span.column, max(span.end_column, span.column + 1)
    code = compile(tree, span.file, "exec").replace(co_name=span.function or "<kernel>")
    error.__traceback__ = None  # the frames of the compiler say nothing to the user
    try:
        exec(code, {"error": error})
    except KernelError as raised:
        traceback = raised.__traceback__
        return traceback.tb_next if traceback is not None else None
    return None
