"""Results of 16 bits that are computed in f32 are rounded to 16 bits, each of them.

Comes in: what upstream's emulation of small floats makes, `arith.truncf` and `arith.extf` between operations on f32,
with permission to fold each pair away. Goes out: the same without the permission, so that ``(x + y) * y`` rounds twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.kernels import named


@dataclass(frozen=True)
class KeepRoundings(Pass):
    """Take the fastmath flags from conversions of floats: with `contract` a rounding and its inverse fold to nothing.

    In:  any module; it runs right behind each pass that computes small floats in f32.
    Out: the same, `arith.truncf` and `arith.extf` without flags.
    """

    name: ClassVar[str] = "kern-keep-roundings"
    looks_for: ClassVar[tuple[str, ...]] = ("arith.truncf", "arith.extf")

    def run(self, module: ir.Module) -> bool:
        none = ir.Attribute.parse("#arith.fastmath<none>")
        changed = False
        for op in named(module.operation, "arith.truncf", "arith.extf"):
            if "fastmath" in op.attributes and op.attributes["fastmath"] != none:
                op.attributes["fastmath"] = none
                changed = True
        return changed
