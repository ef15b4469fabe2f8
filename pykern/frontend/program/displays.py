"""Lists and dicts in array programs: what is written out, comprehensions, and statements that change them.

Comes in: ``[a, b]``, ``{"w": w, **p}``, ``x.append(v)``, ``del d["k"]``. Goes out: values, and names with other values:
see `structures`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from pykern.data.source import LIST
from pykern.frontend.program import comprehensions, structures
from pykern.frontend.program.closures import Closures
from pykern.frontend.program.values import Cell, DictValue
from pykern.frontend.values import NoneValue, Text, TupleValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


class Displays(Closures):
    """The part of a program's translator that makes lists and dicts."""

    @property
    def whole(self) -> ProgramTranslator:
        return cast("ProgramTranslator", self)

    def do_Expr(self, node: ast.Expr) -> None:  # noqa: N802
        if not isinstance(node.value, ast.Call) or not structures.changed_by_method(self.whole, node.value):
            super().do_Expr(node)

    def do_Delete(self, node: ast.Delete) -> None:  # noqa: N802
        for target in node.targets:
            if not isinstance(target, ast.Subscript) or isinstance(self.expression(target.value), Cell):
                reason = "`del` is not available in array programs, but for items of dicts and lists"
                raise self.syntax_error(node, reason, "leave the name alone")
            structures.delete(self.whole, target)

    def binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        both = (
            isinstance(left, TupleValue) and isinstance(right, TupleValue) and left.name == right.name == LIST
        )
        if not both or not isinstance(op, ast.Add):
            return super().binary(node, op, left, right)
        return structures.new(self.whole, TupleValue(left.items + right.items, LIST))  # type: ignore[union-attr]

    def listed(self, items: tuple[Value, ...]) -> Value:
        return structures.new(self.whole, TupleValue(items, LIST))

    def of_Dict(self, node: ast.Dict) -> Value:  # noqa: N802
        items: list[tuple[str, Value]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None and isinstance(spread := self.expression(value), DictValue):
                items += spread.items
                continue
            name = self.expression(key) if key is not None else NoneValue()
            if not isinstance(name, Text):
                raise self.type_error(key or node, "the keys of a dict are strings in array programs")
            items.append((name.value, self.expression(value)))
        return structures.new(self.whole, DictValue(tuple(dict(items).items())))

    def made(self, value: DictValue) -> Value:
        return structures.new(self.whole, value)

    def of_ListComp(self, node: ast.ListComp) -> Value:  # noqa: N802
        return comprehensions.listed(self.whole, node)

    def of_GeneratorExp(self, node: ast.GeneratorExp) -> Value:  # noqa: N802
        return comprehensions.listed(self.whole, node)

    def of_DictComp(self, node: ast.DictComp) -> Value:  # noqa: N802
        return comprehensions.keyed(self.whole, node)
