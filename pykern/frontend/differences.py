"""What two integer expressions differ by, where it is known whatever `i` is: ``3 * i + 3`` and ``3 * i``.

Comes in: two expressions of one place. Goes out: a constant, or None. Each is a polynomial over what is no constant.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.frontend.values import Scalar

if TYPE_CHECKING:
    from pykern.frontend.translation import Translation

Polynomial = dict[tuple[str, ...], int]
"""The factor of each product of texts; that of the empty product is a constant."""


def difference(t: Translation, first: ast.expr, second: ast.expr) -> int | None:
    """``first - second``."""
    a, b = _polynomial(t, first), _polynomial(t, second)
    if a is None or b is None:
        return None
    terms = {key: n for key, n in _sum(a, b, -1).items() if n}
    return terms.get((), 0) if terms.keys() <= {()} else None


def _polynomial(t: Translation, node: ast.expr) -> Polynomial | None:
    if isinstance(node, ast.Constant):
        return {(): node.value} if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _polynomial(t, node.operand)
        return None if inner is None else _sum({}, inner, -1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        left, right = _polynomial(t, node.left), _polynomial(t, node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Mult):
            return _product(left, right)
        return _sum(left, right, 1 if isinstance(node.op, ast.Add) else -1)
    if isinstance(node, ast.Name):
        value = t.names.get(node.id) or t.frame.environment.captures.get(node.id)
        if isinstance(value, Scalar) and value.is_const and type(value.const) is int:
            return {(): value.const}
    if any(isinstance(part, ast.Call | ast.NamedExpr) for part in ast.walk(node)):
        return None  # which may be another number each time
    return {(ast.unparse(node),): 1}


def _sum(a: Polynomial, b: Polynomial, factor: int) -> Polynomial:
    return {key: a.get(key, 0) + factor * b.get(key, 0) for key in a.keys() | b.keys()}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for first, m in a.items():
        for second, n in b.items():
            key = tuple(sorted((*first, *second)))
            found[key] = found.get(key, 0) + m * n
    return found
