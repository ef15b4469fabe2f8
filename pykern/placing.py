"""Every error of a launch gets a place in the kernel: the parameter it is about, else the `def`."""

from __future__ import annotations

import ast
import dataclasses
import re
import textwrap

from pykern.capture import FunctionText
from pykern.errors import KernelError
from pykern.locations import SourceSpan


def place(error: KernelError, text: FunctionText) -> None:
    """Give `error` a span where it has none, and the kernel's name where its span has none."""
    if error.span is None:
        mentioned = re.match(r"`(\w+)", error.reason)
        error.span = definition_span(text, mentioned.group(1) if mentioned else "")
    elif not error.span.function:
        error.span = dataclasses.replace(error.span, function=text.name)


def definition_span(text: FunctionText, parameter: str = "") -> SourceSpan:
    """Where a parameter stands in the kernel's signature; its ``def`` where there is no such parameter."""
    lines = text.text.splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    node = ast.parse(textwrap.dedent(text.text)).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.arg == parameter:
            line, start = argument.lineno, argument.col_offset + indent
            end = (argument.end_col_offset or 0) + indent
            break
    else:
        line, start, end = node.lineno, indent, len(lines[node.lineno - 1])
    return SourceSpan(text.file, text.first_line + line - 1, start, end, text.name, lines[line - 1])
