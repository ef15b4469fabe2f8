"""What loops of kernels go over besides ranges: rows, and ``enumerate``, ``zip`` and ``reversed`` of them.

Comes in: the expression after `in`. Goes out: how many iterations there are, and what the target is in each. Read next:
`control`, which makes the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend import arithmetic
from pykern.frontend.rows import ShortRow, is_row
from pykern.frontend.values import ComplexValue, LanguageName, RangeValue, Scalar, TupleValue, Value
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.translation import Translation

Item = Callable[[Scalar], Value]


def iterated(t: Translation, node: ast.expr) -> tuple[Scalar, Item, bool] | None:
    """The number of iterations, what each has, and whether only copies of the body have it; None for what is no row."""
    if not isinstance(node, ast.Call):
        return _of_row(t, node, t.expression(node))
    callee = t.expression(node.func)
    name = callee.name if isinstance(callee, LanguageName) and not node.keywords else ""
    if name not in ("enumerate", "zip", "reversed") or not node.args:
        return _of_row(t, node, t.expression(node))
    if name == "zip":
        return _zipped(t, node)
    found = iterated(t, node.args[0])
    if found is None or len(node.args) > 1 + (name == "enumerate"):
        return None
    length, item, copies = found
    if name == "reversed":
        last = arithmetic.binary("-", length, Scalar(weak_int, const=1))
        return length, lambda index: item(arithmetic.binary("-", last, index)), copies
    start = t.scalar(node.args[1]) if len(node.args) == 2 else Scalar(weak_int, const=0)

    def counted(index: Scalar) -> Value:
        return TupleValue((arithmetic.binary("+", start, index), item(index)))

    return length, counted, copies


def _zipped(t: Translation, node: ast.Call) -> tuple[Scalar, Item, bool] | None:
    """As many as the shortest has."""
    parts = [iterated(t, part) for part in node.args]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    length = found[0][0]
    for other, _, _ in found[1:]:
        length = arithmetic.minimum(length, other)
    items = [item for _, item, _ in found]
    return length, lambda index: TupleValue(tuple(item(index) for item in items)), any(c for *_, c in found)


def _of_row(t: Translation, node: ast.expr, value: Value) -> tuple[Scalar, Item, bool] | None:
    if isinstance(value, TupleValue) and not isinstance(value, ComplexValue):
        items = value.items
        return Scalar(weak_int, const=len(items)), lambda index: items[index.const], True  # type: ignore[index]
    if isinstance(value, RangeValue) and not value.unroll:
        count = arithmetic.binary("-", value.stop, value.start)
        if not value.step.is_const or value.step.const != 1:
            return None
        count = arithmetic.maximum(count, Scalar(weak_int, const=0))
        return count, lambda index: arithmetic.binary("+", value.start, index), False
    if not is_row(value):
        return None
    return t.length(value, 0), lambda index: t.item(node, value, index), isinstance(value, ShortRow)  # type: ignore[attr-defined]
