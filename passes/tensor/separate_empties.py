"""Every use of an empty or constant tensor gets a tensor of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.ir.structured import is_fill
from pykern.passes.kernels import find


@dataclass(frozen=True)
class SeparateEmpties(Pass):
    """Put a `tensor.empty`, or a fill with a scalar, right before each op that uses one.

    Upstream merges equal ones and moves them out of loops; bufferization would then take them for one
    buffer that is kept from one use to the next, and copy.

    What looks up single elements keeps the one there is: in a loop, all of it would be made again for each element.

    In:  tensors.
    Out: the same; each `tensor.empty` and each linalg.generic that reads no tensor has one use, behind it, or is
         only read by tensor.extract.
    """

    name: ClassVar[str] = "kern-separate-empties"

    def run(self, module: ir.Module) -> None:
        for op in find(module.operation, is_fill):  # fills first: each then uses an empty tensor
            _separate(op)
        for op in find(module.operation, lambda op: op.name == "tensor.empty"):
            _separate(op)


def _separate(op: ir.Operation) -> None:
    uses = list(op.results[0].uses)
    for use in uses:
        user = use.owner.operation
        if user.name == "tensor.extract":
            continue
        with ir.InsertionPoint(user), op.location:
            own = op.clone()
        for n, operand in enumerate(op.operands):
            own.operands[n] = operand
        user.operands[use.operand_number] = own.results[0]
    if all(use.owner.operation.name != "tensor.extract" for use in uses):
        op.erase()
