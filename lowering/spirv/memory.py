"""Shared and private memory, and atomics, in a form that the conversion to SPIR-V takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref

from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace

ATOMIC = "kern.atomic"
"""Attribute of a stand-in: an xor of the loaded cell and the value, of which `kern-finish-spirv` makes an atomic."""
EXPECTED = "kern.expected"
MAX_SHARED = 32 * 1024
"""Bytes that every device has; shared memory sized at launch takes what is left of it."""


@dataclass(frozen=True)
class LowerSpirvMemory(Pass):
    """Put buffers into storage classes, and stand-ins where atomics are.

    In:  flat kernels with kern.shared, kern.private, kern.atomic_rmw, kern.atomic_cas.
    Out: memref.alloc in Workgroup, memref.alloca in Function memory; for each atomic a load of the cell
         and `spirv.BitwiseXor` marked `kern.atomic`. SPIR-V ops pass through the conversion as they are, memrefs
         do not mix with them: the load is what carries the cell's pointer across.
    """

    name: ClassVar[str] = "kern-lower-spirv-memory"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            used = 0
            for op in named(kernel, "kern.shared"):
                used += _bytes(ir.MemRefType(op.result.type))
                _buffer(op, "Workgroup", memref.AllocOp)
            for op in named(kernel, "kern.private"):
                _buffer(op, "Function", memref.AllocaOp)
            for op in named(kernel, "kern.dynamic_shared"):
                element = ir.MemRefType(op.result.type).element_type
                used_up = (MAX_SHARED - used) // max(1, element.width // 8)
                _buffer(op, "Workgroup", memref.AllocOp, length=used_up)
            for op in named(kernel, "kern.atomic_rmw", "kern.atomic_cas"):
                with ir.InsertionPoint(op), op.location:
                    replace(op, [_stand_in(op)])


def _bytes(kind: ir.MemRefType) -> int:
    return kind.shape[0] * max(1, kind.element_type.width // 8)


def shared_bytes(kernel: ir.Operation) -> int:
    """Static shared memory of a group, in bytes."""
    return sum(_bytes(ir.MemRefType(op.result.type)) for op in named(kernel, "kern.shared"))


def _buffer(op: ir.Operation, space: str, made: type, length: int | None = None) -> None:
    """An array of a storage class; of no elements is none in SPIR-V, so it gets one."""
    old = ir.MemRefType(op.result.type)
    count = max(1, old.shape[0] if length is None else length)
    space_attribute = ir.Attribute.parse(f"#spirv.storage_class<{space}>")
    kind = ir.MemRefType.get([count], old.element_type, memory_space=space_attribute)
    with ir.InsertionPoint(op), op.location:
        buffer = made(kind, [], []).result
    replace(op, [buffer])


def _stand_in(op: ir.Operation) -> ir.Value:
    at = 1 if op.name == "kern.atomic_rmw" else 2
    memory, place = list(op.operands)[at:]
    stored = ir.MemRefType(memory.type).element_type
    if stored.width not in (32, 64):
        raise TargetError(
            f"SPIR-V has no atomics of {stored.width} bits", span_of(op.location), "use an array of 32 bits"
        )
    values = list(op.operands)[:at]
    if at == 1:
        kind = ir.StringAttr(op.attributes["kind"]).value
        value = values[0]
    else:
        kind = "cas"
        value = _xor(values[0], values[1], EXPECTED, "")
    cell = memref.LoadOp(memory, [place]).result
    return _xor(cell, value, ATOMIC, kind)


def _xor(a: ir.Value, b: ir.Value, mark: str, text: str) -> ir.Value:
    return ir.Operation.create(
        "spirv.BitwiseXor", results=[a.type], operands=[a, b], attributes={mark: ir.StringAttr.get(text)}
    ).result
