"""Barriers of a group, with waits that stay.

LLVM's AMDGPU backend makes waits of the fence before a barrier, and drops those that it finds nothing to wait for: at
the head of a loop before it has seen the loop's end, and for good (LLVM 22, SIInsertWaitcnts; `rocm:emulated` found
it). A wait that is an operation of its own is not dropped. There is none for stores to global memory on RDNA 3, which
are left to the fence: only groups on two compute units need to wait for them there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import llvm

from pykern.passes.framework import Pass
from pykern.passes.kernels import named

CDNA_SHARED, RDNA_SHARED, RDNA_LOADS = 0xC07F, 0xFC07, 0x0007
"""What `s_waitcnt` is given: no more operations of shared memory under way; on RDNA 3 no loads either."""


@dataclass(frozen=True)
class WaitAtBarriers(Pass):
    """Wait for what is under way in front of each barrier.

    In:  rocdl.barrier. Out: the fences that it stands for and rocdl.s.barrier, between them waits for shared memory;
         where the waves of a group run on two compute units (`two_units`), for loads as well, and on RDNA 4 for stores.
         `generation`: "cdna", "gfx11" or "gfx12".
    """

    name: ClassVar[str] = "kern-wait-at-barriers"
    looks_for: ClassVar[tuple[str, ...]] = ("rocdl.barrier",)
    generation: str = "cdna"
    two_units: bool = False

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "rocdl.barrier"):
            with ir.InsertionPoint(op), op.location:
                llvm.FenceOp(llvm.AtomicOrdering.release, syncscope="workgroup")
                for name, count in self._waits():
                    _wait(name, count)
                ir.Operation.create("rocdl.s.barrier")
                llvm.FenceOp(llvm.AtomicOrdering.acquire, syncscope="workgroup")
            op.erase()

    def _waits(self) -> Iterator[tuple[str, int]]:
        if self.generation == "gfx12":
            yield "dscnt", 0
            if self.two_units:
                yield from (("loadcnt", 0), ("storecnt", 0))
        elif self.generation == "gfx11":
            yield "waitcnt", RDNA_LOADS if self.two_units else RDNA_SHARED
        else:
            yield "waitcnt", CDNA_SHARED


def _wait(name: str, count: int) -> None:
    if name == "waitcnt":
        attributes = {"bitfield": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)}
        ir.Operation.create("rocdl.s.waitcnt", attributes=attributes)
    else:
        attributes = {"count": ir.IntegerAttr.get(ir.IntegerType.get_signless(16), count)}
        ir.Operation.create(f"rocdl.s.wait.{name}", attributes=attributes)
