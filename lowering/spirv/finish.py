"""What the conversion to SPIR-V leaves open: atomics, what barriers order, and exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.errors import PassError
from pykern.lowering.spirv.memory import ATOMIC, EXPECTED
from pykern.passes.framework import Pass
from pykern.passes.kernels import find, named, replace

_KINDS = {
    "add": "AtomicIAdd", "sub": "AtomicISub", "min": "AtomicSMin", "max": "AtomicSMax", "umin": "AtomicUMin",
    "umax": "AtomicUMax", "and": "AtomicAnd", "or": "AtomicOr", "xor": "AtomicXor", "exchange": "AtomicExchange",
}  # fmt: skip
_EXACT = ("spirv.FAdd", "spirv.FSub", "spirv.FMul")


@dataclass(frozen=True)
class FinishSpirv(Pass):
    """Atomics in place of their stand-ins, barriers that order the arrays too, no contraction.

    In:  spirv.module from `convert-gpu-to-spirv`.
    Out: spirv.Atomic…; barriers over all memory of the group; on Vulkan additions and multiplications
         decorated NoContraction: products are contracted before, or not.
    """

    name: ClassVar[str] = "kern-finish-spirv"
    vulkan: bool = False

    def run(self, module: ir.Module) -> None:
        converted = named(module.operation, "spirv.module")[
            0
        ]  # the gpu.module it came from may stand beside it
        for op in find(converted, _is_stand_in):
            with ir.InsertionPoint(op), op.location:
                made = _atomic(op)
            parts = [v.owner.operation for v in op.operands if not isinstance(v.owner, ir.Block)]
            replace(op, [made])
            for part in parts:
                if part.name == "spirv.Load" or EXPECTED in part.attributes:
                    _erase_unused(part)
        memory = "UniformMemory" if self.vulkan else "CrossWorkgroupMemory"
        for op in named(converted, "spirv.ControlBarrier"):
            op.attributes["memory_semantics"] = ir.Attribute.parse(
                f"#spirv.memory_semantics<AcquireRelease|WorkgroupMemory|{memory}>"
            )
        if self.vulkan:
            for op in named(converted, *_EXACT):
                op.attributes["no_contraction"] = ir.UnitAttr.get()


def _erase_unused(op: ir.Operation) -> None:
    if not list(op.results[0].uses):
        op.erase()


def _is_stand_in(op: ir.Operation) -> bool:
    return op.name == "spirv.BitwiseXor" and ATOMIC in op.attributes


def _atomic(op: ir.Operation) -> ir.Value:
    kind = ir.StringAttr(op.attributes[ATOMIC]).value
    load, value = op.operands[0].owner.operation, op.operands[1]
    if load.name != "spirv.Load":
        raise PassError(f"an atomic's cell is `{load.name}`, not a load")
    pointer = load.operands[0]
    shared = str(pointer.type).endswith(", Workgroup>")
    scope = ir.Attribute.parse("#spirv.scope<Workgroup>" if shared else "#spirv.scope<Device>")
    relaxed = ir.Attribute.parse("#spirv.memory_semantics<None>")
    if kind != "cas":
        return ir.Operation.create(
            f"spirv.{_KINDS[kind]}", results=[value.type], operands=[pointer, value],
            attributes={"memory_scope": scope, "semantics": relaxed},
        ).result  # fmt: skip
    expected, desired = value.owner.operation.operands
    return ir.Operation.create(
        "spirv.AtomicCompareExchange", results=[value.type], operands=[pointer, desired, expected],
        attributes={"memory_scope": scope, "equal_semantics": relaxed, "unequal_semantics": relaxed},
    ).result  # fmt: skip
