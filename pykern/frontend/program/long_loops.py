"""Whether a long loop over Python's `range` may stay one loop, with the results that its copies would have.

Comes in: the loop and what names mean in front of it. Goes out: a yes or no. Read next: `loops`.

Why: a copy of the body for each number takes as long to compile as there are copies. Short loops are copied, because
their copies are fused and may use the number for shapes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pykern.frontend.control import assigned_names
from pykern.frontend.program.values import Cell
from pykern.frontend.values import RangeValue, Scalar, Value

LONG = 512
"""Iterations from which a loop is long."""
_STATEMENTS = (ast.Assign, ast.AugAssign)
_UNCLEAR = (ast.Lambda, ast.NamedExpr, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Starred)


def may_stay(node: ast.For, r: RangeValue, names: Mapping[str, Value]) -> bool:
    """Whether the number of an iteration is only used to index arrays, within their bounds."""
    numbers = range(*(b.const for b in (r.start, r.stop, r.step)))  # type: ignore[arg-type]
    if len(numbers) < LONG or node.orelse or not isinstance(node.target, ast.Name):
        return False
    if not all(isinstance(statement, _STATEMENTS) for statement in node.body):
        return False
    inside = [n for statement in node.body for n in ast.walk(statement)]
    if any(isinstance(n, _UNCLEAR) for n in inside):
        return False
    uses = [n for n in inside if isinstance(n, ast.Name) and n.id == node.target.id]
    indexing = [
        n for s in inside if isinstance(s, ast.Subscript) for n in _uses(s, node.target.id, numbers, names)
    ]
    return len(uses) == len(indexing)


def _uses(
    subscript: ast.Subscript, target: str, numbers: range, names: Mapping[str, Value]
) -> list[ast.expr]:
    """The places where a subscript of an array is the number, or so many more or less, and within the array."""
    array = names.get(subscript.value.id) if isinstance(subscript.value, ast.Name) else None
    if not isinstance(array, Cell):
        return []
    indices = subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]
    found = []
    for place, index in enumerate(indices[: len(array.shape)]):
        if isinstance(index, ast.Constant) and (index.value is None or index.value is ...):
            break  # what follows is of another dimension
        use, offset = _shifted(index)
        if not isinstance(use, ast.Name) or use.id != target:
            continue
        ends = numbers[0] + offset, numbers[-1] + offset
        if min(ends) >= 0 and max(ends) < array.shape[place]:
            found.append(use)
    return found


def _shifted(index: ast.expr) -> tuple[ast.expr, int]:
    """`i + 3` as `i` and 3."""
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add | ast.Sub):
        number = index.right
        if isinstance(number, ast.Constant) and type(number.value) is int:
            return index.left, number.value if isinstance(index.op, ast.Add) else -number.value
    return index, 0


def keeps_numbers_open(node: ast.For, names: Mapping[str, Value]) -> bool:
    """Whether, after the first iteration, all that the loop assigns is of the run time: known numbers are computed as
    Python does, one iteration after the other."""
    assigned = (names.get(name) for name in assigned_names(node.body))
    return not any(isinstance(one, Scalar) and one.is_const for one in assigned)
