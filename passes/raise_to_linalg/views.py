"""Which part of a tensor a statement sees: an offset, a size and a stride for each dimension, and a map.

Comes in: subscripts, a box. Goes out: a `View`, or None where the subscripts are no sums of positions.
"""

from __future__ import annotations

import itertools
import operator
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import is_constant
from pykern.passes.raise_to_linalg.boxes import IterationBox
from pykern.passes.raise_to_linalg.evaluation import index_number
from pykern.passes.raise_to_linalg.expressions import vector_dims
from pykern.passes.raise_to_linalg.forms import Dim, Form
from pykern.passes.raise_to_linalg.scalars import Scalars

DYNAMIC = -9223372036854775808


@dataclass(frozen=True)
class Axis:
    """One dimension of a tensor as seen: `terms` are dimensions of the box with their factors."""

    offset: ir.Value
    size: ir.Value | None  # None: one element, the axis goes
    stride: ir.Value | None  # None: 1
    terms: tuple[tuple[Dim, int], ...]


@dataclass(frozen=True)
class View:
    """A part of a tensor, or all of it."""

    axes: tuple[Axis, ...]
    is_whole: bool = False

    @property
    def maps(self) -> list[tuple[tuple[Dim, int], ...]]:
        return [axis.terms for axis in self.axes if axis.size is not None]

    @property
    def dims(self) -> list[Dim]:
        return [dim for axis in self.axes for dim, _ in axis.terms]

    @property
    def is_plain(self) -> bool:
        """Whether each axis is one dimension and no two are the same."""
        dims = self.dims
        return all(len(axis.terms) <= 1 for axis in self.axes) and len(set(dims)) == len(dims)


def view_of(subscripts: tuple[Form, ...], box: IterationBox, scalars: Scalars) -> View | None:
    """The view of an array with those subscripts."""
    axes = [_axis(box.resolved(form), box, scalars) for form in subscripts]
    return None if None in axes else View(tuple(axis for axis in axes if axis is not None))


def _axis(form: Form, box: IterationBox, scalars: Scalars) -> Axis | None:
    terms = [(dim, form.factor(dim)) for dim in form.dims if dim.value is None]
    if any(k < 0 for _, k in terms) or any(vector_dims(symbol) for symbol in form.symbols):
        return None
    if not terms:
        return Axis(scalars.form(form), None, None, ())
    rest = form
    for dim, _ in terms:
        rest = rest.without(dim)
    offset = scalars.form(rest)
    if len(terms) == 1:
        dim, factor = terms[0]
        stride = scalars.stride(dim, factor)
        low = scalars.low(box, dim)
        start = low if stride is None else arith.MulIOp(low, stride).result
        return Axis(arith.AddIOp(offset, start).result, scalars.count(box, dim), stride, ((dim, 1),))
    if any(dim.step is not None for dim, _ in terms):
        return None
    size = index_number(1)
    for dim, factor in terms:
        number = index_number(factor)
        offset = arith.AddIOp(offset, arith.MulIOp(scalars.low(box, dim), number).result).result
        last = arith.SubIOp(scalars.count(box, dim), index_number(1)).result
        size = arith.AddIOp(size, arith.MulIOp(last, number).result).result
    return Axis(offset, arith.MaxSIOp(size, index_number(0)).result, None, tuple(terms))


def held_view(dims: tuple[Dim, ...], held: IterationBox, box: IterationBox, scalars: Scalars) -> View:
    """The view of a tensor that has an element for every position of `held`."""
    axes = []
    for dim in dims:
        resolved = box.resolved(Form(((dim, 1),)))
        if resolved.dims == (dim,):
            offset = arith.SubIOp(scalars.low(box, dim), scalars.low(held, dim)).result
            axes.append(Axis(offset, scalars.count(box, dim), None, ((dim, 1),)))
            continue
        axis = _axis(resolved - held.range(dim).lows[0], box, scalars)
        assert axis is not None
        axes.append(axis)
    same = all(dim in box.dims and box.range(dim) == held.range(dim) for dim in dims)
    return View(tuple(axes), is_whole=same and not box.conditions and not held.conditions)


def extract(source: ir.Value, view: View) -> ir.Value:
    """The part as a tensor, without the axes of one element."""
    if not view.axes or view.is_whole:
        return source
    element = ir.RankedTensorType(source.type).element_type
    kept = [DYNAMIC for axis in view.axes if axis.size is not None]
    made = ir.RankedTensorType.get(kept, element)
    if not _is_ambiguous(view):
        return tensor.ExtractSliceOp(made, source, *_operands(view)).result
    full = tensor.ExtractSliceOp(
        ir.RankedTensorType.get(_sizes(view), element), source, *_operands(view)
    ).result
    return tensor.CollapseShapeOp(made, full, _groups(view)).result


def insert(part: ir.Value, target: ir.Value, view: View) -> ir.Value:
    """The target with the part put back."""
    if not view.axes or view.is_whole:
        return part
    if _is_ambiguous(view):
        sizes, element = _sizes(view), ir.RankedTensorType(part.type).element_type
        full = ir.RankedTensorType.get(sizes, element)
        lengths = [axis.size for axis in view.axes if axis.size is not None]
        part = tensor.ExpandShapeOp(full, part, _groups(view), lengths, sizes).result
    return tensor.InsertSliceOp(part, target, *_operands(view)).result


def _is_ambiguous(view: View) -> bool:
    """Whether an axis of length 1 stays in front of one that goes.

    Once that length is known, upstream takes the first axis of length 1 for the one that goes.
    """
    gone = [n for n, axis in enumerate(view.axes) if axis.size is None]
    return any(
        axis.size is not None and _known(axis.size) == 1 and any(n < other for other in gone)
        for n, axis in enumerate(view.axes)
    )


def _sizes(view: View) -> list[int]:
    return [1 if axis.size is None else DYNAMIC for axis in view.axes]


def _groups(view: View) -> list[list[int]]:
    """Each axis that stays, with those that go next to it."""
    starts = [n for n, axis in enumerate(view.axes) if axis.size is not None]
    starts[0] = 0
    return [list(range(*ends)) for ends in itertools.pairwise([*starts, len(view.axes)])]


def _known(value: ir.Value) -> int | None:
    """The number that folding would find."""
    if (found := is_constant(value)) is not None or is_argument(value):
        return found
    op = value.owner.operation
    if op.name == "memref.dim":
        axis, shape = is_constant(op.operands[1]), ir.MemRefType(op.operands[0].type).shape
        return None if axis is None or shape[axis] == DYNAMIC else shape[axis]
    if op.name not in _FOLDED:
        return None
    a, b = map(_known, op.operands)
    return None if a is None or b is None else _FOLDED[op.name](a, b)


_FOLDED = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.maxsi": max,
    "arith.minsi": min,
}


def _operands(view: View) -> tuple:
    offsets = [axis.offset for axis in view.axes]
    sizes = [axis.size for axis in view.axes if axis.size is not None]
    strides = [axis.stride for axis in view.axes if axis.stride is not None]
    return (
        offsets,
        sizes,
        strides,
        [DYNAMIC] * len(view.axes),
        _sizes(view),
        [1 if axis.stride is None else DYNAMIC for axis in view.axes],
    )


def padded(source: ir.Value, view: View) -> tuple[ir.Value, View]:
    """The source with zeros around it, so far that the view lies inside."""
    kind = ir.RankedTensorType(source.type)
    zero, lows, highs, axes = index_number(0), [], [], []
    for number, axis in enumerate(view.axes):
        low = arith.MaxSIOp(arith.SubIOp(zero, axis.offset).result, zero).result
        size = index_number(1) if axis.size is None else axis.size
        last = arith.SubIOp(size, index_number(1)).result
        if axis.stride is not None:
            last = arith.MulIOp(last, axis.stride).result
        end = arith.AddIOp(arith.AddIOp(axis.offset, last).result, index_number(1)).result
        length = tensor.DimOp(source, index_number(number)).result
        lows.append(low)
        highs.append(arith.MaxSIOp(arith.SubIOp(end, length).result, zero).result)
        axes.append(Axis(arith.AddIOp(axis.offset, low).result, axis.size, axis.stride, axis.terms))
    rank = kind.rank
    dynamic = [ir.ShapedType.get_dynamic_size()] * rank
    made = ir.RankedTensorType.get(dynamic, kind.element_type)
    pad = tensor.PadOp(made, source, lows, highs, dynamic, dynamic)
    block = pad.regions[0].blocks.append(*[ir.IndexType.get()] * rank)
    with ir.InsertionPoint(block):
        tensor.YieldOp(constant(kind.element_type, 0))
    return pad.result, View(tuple(axes))
