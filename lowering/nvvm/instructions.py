"""What NVIDIA's chips do in one instruction, where code for any chip takes several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.kernels import find, named

_FLAGS = "fastmathFlags"
_USERS, _APPROXIMATE = "contract", "afn"
"""What all arithmetic of users allows, and what that of kernels with ``fastmath=True`` does besides."""


@dataclass(frozen=True)
class FlushSubnormals(Pass):
    """Take subnormal f32 for zero, where a kernel allows approximations.

    In:  a gpu.module of llvm.func. Out: where all the user's arithmetic on f32 allows approximations, functions say
         that subnormals become zero, and the module that libdevice's functions do so, too. Approximate
         instructions need no scaling then.
    """

    name: ClassVar[str] = "kern-flush-subnormals"

    def run(self, module: ir.Module) -> None:
        for device in named(module.operation, "gpu.module"):
            flags = [str(op.attributes[_FLAGS]) for op in find(device, _computes)]
            users = [each for each in flags if _USERS in each]
            if not users or not all(_APPROXIMATE in each for each in users):
                continue
            for function in named(device, "llvm.func"):
                function.attributes["denormal_fp_math_f32"] = ir.StringAttr.get("preserve-sign,preserve-sign")
            with ir.InsertionPoint.at_block_begin(device.regions[0].blocks[0]), device.location:
                flag = '#llvm.mlir.module_flag<override, "nvvm-reflect-ftz", 1 : i32>'
                ir.Operation.create(
                    "llvm.module_flags", attributes={"flags": ir.Attribute.parse(f"[{flag}]")}
                )


def _computes(op: ir.Operation) -> bool:
    """Whether an op computes f32."""
    return _FLAGS in op.attributes and any(isinstance(v.type, ir.F32Type) for v in op.operands)
