"""Comprehensions over what is known when compiling: one copy of the expression for each item.

Comes in: ``[f(a) for a in t]``, a generator in a call. Goes out: the values, one after the other. Kernels make tuples
of them, array programs also lists and dicts (`pykern.frontend.program.comprehensions`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend import arithmetic
from pykern.frontend.values import Value
from pykern.passes.analysis.cost_model.code_size import MOST_COPIES

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls

Items = Callable[[ast.expr], list[Value]]


def each(
    t: Calls, node: ast.expr, generators: list[ast.comprehension], items: Items, make: Callable[[], None]
) -> dict[str, Value]:
    """Call `make` for each turn of the loops, over what `items` gives. Their names mean outside what they meant before;
    what they meant at last is returned.

    Raises `KernelSyntaxError` for too many turns, `KernelTypeError` where a condition is not known.
    """
    targets = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    before = {name: t.names.get(name) for name in targets}
    count = 0

    def loop(number: int) -> None:
        nonlocal count
        if number == len(generators):
            count += 1
            if count > MOST_COPIES:
                raise t.syntax_error(
                    node, f"more than {MOST_COPIES} copies of an expression", t.instead_of_copies
                )
            make()
            return
        generator = generators[number]
        for item in items(generator.iter):
            t.assign(generator.target, item)  # type: ignore[attr-defined]
            if all(_holds(t, test) for test in generator.ifs):
                loop(number + 1)

    loop(0)
    last = {name: t.names[name] for name in targets if name in t.names}
    for name, value in before.items():
        if value is None:
            t.names.pop(name, None)
        else:
            t.names[name] = value
    return last


def _holds(t: Calls, test: ast.expr) -> bool:
    found = arithmetic.truth(t.condition(test))  # type: ignore[attr-defined]
    if not found.is_const:
        raise t.type_error(test, "the condition of a comprehension must be known at compile time",
                           "choose among values with pk.where")  # fmt: skip
    return bool(found.const)
