"""Loops of kernels that ask for no id, told apart for a compiler that dies of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.dialect.index_space import GlobalIdOp, NdrangeOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernel.work_item_warnings import PLACES
from pykern.passes.kernels import named


@dataclass(frozen=True)
class PlaceUniformLoops(Pass):
    """Let loops begin at the work-item's number divided by how many there are, which is 0.

    Where nothing depends on a number, Intel's compiler for OpenCL vectorises such loops, and dies of some (those of an
    f64 sine among them).

    In:  kernels. Out: the same; in those that ask for no id, the outermost loops begin at that.
    """

    name: ClassVar[str] = "kern-place-uniform-loops"

    def run(self, module: ir.Module) -> None:
        for kernel in list(kernels.kernels(module)):
            loops = [loop for loop in named(kernel, "scf.for") if _is_outermost(loop)]
            indices = [loop for loop in loops if isinstance(loop.operands[0].type, ir.IndexType)]
            if not indices or kern.PLAIN not in kernel.attributes or named(kernel, *PLACES):
                continue
            with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
                zero = arith.DivUIOp(GlobalIdOp.create(0), NdrangeOp.create(0)).result
            for loop in indices:
                with ir.InsertionPoint(loop), loop.location:
                    loop.operands[0] = arith.AddIOp(loop.operands[0], zero).result


def _is_outermost(loop: ir.Operation) -> bool:
    parent = loop.parent
    while parent is not None and kern.KERNEL not in parent.operation.attributes:
        if parent.operation.name == "scf.for":
            return False
        parent = parent.operation.parent
    return True
