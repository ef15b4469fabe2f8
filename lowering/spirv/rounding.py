"""Rounding to zero, which the conversion to SPIR-V does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import math

from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class ExpandTrunc(Pass):
    """Write math.trunc as the floor of the size, with the sign put back.

    In:  math.trunc. Out: absf, floor, copysign.
    """

    name: ClassVar[str] = "kern-expand-trunc"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "math.trunc"):
            with ir.InsertionPoint(op), op.location:
                value = op.operands[0]
                size = math.FloorOp(math.AbsFOp(value).result).result
                replace(op, [math.CopySignOp(size, value).result])
