"""Innermost loops of work-items are unrolled, so that several loads are under way before the first value is needed.

A GPU hides the latency of memory by other subgroups and by loads that do not wait for each other. One iteration of a
loop over a row has one of them, and as many instructions that count as there are that compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.lowering.llvm.loops import ON_LOOPS
from pykern.passes.analysis.cost_model.devices import MOST_UNROLLED, UNROLLED_OPERATIONS
from pykern.passes.framework import Pass
from pykern.passes.ir.loops import unroll
from pykern.passes.ir.predicates import predicate_of
from pykern.passes.ir.values import defining
from pykern.passes.kernels import find, is_constant, named

_PLAIN = (
    "arith.",
    "math.",
    "llvm.getelementptr",
    "llvm.load",
    "llvm.store",
    "llvm.call_intrinsic",
    "llvm.intr.",
    "scf.yield",
)
_LOADS = "llvm.load"
_FITS, _FITS_UNSIGNED = "#arith.overflow<nsw>", "#arith.overflow<nuw>"


@dataclass(frozen=True)
class UnrollLoops(Pass):
    """Tell LLVM how often to unroll loops over memory.

    In:  kernels over pointers, with scf loops.
    Out: innermost loops that load, and whose trip count only a launch knows, have the number as an annotation: a
         power of two, so that the unrolled body stays small. The order of what they compute is the same. Loops with
         barriers and operations of groups stay as they are.
    """

    name: ClassVar[str] = "kern-unroll-loops"
    only_speed: ClassVar[bool] = True

    def run(self, module: ir.Module) -> None:
        for loop in find(module.operation, lambda op: op.name == "scf.for"):
            count = _count(loop)
            if count > 1:
                unroll(loop, count)


def _count(loop: ir.Operation) -> int:
    if all(is_constant(bound) is not None for bound in list(loop.operands)[:3]):
        return 1  # LLVM sees how long it is
    if is_constant(loop.operands[2]) is None:
        return 1  # LLVM does not divide by the step: there would be a test before each load
    ops = [op.operation for op in loop.regions[0].blocks[0].operations]
    if not all(op.name.startswith(_PLAIN) and not list(op.regions) for op in ops):
        return 1
    if not any(op.name == _LOADS for op in ops):
        return 1
    if not isinstance(loop.operands[0].type, ir.IntegerType):
        return 1  # addresses would be computed anew each time
    count = MOST_UNROLLED
    while count > 1 and count * len(ops) > UNROLLED_OPERATIONS:
        count //= 2
    return count


@dataclass(frozen=True)
class BoundCounters(Pass):
    """Tell LLVM that counters of 32 bits do not overflow, so that addresses are steps from one iteration to the next.

    In:  branches of the cf dialect that loops have become. Out: where the loop was annotated, and counts in 32 bits
         (`kern-narrow-indices` has proved that the last sum fits, of an unsigned comparison without a sign), the sum
         that goes back to its begin says so.
    """

    name: ClassVar[str] = "kern-bound-counters"
    only_speed: ClassVar[bool] = True

    def run(self, module: ir.Module) -> None:
        for branch in named(module.operation, "cf.br"):
            if ON_LOOPS in branch.attributes:
                counter, step = branch.successors[0].arguments[0], defining(branch.operands[0])
                if step is not None and step.name == "arith.addi" and step.operands[0] == counter:
                    test = defining(branch.successors[0].operations[-1].operands[0])
                    unsigned = test is not None and predicate_of(test) == "ult"
                    step.attributes["overflowFlags"] = ir.Attribute.parse(
                        _FITS_UNSIGNED if unsigned else _FITS
                    )
