"""Loads, stores and atomics of an array that lies flat in memory: one position in place of indices.

Comes in: an access and the array as a `FlatArray`. Goes out: the same on memory of rank 1. Read next: `flat_memory`,
which makes the arrays flat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.data.abi import SMALL_COUNT, SMALL_STEP
from pykern.dialect import attributes as kern
from pykern.lowering.gpu.integer_elements import IntegerElement
from pykern.lowering.gpu.stored_elements import from_memory, to_memory
from pykern.passes import kernels
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import (
    MEMORY_OPERAND,
    index_constant,
    replace,
)


@dataclass
class FlatArray:
    """An array as the device has it; `element` is what the kernel computes with."""

    memory: ir.Value
    offset: ir.Value | None
    lengths: list[ir.Value]
    strides: list[ir.Value]
    element: ir.Type
    words: bool = False
    """Kept in words that atomics change, see `integer_elements`."""
    small: bool = False
    dense: bool = False
    """Whether no stride is negative: then no sum on the way to a position is larger than it."""
    products_last: bool = False


def _position(flat: FlatArray, indices: list[ir.Value]) -> ir.Value:
    if flat.small and (flat.words or any(kernels.is_constant(stride) is None for stride in flat.strides)):
        return _small_position(flat, indices)  # else there is nothing to gain
    place = flat.offset
    for index, stride in zip(indices, flat.strides, strict=True):
        term = index if _is_one(stride) else arith.MulIOp(index, stride).result
        place = term if place is None else arith.AddIOp(place, term).result
    return index_constant(0) if place is None else place


def _small_position(flat: FlatArray, indices: list[ir.Value]) -> ir.Value:
    """The low 32 bits decide: the position of an element that is there is what they say, with its sign.

    Constants in indices (``x[i + 1, j - 1]``) are added last, so that neighbours share what comes before them.
    """
    i32 = ir.IntegerType.get_signless(32)
    wraps, stays = arith.IntegerOverflowFlags.none, arith.IntegerOverflowFlags.nsw
    split = [(*_constant_part(index), stride) for index, stride in zip(indices, flat.strides, strict=True)]
    near = sum(number for _, number, stride in split if _is_one(stride))
    far = [(number, stride) for _, number, stride in split if number and not _is_one(stride)]
    last = stays if flat.dense and abs(near) < SMALL_STEP else wraps
    fits = wraps if far else last

    def low(value: ir.Value) -> ir.Value:
        return arith.IndexCastOp(i32, value).result

    def times(value: ir.Value, stride: ir.Value) -> ir.Value:
        return value if _is_one(stride) else arith.MulIOp(value, low(stride), overflowFlags=fits).result

    def plus(place: ir.Value | None, term: ir.Value, flags: arith.IntegerOverflowFlags = fits) -> ir.Value:
        return term if place is None else arith.AddIOp(place, term, overflowFlags=flags).result

    place = None if flat.offset is None else low(flat.offset)
    if flat.products_last:
        split.sort(key=lambda term: not _is_one(term[2]))
    for index, _, stride in split:
        place = plus(place, times(low(index), stride))
    for number, stride in far:
        place = plus(place, times(arith.ConstantOp(i32, number).result, stride))
    if near:
        place = plus(place, arith.ConstantOp(i32, near).result, last)
    if place is None:
        return index_constant(0)
    position = arith.IndexCastOp(ir.IndexType.get(), place)
    if flat.offset is not None or flat.words:  # a pointer may be to the last element, before which others are
        position.operation.attributes[kern.RANGE] = ir.DenseI64ArrayAttr.get([0, SMALL_COUNT])
    return position.result


def _constant_part(index: ir.Value) -> tuple[ir.Value, int]:
    """An index as a value and a number that is added to it."""
    made = made_by(index, "arith.addi", "arith.subi")
    if made is not None:
        number = kernels.is_constant(made.operands[1])
        if number is not None and abs(number) < SMALL_COUNT:
            return made.operands[0], number if made.name == "arith.addi" else -number
    return index, 0


def _is_one(stride: ir.Value) -> bool:
    return kernels.is_constant(stride) == 1


def _load(op: ir.Operation, flat: FlatArray) -> None:
    place = _position(flat, list(op.operands)[1:])
    if flat.words:
        replace(op, [from_memory(_integer_element(flat, place).load(), flat.element)])
    else:
        replace(op, [from_memory(memref.LoadOp(flat.memory, [place]).result, flat.element)])


def _store(op: ir.Operation, flat: FlatArray) -> None:
    place = _position(flat, list(op.operands)[2:])
    if flat.words:
        element = _integer_element(flat, place)
        element.store(to_memory(op.operands[0], element.element))
    else:
        value = to_memory(op.operands[0], ir.MemRefType(flat.memory.type).element_type)
        memref.StoreOp(value, flat.memory, [place])
    op.erase()


def _integer_element(flat: FlatArray, place: ir.Value) -> IntegerElement:
    """An element in a word; a bool takes a byte of it."""
    is_bool = isinstance(flat.element, ir.IntegerType) and flat.element.width == 1
    return IntegerElement(flat.memory, place, ir.IntegerType.get_signless(8) if is_bool else flat.element)


def _atomic(op: ir.Operation, flat: FlatArray) -> None:
    at = MEMORY_OPERAND[op.name]
    values, place = list(op.operands)[:at], _position(flat, list(op.operands)[at + 1 :])
    if flat.words:
        element = IntegerElement(flat.memory, place, flat.element)
        if op.name == "kern.atomic_cas":
            replace(op, [element.exchange_if(*values)])
        else:
            replace(op, [element.change(ir.StringAttr(op.attributes["kind"]).value, values[0])])
        return
    replace(op, _with_operands(op, [*values, flat.memory, place]))


def _load_several(op: ir.Operation, flat: FlatArray) -> None:
    """A load of more than one element, which stays what it is."""
    place = _position(flat, list(op.operands)[1:])
    replace(op, _with_operands(op, [flat.memory, place]))


def _store_words(op: ir.Operation, flat: FlatArray) -> None:
    _, place, *words = op.operands
    replace(op, _with_operands(op, [flat.memory, _position(flat, [place]), *words]))


def _copy_async(op: ir.Operation, flat: FlatArray) -> None:
    """Either end of a copy: both memories are rewritten, one after the other."""
    count, target, place, source, *indices = op.operands
    if "<workgroup>" in str(flat.memory.type):
        target, place = flat.memory, _position(flat, [place])
    else:
        source, indices = flat.memory, [_position(flat, indices)]
    replace(op, _with_operands(op, [count, target, place, source, *indices]))


def _with_operands(op: ir.Operation, operands: list[ir.Value]) -> list[ir.Value]:
    """The results of the op once more, with other operands."""
    attributes = {name: op.attributes[name] for name in op.attributes.keys()}  # noqa: SIM118
    kinds = [r.type for r in op.results]
    return list(ir.Operation.create(op.name, results=kinds, operands=operands, attributes=attributes).results)


ACCESSES: dict[str, Callable[[ir.Operation, FlatArray], None]] = {
    "memref.load": _load,
    "memref.store": _store,
    "kern.atomic_rmw": _atomic,
    "kern.atomic_cas": _atomic,
    "kern.load_matrices": _load_several,
    "kern.load_words": _load_several,
    "kern.store_words": _store_words,
    "kern.copy_async": _copy_async,
}
