"""Where arrays lie and how large they are, as index values at the insertion point."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.ir.clone import rematerialise
from pykern.passes.kernels import index_constant
from pykern.passes.vectorize.accesses import LoopAccess


def address(access: LoopAccess, loop: ir.Operation, iv: ir.Value) -> ir.Value:
    """The address that `access` touches in the iteration `iv`."""
    known: dict[ir.Value, ir.Value] = {loop.opview.induction_variable: iv}
    indices = [rematerialise(index, loop, known) for index in access.indices]
    base = memref.ExtractAlignedPointerAsIndexOp(access.memory).result
    metadata = list(memref.ExtractStridedMetadataOp(access.memory).results)
    position, strides = metadata[1], metadata[2 + len(indices) :]
    for index, stride in zip(indices, strides, strict=True):
        position = arith.AddIOp(position, arith.MulIOp(index, stride).result).result
    return arith.AddIOp(base, arith.MulIOp(position, index_constant(access.size)).result).result


def is_multiple(value: ir.Value, power: int) -> ir.Value:
    """Whether `value` is a multiple of a power of two."""
    low = arith.AndIOp(value, index_constant(power - 1)).result
    return arith.CmpIOp(arith.CmpIPredicate.eq, low, index_constant(0)).result


def static_bytes(arrays: list[ir.Value]) -> int | None:
    """The size of all arrays together where it is known."""
    total = 0
    for array in arrays:
        kind = ir.MemRefType(array.type)
        if not kind.has_static_shape:
            return None
        elements = 1
        for length in kind.shape:
            elements *= length
        total += elements * _bytes(kind.element_type)
    return total


def _bytes(kind: ir.Type) -> int:
    """Bytes of an element; an index is a machine word."""
    return 8 if isinstance(kind, ir.IndexType) else kind.width // 8


def total_bytes(arrays: list[ir.Value]) -> ir.Value:
    """The size of all arrays together."""
    total: ir.Value | None = None
    for array in arrays:
        kind = ir.MemRefType(array.type)
        size = index_constant(_bytes(kind.element_type))
        for dim in range(kind.rank):
            size = arith.MulIOp(size, memref.DimOp(array, index_constant(dim)).result).result
        total = size if total is None else arith.AddIOp(total, size).result
    return index_constant(0) if total is None else total
