"""Address arithmetic that may go down: no `nuw` where a stride may be negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import named

_NUW = 4
"""Bit of LLVM's no-wrap flags of a getelementptr."""


@dataclass(frozen=True)
class AllowNegativeStrides(Pass):
    """Take the promise of unsigned arithmetic away from addresses.

    Upstream lowers every memref access with `nuw`, which a negative stride (``x[::-1]``) breaks.

    In:  the llvm dialect; kernels with an array of unknown strides are marked `kern.strided`.
    Out: the same, without `nuw` on mul, add and getelementptr of these kernels.
    """

    name: ClassVar[str] = "kern-allow-negative-strides"

    def run(self, module: ir.Module) -> None:
        signed = ir.Attribute.parse("#llvm.overflow<nsw>")
        for kernel in kernels.kernels(module):
            if "kern.strided" not in kernel.attributes:
                continue
            for op in named(kernel, "llvm.mul", "llvm.add"):
                if "overflowFlags" in op.attributes and "nuw" in str(op.attributes["overflowFlags"]):
                    op.attributes["overflowFlags"] = signed
            for op in named(kernel, "llvm.getelementptr"):
                if "noWrapFlags" not in op.attributes:
                    continue
                flags = ir.IntegerAttr(op.attributes["noWrapFlags"])
                op.attributes["noWrapFlags"] = ir.IntegerAttr.get(flags.type, flags.value & ~_NUW)
