"""Copies of both factors of a packed product: threads make them in one fork and join.

Comes in: functions that copy, made. Goes out: their calls where the op stands. Where threads are worth it, one function
that shares both among threads, so that they fork and join once instead of twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, func

from pykern.passes.analysis.cost_model.threads import COPY_ELEMENTS, SHARED_COPY_CHUNKS
from pykern.passes.codegen.cpu.contraction.nests import Job
from pykern.passes.codegen.cpu.contraction.packing import Packing
from pykern.passes.codegen.cpu.loop_nest.function import Nest
from pykern.passes.ir.lengths import as_value, times
from pykern.passes.kernels import index_constant


def call(job: Job, packings: Sequence[Packing]) -> None:
    """Call all functions, with threads where there is enough to copy."""
    nests = [each.nest for each in packings]
    if (
        not job.team
        or sum(each.copied for each in packings) < COPY_ELEMENTS
        or all(n.extent < 2 for n in nests)
    ):
        for nest in nests:
            nest.call(False)
        return
    shared = [nest for nest in nests if nest.extent > 1]
    if len(shared) < len(nests):
        for nest in nests:
            nest.call(nest in shared)
        return
    both = Nest(
        job.place, job.product.op, [v for n in nests for v in n.passed], SHARED_COPY_CHUNKS, has_body=False
    )
    with both.inside() as bounds:
        for nest in nests:
            own = [_share(bound, nest.extent) for bound in bounds]
            passed = [both.value(value) for value in nest.passed]
            func.CallOp([], ir.FlatSymbolRefAttr.get(nest.symbol), [*passed, *own])
    both.call(True)


def _share(number: ir.Value, extent: int) -> ir.Value:
    """The iteration at which chunk `number` of a loop of `extent` iterations begins."""
    return arith.DivUIOp(as_value(times(number, extent)), index_constant(SHARED_COPY_CHUNKS)).result
