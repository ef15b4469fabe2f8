"""Shared and private memory, and atomics, in a form that the conversion to SPIR-V takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref

from pykern.dialect import attributes as kern
from pykern.lowering.gpu.limits import elements_left, shared_bytes
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace

ATOMIC = "kern.atomic"
"""Begin of the name of the locations that mark an atomic's parts: ``kern.atomic.<part>.<kind>.<number>``."""


@dataclass(frozen=True)
class LowerSpirvMemory(Pass):
    """Put buffers into storage classes, and stand-ins where atomics are.

    In:  flat kernels with kern.shared, kern.private, kern.atomic_rmw, kern.atomic_cas.
    Out: memref.alloc in Workgroup, memref.alloca in Function memory; for each atomic a load of the cell (the
         old value) and stores of the operands to it, marked by their locations: those pass through the
         conversion, which has no atomics on arrays of OpenCL and no compare-and-exchange, and nothing folds them.
         `kern.shared_bytes` is the static shared memory.
    """

    name: ClassVar[str] = "kern-lower-spirv-memory"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            used = shared_bytes(kernel)
            kernel.attributes[kern.SHARED_BYTES] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), used)
            for op in named(kernel, "kern.shared"):
                _buffer(op, "Workgroup", memref.AllocOp)
            for op in named(kernel, "kern.private"):
                _buffer(op, "Function", memref.AllocaOp)
            sized = named(kernel, "kern.dynamic_shared")
            for op in sized:
                length = elements_left(used, len(sized), ir.MemRefType(op.result.type).element_type)
                _buffer(op, "Workgroup", memref.AllocOp, length=length)
            for number, op in enumerate(named(kernel, "kern.atomic_rmw", "kern.atomic_cas")):
                with ir.InsertionPoint(op):
                    replace(op, [_stand_in(op, number)])


def _buffer(op: ir.Operation, space: str, made: type, length: int | None = None) -> None:
    """An array of a storage class; of no elements is none in SPIR-V, so it gets one."""
    old = ir.MemRefType(op.result.type)
    count = max(1, old.shape[0] if length is None else length)
    space_attribute = ir.Attribute.parse(f"#spirv.storage_class<{space}>")
    kind = ir.MemRefType.get([count], old.element_type, memory_space=space_attribute)
    with ir.InsertionPoint(op), op.location:
        buffer = made(kind, [], []).result
    replace(op, [buffer])


def _stand_in(op: ir.Operation, number: int) -> ir.Value:
    at = 1 if op.name == "kern.atomic_rmw" else 2
    memory, *places = list(op.operands)[at:]
    if len(places) != 1:
        raise kernels.comes_after(op, "atomics on flat arrays", "kern-flatten-memory")
    (place,) = places
    values = list(op.operands)[:at]
    kind = "cas" if at == 2 else ir.StringAttr(op.attributes["kind"]).value

    def marked(part: str) -> ir.Location:
        return ir.Location.name(f"{ATOMIC}.{part}.{kind}.{number}", op.location)

    with marked("old"):
        old = memref.LoadOp(memory, [place]).result
    for part, value in zip(("expected", "value")[-at:], values, strict=True):
        with marked(part):
            memref.StoreOp(value, memory, [place])
    return old
