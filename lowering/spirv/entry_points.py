"""Kernels become entry points, with the group size that SPIR-V wants written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import named


@dataclass(frozen=True)
class MarkEntryPoints(Pass):
    """Give every gpu.func kernel its `spirv.entry_point_abi`.

    In:  gpu.func with a known block size. Out: the same, marked.
    """

    name: ClassVar[str] = "kern-mark-entry-points"

    def run(self, module: ir.Module) -> None:
        for kernel in named(module.operation, "gpu.func"):
            if "known_block_size" not in kernel.attributes:
                raise kernels.comes_after(kernel, "kernels with a known block size", "kern-outline-kernels")
            size = list(ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"]))
            kernel.attributes["spirv.entry_point_abi"] = ir.Attribute.parse(
                f"#spirv.entry_point_abi<workgroup_size = {size}>"
            )
