"""Short loops of stencils, in vectors whose last one is masked.

Comes in: innermost loops that read several rows of an array, left to LLVM. Goes out: a branch on how often the loop
runs; the copy for few times asks LLVM for masks.

The class: stencils of any width, dimension and element of less than 8 bytes over rows of up to 16 vectors. What such
a loop reads of one row it keeps for the next iteration, and what LLVM vectorises so it has no shorter vectors for the
rest of: up to 63 cells are computed one by one. With masks all are in vectors; in long loops they cost more than they
bring, and where masked stores are slow (AVX2) always. `benchmarks/NOTES.md` has what they gain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes.analysis.cost_model.lengths import FEWEST_MASKED_LANES, MASKED_VECTORS
from pykern.passes.analysis.cost_model.registers import VECTOR_BYTES
from pykern.passes.framework import Pass
from pykern.passes.ir.effects import DIVISIONS
from pykern.passes.ir.loop_versions import branch_on
from pykern.passes.kernels import find, index_constant, is_constant
from pykern.passes.remarks import remark
from pykern.passes.vectorize.accesses import accesses_of, arrays_of
from pykern.passes.vectorize.vectorize_streams import functions, is_candidate, lanes_of, reads_rows

_MASKED = "#llvm.loop_annotation<vectorize = <predicateEnable = true>>"


@dataclass(frozen=True)
class MaskShortRows(Pass):
    """Ask for masks where a loop over several rows of an array takes `vectors` vectors of `bytes` at most, of more
    than 8 elements each.

    In:  func.func marked `kern.noalias`: its array arguments do not overlap with each other or with scratch of its own.
    Out: scf.if on the number of iterations, where that is not known; the loop of few marked for LLVM.
    """

    name: ClassVar[str] = "kern-mask-short-rows"
    powers: ClassVar[tuple[str, ...]] = ("bytes",)
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    scalar_only: ClassVar[bool] = True
    bytes: int = VECTOR_BYTES
    vectors: int = MASKED_VECTORS

    def run(self, module: ir.Module) -> None:
        for function in functions(module, distinct=True):
            arrays = arrays_of(function)
            for loop in find(function, is_candidate):
                accesses = accesses_of(loop, arrays)
                if accesses is None or not accesses.stores or not reads_rows(accesses) or _divides(loop):
                    continue
                lanes = lanes_of(accesses, self.bytes)
                if lanes >= FEWEST_MASKED_LANES:
                    _mask(loop, lanes * self.vectors)


def _divides(loop: ir.Operation) -> bool:
    """Whether integers are divided, which LLVM does one by one, and under masks with a branch each (1.3 to 2.7)."""
    return bool(find(loop, lambda op: op.name.removeprefix("arith.") in DIVISIONS))


def _mask(loop: ir.Operation, most: int) -> None:
    """The loop with masks, where it runs so many times at most."""
    lower, upper = (is_constant(bound) for bound in list(loop.operands)[:2])
    if lower is not None and upper is not None:
        if upper - lower <= most:
            _mark(loop)
        return
    with ir.InsertionPoint(loop), loop.location:
        count = arith.SubIOp(loop.operands[1], loop.operands[0]).result
        few = arith.CmpIOp(arith.CmpIPredicate.sle, count, index_constant(most)).result
        branch_on(loop, few)
    _mark(loop)


def _mark(loop: ir.Operation) -> None:
    loop.attributes["llvm.loop_annotation"] = ir.Attribute.parse(_MASKED)
    remark(loop, "vectors with masks while rows are short")
