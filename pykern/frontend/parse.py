"""From `FunctionSource` to an AST whose positions are those of the user's file."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from pykern.data.locations import SourceSpan, parse_definition
from pykern.data.source import FunctionSource
from pykern.errors import KernelSyntaxError


@dataclass(frozen=True)
class ParsedFunction:
    """A function's AST with what is needed to show places in it."""

    source: FunctionSource
    node: ast.FunctionDef
    lines: tuple[str, ...]

    def span(self, node: ast.AST) -> SourceSpan:
        """Where `node` stands; a node over several lines is cut to its first."""
        line = getattr(node, "lineno", self.source.first_line)
        text = self.lines[line - self.source.first_line] if self._inside(line) else ""
        encoded = text.encode()
        start = len(encoded[: getattr(node, "col_offset", 0)].decode(errors="ignore"))
        one_line = getattr(node, "end_lineno", line) == line
        end = (
            len(encoded[: node.end_col_offset].decode(errors="ignore")) if one_line and encoded else len(text)
        )
        return SourceSpan(self.source.file, line, start, max(end, start + 1), self.source.name, text)

    def _inside(self, line: int) -> bool:
        return 0 <= line - self.source.first_line < len(self.lines)


def parse_function(source: FunctionSource) -> ParsedFunction:
    """Parse the text; raises `KernelSyntaxError` where it is not one plain function."""
    lines = tuple(source.text.splitlines())
    try:
        node = parse_definition(source.text)
    except SyntaxError as error:
        raise KernelSyntaxError(f"the source of `{source.name}` does not parse: {error.msg}") from None
    ast.increment_lineno(node, source.first_line - 1)
    if not isinstance(node, ast.FunctionDef):
        what = "an async function" if isinstance(node, ast.AsyncFunctionDef) else "not a function"
        raise KernelSyntaxError(
            f"`{source.name}` is {what}; kernels are plain `def` functions",
            hint="write `def`; a launch does not wait where the device can go on: k(...).wait() does",
        )
    return ParsedFunction(source, node, lines)
