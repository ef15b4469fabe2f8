"""Loops of elementary functions, as vectors of a whole cache line.

Comes in: innermost scf.for that carry nothing and compute exp, erf, tanh and the like. Goes out: a loop of vectors, and
the loop itself for the rest. Read next: `accesses` (which loops), `body` (their vectors).

Why: such a function is a chain of 15 to 25 multiply-adds, each of which waits four cycles for the one before, and LLVM,
afraid for registers, computes one chain at a time. Two of them side by side share the constants, too: erf of f32
in the cache took 0.83 of its time so, before its chain became shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import scf

from pykern.errors import PassError
from pykern.passes.analysis.cost_model.registers import VECTOR_BYTES
from pykern.passes.framework import Pass
from pykern.passes.kernels import find, index_constant, is_constant
from pykern.passes.vectorize.accesses import ELEMENTARY, LoopAccesses, accesses_of, arrays_of
from pykern.passes.vectorize.body import VectorBody
from pykern.passes.vectorize.vectorize_reductions import AS_IT_IS, whole_vectors
from pykern.passes.vectorize.vectorize_streams import functions, is_candidate, lanes_of


@dataclass(frozen=True)
class VectorizeElementary(Pass):
    """Give loops with elementary functions a version in vectors.

    In:  func.func marked `kern.noalias`: its array arguments do not overlap with each other or with scratch of its own.
    Out: an scf.for over vectors of `bytes`, then the loop as it was, from where that one ends.
    """

    name: ClassVar[str] = "kern-vectorize-elementary"
    powers: ClassVar[tuple[str, ...]] = ("bytes",)
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    scalar_only: ClassVar[bool] = True
    bytes: int = VECTOR_BYTES

    def run(self, module: ir.Module) -> None:
        if self.bytes < 2 or self.bytes & (self.bytes - 1):
            raise PassError(f"`{self}`: `bytes` is the width of a vector, a power of two")
        for function in functions(module, distinct=True):
            arrays = arrays_of(function)
            for loop in find(function, is_candidate):
                accesses = accesses_of(loop, arrays) if find(loop, lambda op: op.name in ELEMENTARY) else None
                if accesses is not None and accesses.stores:
                    _vectorize(loop, accesses, lanes_of(accesses, self.bytes))


def _vectorize(loop: ir.Operation, accesses: LoopAccesses, lanes: int) -> None:
    bounds = [is_constant(v) for v in list(loop.operands)[:2]]
    short = None not in bounds and bounds[1] - bounds[0] < 2 * lanes  # type: ignore[operator]
    if lanes < 2 or short:
        return
    with ir.InsertionPoint(loop), loop.location:
        middle = whole_vectors(loop.operands[0], loop.operands[1], lanes)
        vectors = scf.ForOp(loop.operands[0], middle, index_constant(lanes))
        vectors.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(AS_IT_IS)
        with ir.InsertionPoint(vectors.body):
            VectorBody(lanes, loop=loop, accesses=accesses, iv=vectors.induction_variable).emit()
            scf.YieldOp([])
    loop.operands[0] = middle
    loop.attributes["llvm.loop_annotation"] = ir.Attribute.parse(AS_IT_IS)
