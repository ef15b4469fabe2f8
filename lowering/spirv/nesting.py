"""How deep a driver takes conditions and loops: refused beyond, where the driver would compute something else.

Mesa's llvmpipe keeps the work-items that take part in a stack of 80 conditions and one of 80 loops
(`LP_MAX_TGSI_NESTING` in its sources); what lies deeper is run by all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.passes.framework import Pass

MOST_NESTED = 80
KINDS = {
    "spirv.mlir.selection": "conditions", "scf.if": "conditions",
    "spirv.mlir.loop": "loops", "scf.for": "loops", "scf.while": "loops",
}  # fmt: skip


@dataclass(frozen=True)
class CheckNesting(Pass):
    """Refuse conditions or loops that are nested deeper than the driver takes.

    In:  a spirv.module, or a kernel that is printed. Out: the same.
    """

    name: ClassVar[str] = "kern-check-nesting"
    most: int = MOST_NESTED

    def run(self, module: ir.Module) -> bool:
        self._check(module.operation, dict.fromkeys(KINDS.values(), 0))
        return False

    def _check(self, op: ir.Operation, around: dict[str, int]) -> None:
        if op.name in KINDS:
            kind = KINDS[op.name]
            around = around | {kind: around[kind] + 1}
            if around[kind] > self.most:
                raise TargetError(
                    f"{kind} are nested more than {self.most} deep, and lavapipe computes "
                    "something else beyond that",
                    span_of(op.location),
                    "join conditions with `and`, return early, or launch on another device",
                )
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    self._check(inner.operation, around)
