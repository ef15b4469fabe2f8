"""What a program's kernels may rely on, beyond what is asked for any of them.

Comes in: a program on buffers that launches kernels, and its target, whose options tell what is true of the
program's arguments and results. Goes out: for each kernel the target with what is true of all of its launches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from mlir import ir

from pykern.data.abi import SMALL_COUNT
from pykern.data.target import Target
from pykern.passes.ir.memory import bytes_of
from pykern.passes.ir.values import defining
from pykern.passes.kernels import is_constant, named

POSITIONS = 1 << 31
BYTES = 16
_SAME_BEGIN = ("memref.cast", "memref.collapse_shape", "memref.expand_shape")
_OWN_MEMORY = ("memref.alloc", "memref.alloca", "memref.get_global")


def targets(program: ir.Operation, target: Target) -> dict[str, Target]:
    """The target of each kernel, by symbol."""
    small = target.small and _is_small(program)
    launches = [launch.opview for launch in named(program, "kern.launch")]
    aligned = dict.fromkeys((launch.kernel for launch in launches), target.aligned)
    for launch in launches:
        arrays = (v for v in launch.call.operands if isinstance(v.type, ir.MemRefType))
        aligned[launch.kernel] &= all(map(_is_aligned, arrays))
    return {kernel: replace(target, aligned=told, small=small) for kernel, told in aligned.items()}


def _is_small(program: ir.Operation) -> bool:
    """Whether positions in all buffers, and numbers of all work-items, fit in 32 bits."""
    counts = [n for launch in named(program, "kern.launch") for n in launch.opview.ndrange]
    values = [*program.regions[0].blocks[0].arguments, *_made(program)]
    kinds = [ir.MemRefType(v.type) for v in values if isinstance(v.type, ir.MemRefType)]
    lengths = all(kind.has_static_shape and math.prod(kind.shape) < POSITIONS for kind in kinds)
    return lengths and all(n <= SMALL_COUNT for n in counts)


def _made(program: ir.Operation) -> Iterable[ir.Value]:
    return (op.results[0] for op in named(program, *_OWN_MEMORY))


def _is_aligned(value: ir.Value) -> bool:
    """Whether an array begins at a multiple of 16 bytes, where the program's arguments do."""
    op = defining(value)
    if op is None:
        return value.owner.owner.operation.name == "func.func"
    if op.name in _OWN_MEMORY:
        return True
    if op.name in _SAME_BEGIN:
        return _is_aligned(op.operands[0])
    if op.name == "memref.view":
        shift = is_constant(op.operands[1])
        return shift is not None and shift % BYTES == 0 and _is_aligned(op.operands[0])
    return op.name == "memref.subview" and _keeps_alignment(op) and _is_aligned(op.operands[0])


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
