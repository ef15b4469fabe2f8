"""Places in a user's source, and how a place is shown."""

from __future__ import annotations

import ast
import linecache

from pykern.data.records import record

LAMBDA = "lambda_"
"""What compiled code and messages call a function that has no name."""


@record
class SourceSpan:
    """A stretch of source: absolute `line` from 1, columns from 0, `end_column` exclusive.

    `text` is the source line itself, kept so that a place can be shown where the file is not
    readable (notebooks, `exec`, another process). `function` names the kernel or func.
    """

    file: str
    line: int
    column: int
    end_column: int
    function: str = ""
    text: str = ""

    def source_line(self) -> str:
        """The line of source, from what was kept or else from the file."""
        return self.text or linecache.getline(self.file, self.line).rstrip("\n")

    def render(self) -> list[str]:
        """Lines for a message: place, source line, caret under the columns."""
        where = f" in {self.function}" if self.function else ""
        shown = [f'  File "{self.file}", line {self.line}{where}']
        source = self.source_line()
        if not source.strip():
            return shown
        indent = len(source) - len(source.lstrip())
        start = max(self.column - indent, 0)
        width = max(1, min(self.end_column, len(source)) - self.column)
        return [*shown, f"    {source.strip()}", f"    {' ' * start}{'^' * width}"]


def parse_definition(text: str) -> ast.stmt:
    """The definition that `text` is, cut out of its file: lines from 1, columns those of the file.

    An indented one may have lines that are not, in a string. A lambda is read as a function that returns its
    expression. Raises `SyntaxError`, and `RecursionError` where an expression is nested more deeply than Python's own
    parser takes now.
    """
    if text.lstrip().startswith("lambda"):
        return _lambda_as_definition(text)
    if not text[:1].isspace():
        return ast.parse(text).body[0]
    outer = ast.parse(f"if True:\n{text}").body[0]
    assert isinstance(outer, ast.If)
    node = outer.body[0]
    ast.increment_lineno(node, -1)
    return node


def _lambda_as_definition(text: str) -> ast.FunctionDef:
    """``def lambda_(x): return 2 * x`` of ``lambda x: 2 * x``. In parentheses it may go over several lines."""
    node = ast.parse(f"(\n{text}\n)", mode="eval").body
    assert isinstance(node, ast.Lambda)
    ast.increment_lineno(node, -1)
    result = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef(name=LAMBDA, args=node.args, body=[result], decorator_list=[])
    return ast.fix_missing_locations(ast.copy_location(made, node))
