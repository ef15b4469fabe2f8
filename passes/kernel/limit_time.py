"""Loops that end when the time of a launch is over: what ``timeout=`` adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.reports import ExpiredOp, ReportTimeoutOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernel.counted_by_hand import as_while
from pykern.passes.kernels import find

LOOPS = ("scf.for", "scf.while")


@dataclass(frozen=True)
class LimitTime(Pass):
    """Ask before each iteration of a loop whether the time is over; end the loop then, and report it.

    In:  kernels at the work-item level. Out: the same with `scf.while` in place of `scf.for`; their conditions ask
         `kern.expired`. Work-items that begin later do nothing.
    """

    name: ClassVar[str] = "kern-limit-time"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            for loop in find(kernel, lambda op: op.name in LOOPS):
                _limit(as_while(loop) if loop.name == "scf.for" else loop)
            _skip_late_items(kernel)


def _limit(loop: ir.Operation) -> None:
    end = list(loop.regions[0].blocks[0].operations)[-1].operation
    with ir.InsertionPoint(end), loop.location:
        more = end.operands[0]
        over = arith.AndIOp(more, ExpiredOp.create()).result  # a loop that ends by itself is not told of
        branch = scf.IfOp(over)
        with ir.InsertionPoint(branch.then_block):
            ReportTimeoutOp.create()
            scf.YieldOp([])
        end.operands[0] = arith.XOrIOp(more, over).result


def _skip_late_items(kernel: ir.Operation) -> None:
    """Put all statements of the kernel under the condition that there is time left."""
    block = kernels.body(kernel)
    *statements, _ = [op.operation for op in block.operations]
    if not statements:
        return
    with ir.InsertionPoint(statements[0]), kernel.location:
        over = ExpiredOp.create()
        branch = scf.IfOp(over, has_else=True)
        with ir.InsertionPoint(branch.then_block):
            ReportTimeoutOp.create()
            scf.YieldOp([])
        with ir.InsertionPoint(branch.else_block):
            end = scf.YieldOp([]).operation
    for statement in statements:
        statement.move_before(end)
