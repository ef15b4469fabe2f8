"""Comprehensions of array programs: over what is known when compiling, one copy of the expression for each item.

Comes in: ``[f(a) for a in t]``, ``{k: p[k] - g[k] for k in p}``, a generator in a call. Goes out: a tuple or a dict.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.source import LIST
from pykern.frontend import arithmetic
from pykern.frontend.program import structures
from pykern.frontend.program.values import DictValue
from pykern.frontend.values import Text, TupleValue, Value
from pykern.passes.analysis.cost_model.code_size import MOST_COPIES

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
    """Call `make` for each turn of the loops; their names mean outside what they meant before."""
    targets = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    before = {name: t.names.get(name) for name in targets}
    count = 0

    def loop(number: int) -> None:
        nonlocal count
        if number == len(generators):
            count += 1
            if count > MOST_COPIES:
                raise t.syntax_error(
                    node, f"more than {MOST_COPIES} copies of an expression", "write a loop of pk.range"
                )
            make()
            return
        generator = generators[number]
        for item in t.items(generator.iter, t.expression(generator.iter)):
            t.assign(generator.target, item)
            if all(_holds(t, test) for test in generator.ifs):
                loop(number + 1)

    t.comprehensions.append((t.frame, []))
    loop(0)
    last = {name: t.names[name] for name in targets if name in t.names}
    for function in t.comprehensions.pop()[1]:
        function.kept.update(last)
    for name, value in before.items():
        if value is None:
            t.names.pop(name, None)
        else:
            t.names[name] = value


def _holds(t: ProgramTranslator, test: ast.expr) -> bool:
    found = arithmetic.truth(t.condition(test))
    if not found.is_const:
        raise t.type_error(test, "the condition of a comprehension must be known at compile time",
                           "choose among values with pk.where")  # fmt: skip
    return bool(found.const)
