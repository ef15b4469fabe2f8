"""A zero that no compiler of a driver can know: it is read from the slots of the launch.

Comes in: a flat kernel, whose last argument is a slot of the launch, or holds them all. Read next: `opaque_zeros`,
`loop_results`.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.kernels import index_constant


def unknown_zero(kernel: ir.Operation) -> ir.Value:
    """An i64, made at the insertion point: the sign of the last slot, a group's number or the position of an array."""
    block = kernels.body(kernel)
    slots = sum(ir.StringAttr(a).value == "slot" for a in ir.ArrayAttr(kernel.attributes[kern.ARGUMENTS]))
    last = block.arguments[len(block.arguments) - 1]
    if isinstance(last.type, ir.MemRefType):
        last = memref.LoadOp(last, [index_constant(slots - 1)]).result
    return arith.ShRUIOp(last, arith.ConstantOp(last.type, 63).result).result
