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

    In:  tensors.
    Out: the same; each `tensor.empty` and each linalg.generic that reads no tensor has one use, behind it.
    """

    name: ClassVar[str] = "kern-separate-empties"

    def run(self, module: ir.Module) -> None:
        for op in find(module.operation, is_fill):  # fills first: each then uses an empty tensor
            _separate(op)
        for op in find(module.operation, lambda op: op.name == "tensor.empty"):
            _separate(op)


def _separate(op: ir.Operation) -> None:
    for use in list(op.results[0].uses):
        user = use.owner.operation
        with ir.InsertionPoint(_outside(user)), op.location:
            own = op.clone()
        for n, operand in enumerate(op.operands):
            own.operands[n] = operand
        user.operands[use.operand_number] = own.results[0]
    op.erase()


def _outside(user: ir.Operation) -> ir.Operation:
    """The op itself, or the linalg op in whose body it stands (`tensor.extract`): nothing is allocated in there."""
    while user.parent is not None and user.parent.operation.name.startswith("linalg."):
        user = user.parent.operation
    return user
