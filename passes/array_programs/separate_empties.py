"""Every use of an empty tensor gets an empty tensor of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.kernels import named


@dataclass(frozen=True)
class SeparateEmpties(Pass):
    """Put a `tensor.empty` right before each op that uses one.

    Upstream merges equal ones and moves them out of loops; bufferization would then take them for one
    buffer that is kept from one iteration to the next, and copy.

    In:  tensors.
    Out: the same; each `tensor.empty` has one use, behind it.
    """

    name: ClassVar[str] = "kern-separate-empties"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "tensor.empty"):
            for use in list(op.result.uses):
                user = use.owner.operation
                with ir.InsertionPoint(user), op.location:
                    own = op.clone()
                for n, operand in enumerate(op.operands):
                    own.operands[n] = operand
                user.operands[use.operand_number] = own.results[0]
            op.erase()
