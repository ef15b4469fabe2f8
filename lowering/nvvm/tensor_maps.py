"""Tensor maps as arguments of kernels: 128 bytes that are passed by value and stay where the launch has put them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.data.tensor_form import ALIGNMENT, MAP, NBYTES
from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.kernels import named


@dataclass(frozen=True)
class PassTensorMaps(Pass):
    """Say how tensor maps are passed.

    In:  llvm.func of kernels, whose `kern.arguments` tell which arguments are maps. Out: these are constants of the
         grid, passed by value.
    """

    name: ClassVar[str] = "kern-pass-tensor-maps"

    def run(self, module: ir.Module) -> None:
        for function in named(module.operation, "llvm.func"):
            if kern.ARGUMENTS not in function.attributes:
                continue
            kinds = [ir.StringAttr(kind).value for kind in ir.ArrayAttr(function.attributes[kern.ARGUMENTS])]
            numbers = [n for n, kind in enumerate(kinds) if kind.startswith(MAP)]
            if not numbers:
                continue
            described = [ir.DictAttr.get({})] * len(kinds)
            if "arg_attrs" in function.attributes:
                described = [*ir.ArrayAttr(function.attributes["arg_attrs"])]
            for number in numbers:
                described[number] = ir.DictAttr.parse(
                    f"{{llvm.byval = !llvm.array<{NBYTES} x i8>, llvm.align = {ALIGNMENT} : i64, nvvm.grid_constant}}"
                )
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(described)
