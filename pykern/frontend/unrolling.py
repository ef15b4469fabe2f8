"""Loops whose body is translated once for each item: `pk.unroll`, tuples, and short loops that index a tuple.

Comes in: a `for` whose items are known when compiling. Goes out: a copy of its body for each. Read next: `control`,
which has the loops that stay.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.frontend.desugar import none_of
from pykern.frontend.rows import has_tuple
from pykern.frontend.values import (
    RangeValue,
    Scalar,
    TupleValue,
    Value,
)
from pykern.passes.analysis.cost_model.code_size import MOST_COPIES, UNASKED_COPIES
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.translation import Translation


_ITEM = ".item"


def constant_values(r: RangeValue) -> range:
    """The values of a range of constant bounds; none where they are not known."""
    bounds = [b.const for b in (r.start, r.stop, r.step) if b.is_const and isinstance(b.const, int)]
    return range(*bounds) if len(bounds) == 3 and bounds[2] else range(0)


def indexes_tuple(t: Translation, node: ast.For, r: RangeValue) -> bool:
    """Whether a short loop of known bounds takes items of a tuple by its counter, which only copies of the body can."""
    bounds = (r.start, r.stop, r.step)
    if not all(b.is_const for b in bounds) or r.step.const == 0:
        return False
    if len(range(*(b.const for b in bounds))) > UNASKED_COPIES:
        return False
    counters = set(target_names(node))
    indexed = (n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Subscript))
    return any(
        not counters.isdisjoint(n.id for n in ast.walk(found.slice) if isinstance(n, ast.Name))
        and _has_tuple(_known(t, found.value))
        for found in indexed
    )


def _has_tuple(value: Value | None) -> bool:
    return value is not None and has_tuple(value)


def _known(t: Translation, node: ast.expr) -> Value | None:
    """What a name, a field or an item of a tuple means, without translating it; of items any."""
    if isinstance(node, ast.Name):
        environment = t.frame.environment
        return environment.locals.get(node.id) or environment.captures.get(node.id)
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return None
    base = _known(t, node.value)
    if not isinstance(base, TupleValue) or not base.items:
        return None
    if isinstance(node, ast.Subscript):
        return base.items[0]
    return dict(zip(base.fields, base.items, strict=False)).get(node.attr)


def unrolled(t: Translation, node: ast.For, items) -> None:
    if len(items) > MOST_COPIES:
        raise t.syntax_error(node, f"{len(items)} copies of the body are too many (at most {MOST_COPIES})",
                             t.instead_of_copies)  # fmt: skip
    bind = ast.copy_location(ast.Assign([node.target], ast.Name(_ITEM, ast.Load())), node)
    ast.copy_location(bind.value, node)
    body: list[ast.stmt] = [bind, *node.body]
    if node.exit_flags:  # the target, too, stays as it was when the loop was left
        body = [ast.copy_location(ast.If(none_of(node.exit_flags, node), body, []), node)]
        t.frame.unrolling += 1
    for item in items:
        t.names[_ITEM] = item
        t.statements(body)
    t.names.pop(_ITEM, None)
    if node.exit_flags:
        t.frame.unrolling -= 1


def constant_items(t: Translation, node: ast.For, r: RangeValue) -> list[Value]:
    bounds = (r.start, r.stop, r.step)
    if not all(b.is_const for b in bounds):
        raise t.type_error(node.iter, "pk.unroll needs bounds that are known when compiling",
                           "use constants, pk.static parameters, or a plain range")  # fmt: skip
    return [Scalar(weak_int, const=k) for k in range(*(b.const for b in bounds))]


def target_names(node: ast.For) -> list[str]:
    return [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
