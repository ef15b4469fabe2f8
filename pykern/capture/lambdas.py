"""The text of a lambda: its lines, with blanks for what stands around it.

Comes in: the function object of a lambda. Goes out: the first line and the text, which `parse_definition` reads as a
function that returns the lambda's expression. Python keeps where an instruction stands from 3.11 on; before, only the
line is known. So several lambdas on one line cannot be told apart in Python 3.10.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator
from typing import TypeGuard

from pykern.data.scopes import parameters
from pykern.errors import KernelSyntaxError

Place = tuple[int, int]
"""A line from 1, and a byte in it from 0."""


def lambda_text(function: types.FunctionType) -> tuple[int, str]:
    """First line in its file, and the text. Raises `KernelSyntaxError` where it cannot be told which lambda it is,
    `OSError` where Python has no source."""
    code = function.__code__
    lines, _ = inspect.findsource(function)
    found = [node for node in ast.walk(_parsed(lines)) if _may_be(node, code)]
    found = [node for node in found if not any(_is_inside(other, node) for other in found)]
    if len(found) != 1:
        raise KernelSyntaxError(
            "Python does not tell which of the lambdas on this line is compiled"
            if found
            else "the source of a lambda is not available, or has changed since it was defined",
            hint="write it as a `def` function",
        )
    node = found[0]
    end = node.end_lineno or node.lineno
    text = _blanked(lines[node.lineno - 1 : end], node.col_offset, node.end_col_offset or 0)
    return node.lineno, text


def _parsed(lines: list[str]) -> ast.AST:
    try:
        return ast.parse("".join(lines))
    except SyntaxError:  # the file was changed after it was imported
        return ast.Module([], [])


def _may_be(node: ast.AST, code: types.CodeType) -> TypeGuard[ast.Lambda]:
    """Whether it begins on the line of `code`, has the same parameters, and holds all its instructions."""
    if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
        return False
    if tuple(parameters(node.args)) != code.co_varnames[: len(parameters(node.args))]:
        return False
    start, end = _extent(node.body)
    return all(start <= a and b <= end for a, b in _places(code))


def _places(code: types.CodeType) -> Iterator[tuple[Place, Place]]:
    """Where instructions begin and end, without those that begin a function and stand nowhere."""
    for line, end_line, column, end_column in getattr(code, "co_positions", tuple)():
        if line and end_line and end_column:
            yield (line, column or 0), (end_line, end_column)


def _extent(node: ast.expr) -> tuple[Place, Place]:
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)


def _is_inside(node: ast.Lambda, outer: ast.Lambda) -> bool:
    (start, end), (a, b) = _extent(outer.body), _extent(node)
    return start <= a and b <= end


def _blanked(lines: list[str], start: int, end: int) -> str:
    """The lines, from byte `start` of the first to byte `end` of the last; each character keeps its column."""
    kept = [line.encode() for line in lines]
    kept[-1] = kept[-1][:end]
    kept[0] = b" " * start + kept[0][start:]
    return b"".join(kept).decode()
