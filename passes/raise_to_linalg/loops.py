"""What becomes of a loop whose body has been read: its iterations at once, or one after the other.

At once where its carried values only collect, and where no cell it writes is touched by two iterations,
unless they only collect there too. Everything else stays in sequence, which is always right: work-items
do not depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.raise_to_linalg.builder import Builder
from pykern.passes.raise_to_linalg.conditions import joined
from pykern.passes.raise_to_linalg.expressions import (
    Carried,
    Expression,
    Fold,
    Mask,
    expressions_of,
    reachable,
)
from pykern.passes.raise_to_linalg.forms import Dim
from pykern.passes.raise_to_linalg.independence import Proof, accesses, conflicts
from pykern.passes.raise_to_linalg.program import Bind, Sequence, Statement, Store, statements, written
from pykern.passes.raise_to_linalg.reductions import Contribution, contribution, is_collected_only


@dataclass(eq=False)
class Loop:
    """A loop as read. `mask` holds around it, `inner_mask` within."""

    dim: Dim
    dims: tuple[Dim, ...]
    mask: Mask
    inner_mask: Mask
    location: ir.Location
    body: list[Statement]
    carried: list[Carried]
    initial: list[Expression]
    yields: list[Expression]


def settle(loop: Loop, builder: Builder, proof: Proof) -> tuple[list[Statement], list[Expression]]:
    """The statements that stand for the loop, and its results."""
    found = [contribution(builder, y, c) for y, c in zip(loop.yields, loop.carried, strict=True)]
    if all(_collects(loop, n, one) for n, one in enumerate(found)):
        body = _independent(loop, proof, builder)
        if body is not None:
            return body, [_fold(loop, n, one) for n, one in enumerate(found)]
    loop.dim.sequential = True
    results = [Carried(c.type, loop.dims) for c in loop.carried]
    values = loop.carried, loop.initial, loop.yields, results
    kept = Sequence(loop.dim, loop.body, loop.dims, loop.mask, loop.inner_mask, loop.location, *values)
    return [kept], list(results)


def _fold(loop: Loop, number: int, found: Contribution | None) -> Expression:
    if found is None:  # unchanged
        return loop.initial[number]
    mask = joined(loop.inner_mask, found.mask)
    dims = (loop.dim, *found.dims)
    return Fold(
        found.value.type, found.combine, dims, found.value, loop.initial[number], mask, found.attributes
    )


def _collects(loop: Loop, number: int, found: Contribution | None) -> bool:
    carried = loop.carried[number]
    if found is None:
        return loop.yields[number] is carried and _is_unused(loop, number, [])
    return _is_unused(loop, number, [found.value, *expressions_of(found.mask)])


def _is_unused(loop: Loop, number: int, parts: list[Expression]) -> bool:
    others = [y for n, y in enumerate(loop.yields) if n != number]
    roots = [root for statement in statements(loop.body) for root in roots_of(statement)]
    return is_collected_only(loop.carried[number], [*others, *roots, *parts])


def roots_of(statement: Statement) -> list[Expression]:
    """The values a statement looks at by itself."""
    if isinstance(statement, Bind):
        load = statement.load
        return [*(s for form in load.subscripts for s in form.symbols), *expressions_of(load.mask)]
    if isinstance(statement, Store):
        symbols = (s for form in statement.subscripts for s in form.symbols)
        return [statement.value, *symbols, *expressions_of(statement.mask)]
    bounds = (s for form in (*statement.dim.lows, *statement.dim.highs) for s in form.symbols)
    return [*statement.initial, *statement.yields, *bounds, *expressions_of(statement.mask)]


def _independent(loop: Loop, proof: Proof, builder: Builder) -> list[Statement] | None:
    """The body with its iterations at once, None where they may depend on each other."""
    body = loop.body
    touched = accesses(body)
    for array in written(body):
        mine = [a for a in touched if a.array == array]
        if all(proof.agree(one, other, [loop.dim], loop.dims) for one, other in conflicts(mine)):
            continue
        collected = _collected(loop, body, array, builder)
        if collected is None:
            return None
        body = collected
    return body


def _collected(loop: Loop, body: list[Statement], array: int, builder: Builder) -> list[Statement] | None:
    """The body with `a[s] = combine(a[s], value)` as one statement that collects over the loop."""
    loads = [s for s in statements(body) if isinstance(s, Bind) and s.load.array == array]
    stores = [s for s in body if isinstance(s, Store) and s.array == array]
    inside = [s for s in statements(body) if isinstance(s, Store) and s.array == array]
    if len(stores) != 1 or len(inside) != 1 or _depends(stores[0], loop.dim):
        return None
    store = stores[0]
    if store.combine is not None:
        return body if not loads else None
    if len(loads) != 1 or loads[0] not in body or loads[0].load.subscripts != store.subscripts:
        return None
    load = loads[0].load
    if load.mask != store.mask and not set(load.mask) <= set(store.mask):
        return None
    found = contribution(builder, store.value, load)
    if found is None or found.dims:
        return None
    rest = [s for s in statements(body) if s is not store and s is not loads[0]]
    parts = [found.value, *expressions_of(found.mask), *expressions_of(store.mask), *loop.yields]
    if load in reachable([*parts, *(root for s in rest for root in roots_of(s))]):
        return None
    mask = joined(store.mask, found.mask)
    made = Store(
        array,
        store.subscripts,
        found.value,
        store.dims,
        mask,
        store.location,
        found.combine,
        found.attributes,
    )
    return [made if s is store else s for s in body if s is not loads[0]]


def _depends(store: Store, dim: Dim) -> bool:
    """Whether the place of the store changes with the dimension."""
    symbols = reachable([s for form in store.subscripts for s in form.symbols])
    own = {d for form in store.subscripts for d in form.dims} | {d for s in symbols for d in s.own_dims}
    return dim in own
