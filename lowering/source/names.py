"""Names in printed source: those of the user's variables where there are any, and none twice.

Comes in: the Python functions of a kernel, the spans of its ops. Goes out: `UserNames`, what the user called the value
of an expression; `Names`, which tells names of one function apart.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from mlir import ir

from pykern.data.locations import SourceSpan, parse_definition
from pykern.data.source import FunctionSource, reached
from pykern.dialect.diagnostics import span_of

_Place = tuple[str, int, int, int]


class UserNames:
    """What the user called the value of an expression, by the place of the expression. Without a function nothing has
    a name."""

    def __init__(self, function: FunctionSource | None = None) -> None:
        self._names: dict[_Place, list[str]] = {}
        self._loops: dict[_Place, str] = {}
        for each in () if function is None else reached(function):
            if each.text:
                self._read(each)

    def of(self, location: ir.Location, number: int = 0) -> str | None:
        """The name that the value of this place was assigned to; `number` counts where it is a tuple."""
        names = self._names.get(_place(span_of(location)), [])
        found = names[number] if number < len(names) else names[0] if len(names) == 1 else None
        return found if found and found.strip("_") else None

    def of_loop(self, location: ir.Location) -> str | None:
        """The name of the variable of the loop that stands here."""
        return self._loops.get(_place(span_of(location)))

    def _read(self, function: FunctionSource) -> None:
        def place(node: ast.AST) -> _Place:
            line, column = node.lineno + function.first_line - 1, node.col_offset  # type: ignore[attr-defined]
            ends_there = node.end_lineno == node.lineno  # type: ignore[attr-defined]
            end = node.end_col_offset if ends_there else column + 1  # type: ignore[attr-defined]
            return function.file, line, column, max(end, column + 1)

        for node in ast.walk(parse_definition(function.text)):
            for value, names in _assigned(node):
                self._names.setdefault(place(value), names)
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id.strip("_"):
                self._loops[place(node)] = node.target.id


def _assigned(node: ast.AST) -> Iterator[tuple[ast.AST, list[str]]]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        yield from _targets(node.targets[0], node.value)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and isinstance(
        node.target, ast.Name
    ):
        yield node, [node.target.id]
        if node.value is not None and not isinstance(node, ast.AugAssign):
            yield node.value, [node.target.id]


def _targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.AST, list[str]]]:
    if isinstance(target, ast.Name):
        yield value, [target.id]
    elif isinstance(target, ast.Tuple):
        yield value, [each.id if isinstance(each, ast.Name) else "" for each in target.elts]
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            for one, other in zip(target.elts, value.elts, strict=True):
                yield from _targets(one, other)


def _place(span: SourceSpan | None) -> _Place:
    return ("", 0, 0, 0) if span is None else (span.file, span.line, span.column, span.end_column)


class Names:
    """Names of one function, each given once."""

    def __init__(self, reserved: frozenset[str]) -> None:
        self._taken = set(reserved)

    def fresh(self, wanted: str) -> str:
        """`wanted`, or that with the first number that is free."""
        base = re.sub(r"\W", "_", wanted, flags=re.ASCII).strip("_") or "v"
        if base[0].isdigit():
            base = f"v{base}"
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def release(self, name: str) -> None:
        """Let a name be given again: what had it is seen no more."""
        self._taken.discard(name)
