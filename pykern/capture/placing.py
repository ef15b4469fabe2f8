"""Every error of a launch gets a place in the kernel: the parameter it is about, else the `def`."""

from __future__ import annotations

import ast
import dataclasses
import linecache
import re
from typing import TypeVar

from pykern.capture.function_text import FunctionText
from pykern.data.locations import SourceSpan, parse_definition
from pykern.data.synthetic_frame import for_user
from pykern.errors import CALLED_FROM, KernelError

E = TypeVar("E", bound=BaseException)


def place(error: KernelError, text: FunctionText) -> None:
    """Give `error` a span where it has none, and names of functions where its spans have none."""
    if error.span is None:
        mentioned = re.match(r"`(\w+)", error.reason)
        error.span = definition_span(text, mentioned.group(1) if mentioned else "")
    else:
        error.span = _named(error.span, text)
    error.extra_notes = tuple(
        (_called_from(note, span, text), span and _named(span, text)) for note, span in error.extra_notes
    )


def placed(error: E, text: FunctionText) -> E:
    """The error as the user of a kernel or program sees it: with a place, and a traceback that ends there."""
    if isinstance(error, KernelError):
        place(error, text)
    return for_user(error)


def _called_from(note: str, span: SourceSpan | None, text: FunctionText) -> str:
    if note == f"{CALLED_FROM}``" and span is not None:
        return f"{CALLED_FROM}`{_named(span, text).function}`"
    return note


def _named(span: SourceSpan, text: FunctionText) -> SourceSpan:
    """With the name of the function around it: a `@pk.func`, or else the kernel."""
    if span.function:
        return span
    length = len(text.text.splitlines())
    inside = span.file == text.file and 0 <= span.line - text.first_line < length
    name = text.name if inside else function_at(span.file, span.line) or text.name
    return dataclasses.replace(span, function=name)


def function_at(file: str, line: int) -> str:
    """The innermost function around a line of a file; "" where there is none."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= line <= (node.end_lineno or line)
    ]
    return max(around, key=lambda node: node.lineno).name if around else ""


def definition_span(text: FunctionText, parameter: str = "") -> SourceSpan:
    """Where a parameter stands in the kernel's signature; its ``def`` where there is no such parameter."""
    lines = text.text.splitlines()
    node = parse_definition(text.text)
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.arg == parameter:
            line, start, end = argument.lineno, argument.col_offset, argument.end_col_offset or 0
            break
    else:
        line, start, end = node.lineno, node.col_offset, len(lines[node.lineno - 1])
    return SourceSpan(text.file, text.first_line + line - 1, start, end, text.name, lines[line - 1])
