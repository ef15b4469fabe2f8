"""What AMD's backend is told of kernels and atomics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.kernels import find, named

NOT_NEEDED = ("implicitarg-ptr", "dispatch-ptr", "dispatch-id", "queue-ptr", "hostcall-ptr", "heap-ptr",
              "multigrid-sync-arg", "default-queue", "completion-action", "lds-kernel-id")  # fmt: skip
ORDINARY = ("rocdl.no_fine_grained_memory", "rocdl.no_remote_memory", "rocdl.ignore_denormal_mode")


@dataclass(frozen=True)
class DescribeKernels(Pass):
    """Say which implicit arguments kernels do without, and that atomics change ordinary device memory.

    In:  llvm.func from `convert-gpu-to-rocdl`. Out: the same with attributes: no word is passed that nobody reads,
         and floats are added atomically by an instruction where the chip has one.
    """

    name: ClassVar[str] = "kern-describe-kernels"

    def run(self, module: ir.Module) -> None:
        for kernel in find(
            module.operation, lambda op: op.name == "llvm.func" and kern.ARGUMENTS in op.attributes
        ):
            kernel.attributes["passthrough"] = ir.ArrayAttr.get(
                [
                    *(ir.StringAttr.get(f"amdgpu-no-{name}") for name in NOT_NEEDED),
                    ir.Attribute.parse('["amdgpu-implicitarg-num-bytes", "0"]'),
                    ir.Attribute.parse('["uniform-work-group-size", "true"]'),
                ]
            )
        for op in named(module.operation, "llvm.atomicrmw"):
            for fact in ORDINARY:
                op.attributes[fact] = ir.UnitAttr.get()
