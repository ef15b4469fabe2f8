"""Which arrays of a program begin at a multiple of 16 bytes, the widest access of a work-item.

Comes in: an array of a program on buffers. Goes out: whether it does, where the program's arguments do.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.ir.memory import SAME_ELEMENTS, bytes_of
from pykern.passes.ir.values import defining
from pykern.passes.kernels import is_constant

BYTES = 16
OWN_MEMORY = ("memref.alloc", "memref.alloca", "memref.get_global")
"""Operations that make memory, or name some of the program's own."""


def is_aligned(value: ir.Value) -> bool:
    """Whether an array begins at a multiple of 16 bytes, where the program's arguments do."""
    op = defining(value)
    if op is None:
        return value.owner.owner.operation.name == "func.func"
    if op.name in OWN_MEMORY:
        return True
    if op.name in SAME_ELEMENTS:
        return is_aligned(op.operands[0])
    if op.name == "memref.view":
        shift = is_constant(op.operands[1])
        return shift is not None and shift % BYTES == 0 and is_aligned(op.operands[0])
    return op.name == "memref.subview" and _keeps_alignment(op) and is_aligned(op.operands[0])


def _keeps_alignment(view: ir.Operation) -> bool:
    kind = ir.MemRefType(view.operands[0].type)
    strides, _ = kind.get_strides_and_offset()
    size = bytes_of(ir.MemRefType.get([1], kind.element_type))
    for at, stride in zip(ir.DenseI64ArrayAttr(view.attributes["static_offsets"]), strides, strict=True):
        if stride == ir.ShapedType.get_dynamic_stride_or_offset():
            return False
        step = stride * size if ir.ShapedType.is_dynamic_size(at) else at * stride * size
        if step % BYTES:
            return False
    return True
