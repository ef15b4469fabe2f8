"""The adjoints of data movement: what is cut out is added in, what is put in is cut out.

A part is always read before the tensor around it is overwritten, so that bufferization need not copy.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from pykern.passes.autodiff.rules.gates import gate_constant
from pykern.passes.autodiff.tensor import gates
from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output, add, elementwise
from pykern.passes.autodiff.tensor.cotangents import Cotangents, Hollow, zero
from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.values import affine, constant, element, full, is_tensor, shape
from pykern.passes.ir.boxes import box_of
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.lengths import as_value, empty, sizes_of

_STATIC = ("static_offsets", "static_sizes", "static_strides")


def extract_slice(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    source, result = op.operands[0], op.results[0]
    gate, known = cotangents.gate(result), cotangents.gate(source)
    part = cotangents.take(result)
    whole = cotangents.take(source)
    if whole is None:
        gate = gates.moved(gate, lambda bits: _put_like(op, bits, _nowhere(source, scope), scope, first=1))
        whole = zero(source, scope)
    else:
        if gate is not None and known is not None:
            gate = _opened(op, gate, known, scope)
        else:
            gate = None
        part = add(_cut_like(op, whole, result.type, scope, first=1), part)
    cotangents.add(source, _put_like(op, part, whole, scope, first=1), gate)


def _opened(op: ir.Operation, gate: gates.Gate, known: gates.Gate, scope: Scope) -> gates.Gate:
    """The gate `known` of a tensor, open as well where `gate`, that of a slice, is."""

    def made() -> ir.Value:
        part, whole = gate(), known()
        there = _cut_like(op, whole, gates.like_bytes(op.results[0].type), scope, first=1)
        return _put_like(op, elementwise(arith.ori, [there, part], there), whole, scope, first=1)

    return made


def insert_slice(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    source, destination = op.operands[0], op.operands[1]
    gate, whole = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    assert whole is not None
    if source in cotangents.varied:
        part = _cut_like(op, whole, source.type, scope, first=2)
        cotangents.add(source, part, _part(gate, source.type, lambda: _places(op, scope, first=2)))

    def left() -> ir.Value:
        with op.location:
            part = _cut_like(op, whole, source.type, scope, first=2)
            zeros = linalg.fill(constant(element(part.type), 0.0), outs=[part])
            return _put_like(op, zeros, whole, scope, first=2)

    def open_around() -> ir.Value:
        """The gate of the overwritten tensor: closed in the part that is overwritten."""
        bits = gates.emitted(gate, whole)
        return _put_like(op, _nowhere(source, scope), bits, scope, first=2)

    cotangents.add_hollow(destination, Hollow(whole, box_of(op), left), open_around)


def _nowhere(value: ir.Value, scope: Scope) -> ir.Value:
    """The gate of a tensor like a primal one to which nothing flows."""
    static = ir.RankedTensorType(value.type).has_static_shape
    return gates.closed(shape(value) if static else sizes_of(scope.value(value)))


def extract(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    source, places = op.operands[0], [scope.value(place) for place in list(op.operands)[1:]]
    gate, known = cotangents.gate(op.results[0]), cotangents.gate(source)
    part = cotangents.take(op.results[0])
    whole = cotangents.take(source)

    def opened() -> ir.Value:
        assert gate is not None
        bits = _nowhere(source, scope) if known is None else known()
        bit = gates.as_byte(gate())
        if known is not None:
            bit = arith.ori(tensor.extract(bits, places), bit)
        return tensor.insert(bit, bits, places)

    under_gates = gate is not None and (whole is None or known is not None)
    if whole is not None:
        part = arith.addf(tensor.extract(whole, places), part)
    else:
        whole = zero(source, scope)
    cotangents.add(source, tensor.insert(part, whole, places), opened if under_gates else None)


def chooses_tensors(op: ir.Operation) -> bool:
    """Whether a condition chooses between whole tensors: what canonicalization makes of a small branch."""
    return op.name == "arith.select" and isinstance(op.results[0].type, ir.ShapedType)


def select(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    """A choice between whole tensors: what was not chosen gets zero."""
    condition, chosen, other = op.operands
    gate, whole = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    nothing = zero(op.results[0], scope)
    test = scope.value(condition)
    for value, side in ((chosen, True), (other, False)):
        pair = (whole, nothing) if side else (nothing, whole)
        mine = _elements(test, side) if is_tensor(condition) else gates.everywhere(test, value, side)
        cotangents.add(value, arith.SelectOp(test, *pair).result, gates.both(gate, mine))


def _elements(condition: ir.Value, side: bool) -> gates.Gate:
    """Where a tensor of conditions is as `side` says."""
    return lambda: _bytes(condition, side)


def _bytes(condition: ir.Value, side: bool) -> ir.Value:
    into = empty(sizes_of(condition), gates.byte())
    return elementwise(
        lambda b: gates.as_byte(b if side else arith.xori(b, gate_constant(True))), [condition], into
    )


def insert(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    number, destination = op.operands[0], op.operands[1]
    places = [scope.value(place) for place in list(op.operands)[2:]]
    gate, whole = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    if number in cotangents.varied:
        open = gates.moved(gate, lambda bits: gates.as_bit(tensor.extract(bits, places)))
        cotangents.add(number, tensor.extract(whole, places), open)

    def open_around() -> ir.Value:
        """The gate of the overwritten tensor: closed in the part that is overwritten."""
        bits = gates.emitted(gate, whole)
        return tensor.insert(arith.constant(gates.byte(), 0), bits, places)

    if destination in cotangents.varied:
        none = constant(number.type, 0.0)
        cotangents.add(destination, tensor.insert(none, whole, places), open_around)


def pad(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    source, block = op.operands[0], op.regions[0].blocks[0]
    gate, whole = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    if any(value in cotangents.varied for value in terminator_operands(block)):
        raise refused(op, "padding with a value that is differentiated has no rule")
    if source not in cotangents.varied:
        return
    low = list(op.attributes["static_low"])
    if ir.ShapedType.get_dynamic_size() in low:
        raise refused(op, "padding by an amount known at run time has no rule")
    type = ir.RankedTensorType.get(shape(source), element(source.type))
    places = [[], [], [], low, shape(source), [1] * len(low)]
    cotangents.add(source, tensor.extract_slice(type, whole, *places), _part(gate, type, lambda: places))


def expand_shape(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    def back(part: ir.Value, type: ir.Type) -> ir.Value:
        return tensor.CollapseShapeOp(type, part, op.attributes["reassociation"]).result

    _reshaped(op, cotangents, back)


def collapse_shape(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    def back(part: ir.Value, type: ir.Type) -> ir.Value:
        return tensor.ExpandShapeOp(
            type, part, op.attributes["reassociation"], [], shape(op.operands[0])
        ).result

    _reshaped(op, cotangents, back)


def _reshaped(
    op: ir.Operation, cotangents: Cotangents, back: Callable[[ir.Value, ir.Type], ir.Value]
) -> None:
    """The cotangent reshaped to the operand's shape, and its gate."""
    type = op.operands[0].type
    gate, part = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    assert part is not None
    open = gates.moved(gate, lambda bits: back(bits, gates.like_bytes(type)))
    cotangents.add(op.operands[0], back(part, type), open)


def reshape(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    def back(part: ir.Value, type: ir.Type) -> ir.Value:
        sizes = shape(op.operands[0])
        list_type = ir.RankedTensorType.get([len(sizes)], ir.IndexType.get())
        wanted = arith.constant(list_type, ir.DenseElementsAttr.get([_index(n) for n in sizes], list_type))
        return tensor.reshape(type, part, wanted)

    _reshaped(op, cotangents, back)


def cast(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    _reshaped(op, cotangents, lambda part, type: tensor.cast(type, part))


def from_elements(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    gate, whole = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    sizes = shape(op.results[0])
    for place, number in enumerate(op.operands):
        if number in cotangents.varied:
            at = []
            for size in reversed(sizes):
                place, last = divmod(place, size)
                at.insert(0, as_value(last))
            open = gates.moved(gate, lambda bits, at=at: gates.as_bit(tensor.extract(bits, at)))
            cotangents.add(number, tensor.extract(whole, at), open)


def splat(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    gate, whole = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    assert whole is not None
    open = gates.moved(gate, lambda bits: gates.as_bit(_joined(bits)))
    cotangents.add(op.operands[0], _joined(whole), open)


def _joined(whole: ir.Value) -> ir.Value:
    """The sum of all elements; for gates (bits) whether any is set."""
    rank = len(shape(whole))
    builder = GenericBuilder(rank)
    with builder.body:
        part = builder.input(whole, ir.AffineMap.get_identity(rank))
    total = Output(full([], part.type, 0.0), affine(rank, []), part, accumulate=True)
    return tensor.extract(builder.finish([total])[0], [])


def concat(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    gate, whole = cotangents.gate(op.results[0]), cotangents.take(op.results[0])
    dim, start = ir.IntegerAttr(op.attributes["dim"]).value, 0
    for source in op.operands:
        sizes = shape(source)
        offsets = [start if d == dim else 0 for d in range(len(sizes))]
        if source in cotangents.varied:
            places = [[], [], [], offsets, sizes, [1] * len(sizes)]
            part = tensor.extract_slice(source.type, whole, *places)
            cotangents.add(source, part, _part(gate, source.type, lambda at=places: at))
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


def _part(gate: gates.MaybeGate, type: ir.Type, places: Callable[[], list]) -> gates.MaybeGate:
    """The gate of a slice of the type `type`."""
    return gates.moved(gate, lambda bits: gates.cut(bits, type, places()))


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
