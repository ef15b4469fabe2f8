"""Short loops of known length are written out, while positions in arrays are sums of indices.

Comes in: kernels of placed work-items. Goes out: the taps of a filter, each at a constant distance from the work-item's
own place, so that `kern-flatten-memory` makes one position of all. LLVM unrolls too late for that: it sees addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.devices import MOST_UNROLLED, UNROLLED_OPERATIONS
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import BUFFERS, find, is_constant, named, replace

_STAYS = ("gpu.barrier", "scf.while", "kern.print", *BUFFERS)


@dataclass(frozen=True)
class UnrollShortLoops(Pass):
    """Write out loops over few iterations that read or write memory.

    In:  kernels with scf loops, after `kern-lower-collectives`. Out: those of at most `most` iterations, whose number
         is known, are gone, inner ones first, as long as no more than `ops` operations come of it. Loops with
         barriers, buffers and loops of unknown length stay.
    """

    name: ClassVar[str] = "kern-unroll-short-loops"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    most: int = MOST_UNROLLED
    ops: int = UNROLLED_OPERATIONS

    def run(self, module: ir.Module) -> None:
        for loop in named(module.operation, "scf.for"):  # inner ones come first
            counts = range(0) if kern.EACH in loop.attributes else _iterations(loop, self.most)
            inside = find(loop, lambda _: True)
            if (
                counts
                and len(counts) * len(inside) <= self.ops
                and any(op.name in ("memref.load", "memref.store") for op in inside)
                and not any(op.name in (*_STAYS, "scf.for") for op in inside)
            ):
                _write_out(loop, counts)


def _iterations(loop: ir.Operation, most: int) -> range:
    """The values of the loop's variable; none where they are not known, or too many."""
    lower, upper, step = (is_constant(value) for value in list(loop.operands)[:3])
    if lower is None or upper is None or not step or step < 0 or "unsignedCmp" in loop.attributes:
        return range(0)
    values = range(lower, upper, step)
    return values if len(values) <= most else range(0)


def _write_out(loop: ir.Operation, values: range) -> None:
    block = loop.regions[0].blocks[0]
    variable, *carried = block.arguments
    given = list(loop.operands)[3:]
    with ir.InsertionPoint(loop), loop.location:
        for value in values:
            known = {variable: constant(variable.type, value), **dict(zip(carried, given, strict=True))}
            given = clone_block(block, known)
    replace(loop, given)
