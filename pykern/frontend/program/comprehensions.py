"""Comprehensions of array programs: over what is known when compiling, one copy of the expression for each item.

Comes in: ``[f(a) for a in t]``, ``{k: p[k] - g[k] for k in p}``, a generator in a call. Goes out: a tuple or a dict.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.source import LIST
from pykern.frontend.comprehensions import each
from pykern.frontend.program import structures
from pykern.frontend.program.values import DictValue
from pykern.frontend.values import Text, TupleValue, Value

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def listed(t: ProgramTranslator, node: ast.ListComp | ast.GeneratorExp) -> TupleValue:
    """The values one after the other."""
    found: list[Value] = []
    _each(t, node, node.generators, lambda: found.append(t.expression(node.elt)))
    made = TupleValue(tuple(found), LIST if isinstance(node, ast.ListComp) else "")
    return structures.new(t, made) if made.name else made  # type: ignore[return-value]


def keyed(t: ProgramTranslator, node: ast.DictComp) -> DictValue:
    """The values by their keys."""
    found: dict[str, Value] = {}

    def add() -> None:
        key = t.expression(node.key)
        if not isinstance(key, Text):
            raise t.type_error(node.key, "the keys of a dict are strings in array programs")
        found[key.value] = t.expression(node.value)

    _each(t, node, node.generators, add)
    return structures.new(t, DictValue(tuple(found.items())))  # type: ignore[return-value]


def _each(t: ProgramTranslator, node: ast.expr, generators: list[ast.comprehension], make: Callable) -> None:
    """Call `make` for each turn; functions that were made in it read its names as they were at last."""
    t.comprehensions.append((t.frame, []))
    last = each(t, node, generators, lambda n: t.items(n, t.expression(n)), make)
    for function in t.comprehensions.pop()[1]:
        function.kept.update(last)
