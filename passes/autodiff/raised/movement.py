"""The adjoints of data movement: what is cut out is added in, what is put in is cut out.

A part is always read before the tensor around it is overwritten, so that bufferization need not copy.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from pykern.passes.autodiff.raised.boxes import box_of
from pykern.passes.autodiff.raised.builder import GenericBuilder, Output, add
from pykern.passes.autodiff.raised.clone import terminator_operands
from pykern.passes.autodiff.raised.cotangents import Cotangents, Hollow, zero
from pykern.passes.autodiff.raised.refuse import refused
from pykern.passes.autodiff.raised.scope import Scope
from pykern.passes.autodiff.raised.values import affine, constant, element, full, index, shape

_STATIC = ("static_offsets", "static_sizes", "static_strides")


def extract_slice(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    source, result = op.operands[0], op.results[0]
    part = cotangents.take(result)
    whole = cotangents.take(source)
    if whole is not None:
        part = add(_cut_like(op, whole, result.type, scope, first=1), part)
    else:
        whole = zero(source, scope)
    cotangents.add(source, _put_like(op, part, whole, scope, first=1))


def insert_slice(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    source, destination = op.operands[0], op.operands[1]
    whole = cotangents.take(op.results[0])
    if source in cotangents.varied:
        cotangents.add(source, _cut_like(op, whole, source.type, scope, first=2))

    def left() -> ir.Value:
        with op.location:
            part = _cut_like(op, whole, source.type, scope, first=2)
            zeros = linalg.fill(constant(element(part.type), 0.0), outs=[part])
            return _put_like(op, zeros, whole, scope, first=2)

    cotangents.add_hollow(destination, Hollow(whole, box_of(op), left))


def extract(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    source, places = op.operands[0], [scope.value(place) for place in list(op.operands)[1:]]
    part = cotangents.take(op.results[0])
    whole = cotangents.take(source)
    if whole is not None:
        part = arith.addf(tensor.extract(whole, places), part)
    else:
        whole = zero(source, scope)
    cotangents.add(source, tensor.insert(part, whole, places))


def chooses_tensors(op: ir.Operation) -> bool:
    """Whether a condition chooses between whole tensors: what canonicalization makes of a small branch."""
    return op.name == "arith.select" and isinstance(op.results[0].type, ir.ShapedType)


def select(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    """A choice between whole tensors: what was not chosen gets zero."""
    condition, chosen, other = op.operands
    whole = cotangents.take(op.results[0])
    nothing = zero(op.results[0], scope)
    test = scope.value(condition)
    cotangents.add(chosen, arith.SelectOp(test, whole, nothing).result)
    cotangents.add(other, arith.SelectOp(test, nothing, whole).result)


def insert(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    number, destination = op.operands[0], op.operands[1]
    places = [scope.value(place) for place in list(op.operands)[2:]]
    whole = cotangents.take(op.results[0])
    if number in cotangents.varied:
        cotangents.add(number, tensor.extract(whole, places))
    if destination in cotangents.varied:
        cotangents.add(destination, tensor.insert(constant(number.type, 0.0), whole, places))


def pad(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    source, block = op.operands[0], op.regions[0].blocks[0]
    whole = cotangents.take(op.results[0])
    if any(value in cotangents.varied for value in terminator_operands(block)):
        raise refused(op, "padding with a value that is differentiated has no rule")
    if source not in cotangents.varied:
        return
    low = list(op.attributes["static_low"])
    if ir.ShapedType.get_dynamic_size() in low:
        raise refused(op, "padding by an amount known at run time has no rule")
    type = ir.RankedTensorType.get(shape(source), element(source.type))
    part = tensor.extract_slice(type, whole, [], [], [], low, shape(source), [1] * len(low))
    cotangents.add(source, part)


def expand_shape(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    part = cotangents.take(op.results[0])
    back = tensor.CollapseShapeOp(op.operands[0].type, part, op.attributes["reassociation"])
    cotangents.add(op.operands[0], back.result)


def collapse_shape(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    part, sizes = cotangents.take(op.results[0]), shape(op.operands[0])
    back = tensor.ExpandShapeOp(op.operands[0].type, part, op.attributes["reassociation"], [], sizes)
    cotangents.add(op.operands[0], back.result)


def reshape(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    part, sizes = cotangents.take(op.results[0]), shape(op.operands[0])
    type = ir.RankedTensorType.get([len(sizes)], ir.IndexType.get())
    wanted = arith.constant(type, ir.DenseElementsAttr.get([_index(n) for n in sizes], type))
    cotangents.add(op.operands[0], tensor.reshape(op.operands[0].type, part, wanted))


def cast(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    part = cotangents.take(op.results[0])
    cotangents.add(op.operands[0], tensor.cast(op.operands[0].type, part))


def from_elements(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    whole, sizes = cotangents.take(op.results[0]), shape(op.results[0])
    for place, number in enumerate(op.operands):
        if number in cotangents.varied:
            at = []
            for size in reversed(sizes):
                place, last = divmod(place, size)
                at.insert(0, index(last))
            cotangents.add(number, tensor.extract(whole, at))


def splat(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    whole, rank = cotangents.take(op.results[0]), len(shape(op.results[0]))
    builder = GenericBuilder(rank)
    with builder.body:
        part = builder.input(whole, ir.AffineMap.get_identity(rank))
    total = Output(full([], part.type, 0.0), affine(rank, []), part, accumulate=True)
    cotangents.add(op.operands[0], tensor.extract(builder.finish([total])[0], []))


def concat(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    whole = cotangents.take(op.results[0])
    dim, start = ir.IntegerAttr(op.attributes["dim"]).value, 0
    for source in op.operands:
        sizes = shape(source)
        offsets = [start if d == dim else 0 for d in range(len(sizes))]
        if source in cotangents.varied:
            part = tensor.extract_slice(source.type, whole, [], [], [], offsets, sizes, [1] * len(sizes))
            cotangents.add(source, part)
        start += sizes[dim]


RULES = {
    "tensor.extract_slice": extract_slice,
    "tensor.insert_slice": insert_slice,
    "tensor.extract": extract,
    "tensor.insert": insert,
    "tensor.pad": pad,
    "tensor.expand_shape": expand_shape,
    "tensor.collapse_shape": collapse_shape,
    "tensor.reshape": reshape,
    "tensor.cast": cast,
    "tensor.from_elements": from_elements,
    "tensor.splat": splat,
    "tensor.concat": concat,
}


def _index(number: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IndexType.get(), number)


def _cut_like(op: ir.Operation, whole: ir.Value, type: ir.Type, scope: Scope, first: int) -> ir.Value:
    """The part of `whole` that `op` moves."""
    return tensor.extract_slice(type, whole, *_places(op, scope, first))


def _put_like(op: ir.Operation, part: ir.Value, whole: ir.Value, scope: Scope, first: int) -> ir.Value:
    """`whole`, with `part` where `op` moves."""
    return tensor.insert_slice(part, whole, *_places(op, scope, first))


def _places(op: ir.Operation, scope: Scope, first: int) -> list:
    """Offsets, sizes and strides as the builders take them; they are operands from `first` on."""
    dynamic = [scope.value(place) for place in list(op.operands)[first:]]
    counts = list(op.attributes["operandSegmentSizes"])[first:]
    groups = [dynamic[sum(counts[:k]) : sum(counts[: k + 1])] for k in range(3)]
    return [*groups, *(list(op.attributes[name]) for name in _STATIC)]
