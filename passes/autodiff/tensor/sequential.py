"""A reduction that is no sum, product or extremum, as a loop over what it reduces."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import affine, scf, tensor

from pykern.passes.autodiff.tensor.values import is_tensor
from pykern.passes.ir.accumulators import StructuredKind, accumulation
from pykern.passes.ir.affine import linear_form
from pykern.passes.ir.clone import clone
from pykern.passes.ir.lengths import Number, as_value, plus, times
from pykern.passes.ir.structured import Structured, is_structured


def run_in_order(op: ir.Operation, varied: set[ir.Value]) -> bool:
    """Rewrite `op` if a result that varies is combined in no known way."""
    if not is_structured(op) or not any(result in varied for result in op.results):
        return False
    view = Structured(op)
    kinds = [accumulation(view, n).kind for n, result in enumerate(op.results) if result in varied]
    if StructuredKind.OTHER not in kinds:
        return False
    with ir.InsertionPoint(op), op.location:
        results = _loops(view, list(view.outputs), [])
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return True


def _loops(view: Structured, carried: list[ir.Value], at: list[ir.Value]) -> list[ir.Value]:
    """A nest of scf.for over every loop of the op, one element a time."""
    if len(at) == view.loops:
        return _element(view, carried, at)
    loop = scf.ForOp(as_value(0), as_value(view.extents[len(at)]), as_value(1), carried)
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(_loops(view, list(loop.inner_iter_args), [*at, loop.induction_variable]))
    return list(loop.results)


def _element(view: Structured, carried: list[ir.Value], at: list[ir.Value]) -> list[ir.Value]:
    known: dict[ir.Value, ir.Value] = {}
    places = [_place(map, at) for map in view.maps]
    values = [*view.inputs, *carried]
    for argument, value, place in zip(view.arguments, values, places, strict=True):
        known[argument] = tensor.extract(value, place) if is_tensor(value) else value
    for inner in view.ops:
        if inner.name == "linalg.index":
            known[inner.results[0]] = at[ir.IntegerAttr(inner.attributes["dim"]).value]
        else:
            copy = clone(inner, lambda value: known.get(value, value))
            known.update(zip(inner.results, copy.results, strict=True))
    new = [known.get(value, value) for value in view.yielded]
    outer = places[len(view.inputs) :]
    return [tensor.insert(value, old, place) for value, old, place in zip(new, carried, outer, strict=True)]


def _place(map: ir.AffineMap, at: list[ir.Value]) -> list[ir.Value]:
    """The map's results at the loops `at`."""
    found = []
    for expression in map.results:
        form = linear_form(expression)
        if form is None:
            found.append(affine.apply(ir.AffineMap.get(map.n_dims, 0, [expression]), at))
            continue
        place: Number = form.constant
        for loop in form.loops:
            place = plus(place, times(at[loop], form.factor(loop)))
        found.append(as_value(place))
    return found
