"""Removes `kern.stop_gradient` after differentiation, the only stage for which it means anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class DropStopGradient(Pass):
    """Replace each `kern.stop_gradient` by its operand.

    In:  any module, after its derivatives were taken. Out: the same without `kern.stop_gradient`.
    """

    name: ClassVar[str] = "kern-drop-stop-gradient"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "kern.stop_gradient"):
            replace(op, [op.operands[0]])
