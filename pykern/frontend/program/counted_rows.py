"""A loop over the rows of arrays as one over their numbers: ``for k, v in enumerate(x)`` reads ``x[k]``.

Comes in: a `for` over an array, or over `enumerate`, `zip` and `reversed` of arrays and ranges. Goes out: the same loop
over a range, or None where it runs over something else. Read next: `loops`, which may leave such a loop a loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend.program.values import Cell
from pykern.frontend.unrolling import constant_values
from pykern.frontend.values import LanguageName, RangeValue, Scalar, Value
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

Element = Callable[[ast.expr], ast.expr]
"""The syntax of the element at a number."""
Column = tuple[int, Element]
"""How many elements there are, and each of them."""


class Rows:
    """What a loop runs over, given as names that no program can write, which `names` holds."""

    def __init__(self, t: ProgramTranslator, node: ast.For) -> None:
        self.t, self.node = t, node
        self.names: list[str] = []

    def loop(self, iterated: Value) -> tuple[ast.For, RangeValue] | None:
        """The loop over numbers, and these; `iterated` is the value of what the loop runs over."""
        column = self._array(iterated) if isinstance(iterated, Cell) else self._column(self.node.iter)
        if column is None:
            return None
        length, element = column
        at = self._name()
        body = [ast.Assign([self.node.target], element(ast.Name(at, ast.Load()))), *self.node.body]
        made = ast.For(ast.Name(at, ast.Store()), self.node.iter, body, self.node.orelse)
        for part in (made.target, body[0], *ast.walk(body[0].value)):  # type: ignore[attr-defined]
            ast.copy_location(part, self.node.iter)
        for attribute in ("exit_flags", "otherwise"):
            if hasattr(self.node, attribute):
                setattr(made, attribute, getattr(self.node, attribute))
        bounds = (Scalar(weak_int, const=number) for number in (0, length, 1))
        return ast.copy_location(made, self.node), RangeValue(*bounds, unroll=True, is_asked=False)

    def close(self) -> None:
        for name in self.names:
            self.t.names.pop(name, None)

    def _name(self) -> str:
        place = f".{self.node.lineno}.{self.node.col_offset}.{len(self.t.frames)}.{len(self.names)}"
        self.names.append(place)
        return place

    def _column(self, node: ast.expr) -> Column | None:
        if isinstance(node, ast.Call) and node.args and all(one.arg == "strict" for one in node.keywords):
            function = self.t.expression(node.func)
            name = function.name if isinstance(function, LanguageName) else ""
            if name == "zip":
                return self._zipped(node)
            if node.keywords:
                return None
            if name == "enumerate" and len(node.args) <= 2:
                return self._enumerated(node.args[0], node.args[1] if len(node.args) == 2 else None)
            if name == "reversed" and len(node.args) == 1:
                return self._reversed(node.args[0])
        value = self.t.expression(node)
        if isinstance(value, RangeValue) and value.unroll and not value.is_asked:
            return self._numbers(value)
        return self._array(value) if isinstance(value, Cell) else None

    def _array(self, array: Cell) -> Column | None:
        if not array.shape:
            return None
        name = self._name()
        self.t.names[name] = array
        return array.shape[0], lambda at: ast.Subscript(ast.Name(name, ast.Load()), at, ast.Load())

    @staticmethod
    def _numbers(value: RangeValue) -> Column:
        numbers = constant_values(value)

        def element(at: ast.expr) -> ast.expr:
            steps = ast.BinOp(at, ast.Mult(), ast.Constant(numbers.step))
            return ast.BinOp(ast.Constant(numbers.start), ast.Add(), steps)

        return len(numbers), element

    def _enumerated(self, node: ast.expr, start: ast.expr | None) -> Column | None:
        column = self._column(node)
        if column is None or not (start is None or isinstance(start, ast.Constant)):
            return None
        length, element = column

        def pair(at: ast.expr) -> ast.expr:
            number = at if start is None else ast.BinOp(at, ast.Add(), start)
            return ast.Tuple([number, element(at)], ast.Load())

        return length, pair

    def _zipped(self, node: ast.Call) -> Column | None:
        columns = [self._column(one) for one in node.args]
        if None in columns:
            return None
        lengths, elements = zip(*columns, strict=True)  # type: ignore[misc]
        if node.keywords and len(set(lengths)) > 1:
            return None
        return min(lengths), lambda at: ast.Tuple([element(at) for element in elements], ast.Load())

    def _reversed(self, node: ast.expr) -> Column | None:
        column = self._column(node)
        if column is None:
            return None
        length, element = column
        return length, lambda at: element(ast.BinOp(ast.Constant(length - 1), ast.Sub(), at))
