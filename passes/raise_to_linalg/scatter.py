"""Stores to places that are no slices: one element after the other, in loops with the tensor carried."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, scf, tensor

from pykern.passes.raise_to_linalg.boxes import IterationBox
from pykern.passes.raise_to_linalg.evaluation import index_number
from pykern.passes.raise_to_linalg.expressions import (
    Carried,
    Expression,
    Fold,
    Load,
    Mask,
    expressions_of,
    vector_dims,
)
from pykern.passes.raise_to_linalg.forms import Dim
from pykern.passes.raise_to_linalg.updates import Update, Updates


def is_slice(update: Update, box: IterationBox, updates: Updates) -> bool:
    """Whether the place is a slice with one dimension of the box for each of its own."""
    box, rest = updates.narrowed(update, box)
    box, _ = updates.pinned(update, box, rest)
    shown: list[Dim] = []
    for form in update.place.subscripts:
        form = box.resolved(form)
        dims = [dim for dim in form.dims if dim.value is None]
        if len(dims) > 1 or any(vector_dims(symbol) for symbol in form.symbols):
            return False
        if any(form.factor(dim) < 0 for dim in dims):
            return False
        shown += dims
    if len(set(shown)) != len(shown):
        return False
    return update.combine is not None or set(shown) == set(box.dims)


def scatter(update: Update, box: IterationBox, updates: Updates) -> ir.Value:
    """The changed target."""
    box, rest = updates.narrowed(update, box)
    scalars = updates.scalars
    symbols = [s for form in update.place.subscripts for s in form.symbols]
    for leaf in updates.leaves([update.value, *symbols, *expressions_of(rest)]):
        if isinstance(leaf, Fold):
            base, held = updates.hold(leaf, box)
        elif leaf not in updates.frozen and isinstance(leaf, Load):
            if leaf.tensor != update.target or _is_own(leaf, update):
                continue
            updates.freeze(leaf)
            base, held = updates.frozen[leaf]
        elif leaf in updates.frozen:
            base, held = updates.frozen[leaf]
        else:
            assert isinstance(leaf, Carried)
            base, held = updates.boxes.full(leaf.dims), leaf.tensor
        scalars.lookup[leaf] = held, [(dim, scalars.low(base, dim)) for dim in base.dims]
    # ahead of all loops: a bound may be looked up over the positions that the loops go through
    spans = [_span(dim, box, updates) for dim in box.dims]
    return _loops(spans, update.target, update, box, rest, updates)


@dataclass(frozen=True)
class _Span:
    """A dimension to go through."""

    dim: Dim
    low: ir.Value
    high: ir.Value
    stride: ir.Value | None


def _span(dim: Dim, box: IterationBox, updates: Updates) -> _Span:
    low = updates.scalars.low(box, dim)
    high = arith.AddIOp(low, updates.scalars.count(box, dim)).result
    return _Span(dim, low, high, updates.scalars.stride(dim, 1))


def _is_own(leaf: Expression, update: Update) -> bool:
    """Whether a load reads the cell that its position writes."""
    if not isinstance(leaf, Load):
        return False
    return leaf.tensor == update.target and leaf.subscripts == update.place.subscripts


def _loops(
    spans: list[_Span], target: ir.Value, update: Update, box: IterationBox, rest: Mask, updates: Updates
) -> ir.Value:
    if not spans:
        return _where(target, update, box, rest, updates)
    span, scalars = spans[0], updates.scalars
    dim, stride = span.dim, span.stride
    made = scf.ForOp(span.low, span.high, index_number(1), [target])
    with ir.InsertionPoint(made.body), scalars.scope():
        dim.position = dim.value = made.induction_variable
        if stride is not None:
            dim.value = arith.MulIOp(dim.position, stride).result
        inner = _loops(spans[1:], made.inner_iter_args[0], update, box, rest, updates)
        scf.YieldOp([inner])
    dim.position = dim.value = None
    return made.results[0]


def _where(target: ir.Value, update: Update, box: IterationBox, rest: Mask, updates: Updates) -> ir.Value:
    scalars = updates.scalars
    scalars.true, outer = scalars.true | box.true, scalars.true
    if not rest:
        made = _element(target, update, updates)
        scalars.true = outer
        return made
    branch = scf.IfOp(scalars.conjunction(rest), [target.type], has_else=True)
    scalars.true |= set(rest)
    with ir.InsertionPoint(branch.then_block), scalars.scope():
        scf.YieldOp([_element(target, update, updates)])
    scalars.true = outer
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([target])
    return branch.results[0]


def _element(target: ir.Value, update: Update, updates: Updates) -> ir.Value:
    scalars = updates.scalars
    indices = [scalars.form(form) for form in update.place.subscripts]
    old = tensor.ExtractOp(target, indices).result
    for leaf in updates.leaves([update.value]):  # no other position came to this cell before
        if _is_own(leaf, update) and leaf not in updates.frozen:
            scalars.memo[leaf] = old
    value = scalars.value(update.value)
    if update.combine is not None:
        value = ir.Operation.create(
            update.combine, [value.type], [old, value], attributes=dict(update.attributes)
        ).results[0]
    return tensor.InsertOp(value, target, indices).result
