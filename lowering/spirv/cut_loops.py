"""Loops that a driver ends before their time are reported.

Mesa's llvmpipe, which lavapipe runs kernels by, ends every loop of a work-item once they have made 65,535 iterations in
all (`LP_MAX_TGSI_LOOP_ITERATIONS` in its sources), and goes on behind them as if nothing had been. Each loop therefore
leaves a flag where its own condition ends it, and behind it the flag is asserted. The flag lies in an array, at a
position that only the launch decides (whether a failure was reported before): a compiler that sees one way out of the
loop would take the flag for set.

Comes in: a kernel at the work-item level. Goes out: the same, with `scf.while` loops and `kern.assert`s, where loops
may make that many iterations; `number_added_sites` then gives the asserts their numbers. Read next: `lavapipe`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.data.artifact import Site
from pykern.data.locations import SourceSpan
from pykern.dialect.base import i64_attr
from pykern.dialect.diagnostics import calls_of, span_of
from pykern.dialect.memory import PrivateOp
from pykern.dialect.reports import AssertOp, FailuresOp, SiteOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import true
from pykern.passes.kernel.counted_by_hand import as_while
from pykern.passes.kernels import find, is_constant

MOST_ITERATIONS = 65_535
LOOPS = ("scf.for", "scf.while")
CUT = (
    f"this loop was ended by the driver: on lavapipe the loops of a work-item make {MOST_ITERATIONS:,} iterations "
    "in all; give each work-item less to do, or launch on another device"
)


@dataclass(frozen=True)
class ReportCutLoops(Pass):
    """Assert behind each loop that its own condition has ended it.

    In:  kernels at the work-item level.
    Out: the same; those whose loops may make more iterations than the driver allows have `scf.while` in place of
         `scf.for`, and a `kern.assert` behind each loop.
    """

    name: ClassVar[str] = "kern-report-cut-loops"

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            if iterations(kernel) > MOST_ITERATIONS:
                _watch(kernel)


def iterations(op: ir.Operation) -> float:
    """The most iterations that loops within an op make, with the last test of each condition; infinite if unknown."""
    total = 0.0
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                total += (
                    _of_loop(inner.operation)
                    if inner.operation.name in LOOPS
                    else iterations(inner.operation)
                )
    return total


def _of_loop(loop: ir.Operation) -> float:
    if loop.name != "scf.for":
        return math.inf
    low, high, step = map(is_constant, list(loop.operands)[:3])
    if low is None or high is None or step is None:
        return math.inf
    trips = max(0, -(-(high - low) // step))
    return trips * (1 + iterations(loop)) + 1


def _watch(kernel: ir.Operation) -> None:
    with ir.InsertionPoint.at_block_begin(kernels.body(kernel)), kernel.location:
        flags = PrivateOp.create((2,), ir.IntegerType.get_signless(32))
        failed = arith.CmpIOp(arith.CmpIPredicate.ne, FailuresOp.create(), _word(0)).result
        place = arith.IndexCastUIOp(ir.IndexType.get(), failed).result
    for loop in find(kernel, lambda op: op.name in LOOPS):
        with ir.InsertionPoint(loop), loop.location:
            memref.StoreOp(_word(0), flags, [place])
            if loop.name == "scf.for":
                loop = as_while(loop)
        end = loop.regions[0].blocks[0].operations
        condition = end[len(end) - 1].operation
        with ir.InsertionPoint(condition), loop.location:
            left = scf.IfOp(arith.XOrIOp(condition.operands[0], true()).result)
            with ir.InsertionPoint(left.then_block):
                memref.StoreOp(_word(1), flags, [place])
                scf.YieldOp([])
        with ir.InsertionPoint.after(loop), loop.location:
            flag = memref.LoadOp(flags, [place]).result
            AssertOp.create(arith.CmpIOp(arith.CmpIPredicate.ne, flag, _word(0)).result, CUT)


def _word(value: int) -> ir.Value:
    kind = ir.IntegerType.get_signless(32)
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, value)).result


def number_added_sites(module: ir.Module) -> tuple[Site, ...]:
    """Number the sites that a target has added, from -2 downwards: a report holds a site's number + 1."""
    sites: list[Site] = []
    for op in find(
        module.operation, lambda op: isinstance(op.opview, SiteOp) and "site" not in op.attributes
    ):
        op.attributes["site"] = i64_attr(-2 - len(sites))
        span = span_of(op.location) or SourceSpan("", 0, 0, 1)
        site = op.opview.describe(span)
        sites.append(Site("loop", site.span, site.template, callers=tuple(calls_of(op.location))))
    return tuple(sites)
