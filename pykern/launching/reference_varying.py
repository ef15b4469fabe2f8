"""Which names of a kernel hold values that its compiled code knows only when it runs.

Comes in: the syntax tree of a function. Goes out: names. On the reference device all numbers are Python's, and this
tells an exponent such as ``-i`` from one such as ``-1``. In doubt a name is no such name: `pk.static` values, names
from outside, and what is computed from these and constants alone.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator


def varying_names(function: ast.FunctionDef) -> frozenset[str]:
    """Arguments that are not `pk.static`, and names that are computed from those, from elements or from calls."""
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    found = {a.arg for a in given if a.annotation is None or "static" not in ast.unparse(a.annotation)}
    assignments = list(_assignments(function))
    while True:
        new = {name for names, value in assignments if depends(value, found) for name in names} - found
        if not new:
            return frozenset(found)
        found |= new


def depends(value: ast.expr, varying: Collection[str]) -> bool:
    """Whether a value is that of a call or of an element, or is computed from `varying` names."""
    return any(
        isinstance(node, ast.Call | ast.Subscript) or (isinstance(node, ast.Name) and node.id in varying)
        for node in ast.walk(value)
    )


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[list[str], ast.expr]]:
    """Names, and what they are assigned. A loop over a range is one over a call."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield _names(node.targets), node.value
        elif isinstance(node, ast.AugAssign | ast.NamedExpr | ast.AnnAssign):
            if node.value is not None:
                yield _names([node.target]), node.value
        elif isinstance(node, ast.For):
            yield _names([node.target]), node.iter


def _names(targets: list[ast.expr]) -> list[str]:
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
