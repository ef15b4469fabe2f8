"""The remainder of floats, which AMD's backend has no code for without a device library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.arithmetic.expand_remainder import real_remainder
from pykern.passes.framework import Pass
from pykern.passes.kernels import named, replace


@dataclass(frozen=True)
class ExpandRemainder(Pass):
    """Write arith.remf out: exact, by long division.

    In:  scalars of any float type. Out: arith, math and scf.
    """

    name: ClassVar[str] = "kern-expand-remainder"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "arith.remf"):
            with ir.InsertionPoint(op), op.location:
                replace(op, [real_remainder(op)])
