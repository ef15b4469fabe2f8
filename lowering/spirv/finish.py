"""What the conversion to SPIR-V leaves open: atomics, what barriers order, and exact arithmetic."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.lowering.spirv.memory import ATOMIC
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace

_KINDS = {
    "add": "AtomicIAdd", "sub": "AtomicISub", "min": "AtomicSMin", "max": "AtomicSMax", "umin": "AtomicUMin",
    "umax": "AtomicUMax", "and": "AtomicAnd", "or": "AtomicOr", "xor": "AtomicXor", "exchange": "AtomicExchange",
}  # fmt: skip
_MARK = re.compile(re.escape(ATOMIC) + r"\.(old|expected|value)\.(\w+)\.(\d+)")
_EXACT = ("spirv.FAdd", "spirv.FSub", "spirv.FMul")


@dataclass(frozen=True)
class FinishSpirv(Pass):
    """Atomics in place of what marks them, barriers that order the arrays too, no contraction.

    In:  spirv.module from `convert-gpu-to-spirv`.
    Out: spirv.Atomic…; barriers over all memory of the group; on Vulkan additions and multiplications
         decorated NoContraction: products are contracted before, or not.
    """

    name: ClassVar[str] = "kern-finish-spirv"
    vulkan: bool = False

    def run(self, module: ir.Module) -> None:
        for converted in named(module.operation, "spirv.module"):
            self._finish(converted)

    def _finish(self, converted: ir.Operation) -> None:
        for parts in _atomics(converted):
            _make(parts)
        memory = "UniformMemory" if self.vulkan else "CrossWorkgroupMemory"
        for op in named(converted, "spirv.ControlBarrier"):
            op.attributes["memory_semantics"] = ir.Attribute.parse(
                f"#spirv.memory_semantics<AcquireRelease|WorkgroupMemory|{memory}>"
            )
        if self.vulkan:
            for op in named(converted, *_EXACT):
                op.attributes["no_contraction"] = ir.UnitAttr.get()


@dataclass
class _Atomic:
    """The parts of one atomic: operations that carry its cell and its operands."""

    kind: str
    parts: dict[str, ir.Operation]


def _atomics(module: ir.Operation) -> list[_Atomic]:
    """What the marked locations tell."""
    found: dict[str, _Atomic] = {}
    for op in named(module, "spirv.Load", "spirv.Store"):
        mark = _MARK.search(str(op.location))
        if mark is not None:
            part, kind, number = mark.groups()
            found.setdefault(number, _Atomic(kind, {})).parts[part] = op
    return list(found.values())


def _make(atomic: _Atomic) -> None:
    """The atomic in place of its parts. The load may be gone: then nobody wants the old value."""
    last = atomic.parts["value"]
    pointer, value = last.operands
    shared = str(pointer.type).endswith(", Workgroup>")
    scope = ir.Attribute.parse("#spirv.scope<Workgroup>" if shared else "#spirv.scope<Device>")
    relaxed = ir.Attribute.parse("#spirv.memory_semantics<None>")
    with ir.InsertionPoint(last), last.location:
        if atomic.kind == "cas":
            made = ir.Operation.create(
                "spirv.AtomicCompareExchange",
                results=[value.type],
                operands=[pointer, value, atomic.parts["expected"].operands[1]],
                attributes={"memory_scope": scope, "equal_semantics": relaxed, "unequal_semantics": relaxed},
            )
        else:
            made = ir.Operation.create(
                f"spirv.{_KINDS[atomic.kind]}",
                results=[value.type],
                operands=[pointer, value],
                attributes={"memory_scope": scope, "semantics": relaxed},
            )
    old = atomic.parts.pop("old", None)
    if old is not None:
        replace(old, [made.result])
    for part in atomic.parts.values():
        part.erase()
