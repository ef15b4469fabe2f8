"""Inputs read at ``s * loop + c`` become slices read at the loop alone, so that maps are projections."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import tensor

from pykern.passes.autodiff.tensor.values import affine, element, is_tensor
from pykern.passes.ir.affine import Sum, linear_form
from pykern.passes.ir.structured import Structured, set_indexing_maps


def cut_shifts(op: ir.Operation, varied: set[ir.Value]) -> bool:
    """Slice the inputs of a linalg.generic whose maps are shifted, strided or constant."""
    if op.name != "linalg.generic" or not any(result in varied for result in op.results):
        return False
    view, maps = Structured(op), list(Structured(op).maps)
    for place, (value, map) in enumerate(zip(view.inputs, view.maps, strict=False)):
        if not is_tensor(value) or map.is_projected_permutation:
            continue
        forms = [form for e in map.results if (form := linear_form(e)) is not None]
        if (
            len(forms) < len(map.results)
            or not all(_is_slice(form) for form in forms)
            or not _is_static(view)
        ):
            continue
        with ir.InsertionPoint(op), op.location:
            op.operands[place] = _slice(view, value, forms)
        maps[place] = affine(
            view.loops, [ir.AffineExpr.get_dim(form.loops[0]) for form in forms if form.loops]
        )
    if maps == view.maps:
        return False
    set_indexing_maps(op, maps)
    return True


def _is_slice(form: Sum) -> bool:
    return len(form.loops) <= 1 and form.constant >= 0 and not form.descends


def _is_static(view: Structured) -> bool:
    return all(ir.RankedTensorType(v.type).has_static_shape for v in view.operands if is_tensor(v))


def _slice(view: Structured, value: ir.Value, forms: list[Sum]) -> ir.Value:
    offsets = [form.constant for form in forms]
    sizes = [view.extents[form.loops[0]] if form.loops else 1 for form in forms]
    strides = [form.factor(form.loops[0]) if form.loops else 1 for form in forms]
    kept = [size for size, form in zip(sizes, forms, strict=True) if form.loops]
    type = ir.RankedTensorType.get(kept, element(value.type))
    return tensor.extract_slice(type, value, [], [], [], offsets, sizes, strides)
