"""Stacks of loop states: a tensor with one more dimension, written and read by place."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.passes.autodiff.tensor.values import element, is_tensor, shape
from pykern.passes.ir.lengths import Number, as_value, empty


def stack_type(length: Number, type: ir.Type) -> ir.RankedTensorType:
    """The type of `length` values of `type`; of one where they have no elements."""
    first = length if isinstance(length, int) else ir.ShapedType.get_dynamic_size()
    first = 1 if _is_empty(type) else first
    sizes = list(type.shape) if isinstance(type, ir.RankedTensorType) else []
    return ir.RankedTensorType.get([first, *sizes], _stored(element(type)))


def _stored(kind: ir.Type) -> ir.Type:
    """The type of an element in memory: a bool is a byte."""
    return ir.IntegerType.get_signless(8) if _is_bool(kind) else kind


def _is_bool(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IntegerType) and kind.width == 1


def _is_empty(type: ir.Type) -> bool:
    return isinstance(type, ir.RankedTensorType) and 0 in type.shape


def push(stack: ir.Value, value: ir.Value, place: Number) -> ir.Value:
    """The stack with `value` at `place`."""
    if not is_tensor(value):
        value = arith.extui(_stored(value.type), value) if _is_bool(value.type) else value
        return tensor.insert(value, stack, [as_value(place)])
    if _is_empty(value.type):
        return stack
    return tensor.insert_slice(value, stack, [as_value(place)], [], [], *_slice(shape(value)))


def peek(stack: ir.Value, place: Number, type: ir.Type) -> ir.Value:
    """The value of `type` at `place`."""
    if not isinstance(type, ir.RankedTensorType):
        kept = tensor.extract(stack, [as_value(place)])
        return arith.trunci(type, kept) if _is_bool(type) else kept
    if _is_empty(type):
        return empty(list(type.shape), element(type))
    return tensor.extract_slice(type, stack, [as_value(place)], [], [], *_slice(list(type.shape)))


def _slice(sizes: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Static offsets, sizes and strides of one entry."""
    dynamic = ir.ShapedType.get_dynamic_size()
    return [dynamic, *[0] * len(sizes)], [1, *sizes], [1] * (len(sizes) + 1)
