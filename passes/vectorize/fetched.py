"""Loads that are fetched ahead: which, and how far.

Comes in: an innermost loop whose stores go past the cache. Goes out: prefetches to the second cache.

It pays where a vector takes long to compute, where it comes from several rows of an array, and where rows that all
others read again fill the first cache: their lines, from the second, take the places for lines under way that the
others need. Elsewhere, as for saxpy, it costs time. `benchmarks/NOTES.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.analysis.cost_model.caches import FIRST_CACHE_BYTES
from pykern.passes.ir.clone import rematerialise
from pykern.passes.kernels import find, index_constant
from pykern.passes.vectorize.accesses import ELEMENTARY, LoopAccess, LoopAccesses


@dataclass(frozen=True)
class Ahead:
    """`bytes`: how far ahead, 0 for nothing. `first_cache`: its bytes."""

    bytes: int
    first_cache: int = FIRST_CACHE_BYTES

    def fetch(self, loop: ir.Operation, accesses: LoopAccesses, at: ir.Value) -> None:
        """Fetch what iteration `at` of the loop reads, so many bytes further on."""
        for access in self._loads(loop, accesses) if self.bytes else []:
            distance = index_constant(self.bytes // access.size)
            known = {loop.opview.induction_variable: arith.AddIOp(at, distance).result}
            indices = [rematerialise(index, loop, known) for index in access.indices]
            memref.PrefetchOp(access.memory, indices, False, 2, True)

    def _loads(self, loop: ir.Operation, accesses: LoopAccesses) -> list[LoopAccess]:
        """One load a row of an array, of arrays that it pays for."""
        first: list[LoopAccess] = []
        for access in accesses.loads:
            known = any(o.memory == access.memory and o.indices[:-1] == access.indices[:-1] for o in first)
            if access.column is not None and not known:
                first.append(access)
        if find(loop, lambda op: op.name in ELEMENTARY):
            return first
        reused = [access for access in first if _is_reused(access, accesses)]
        if len(reused) > 1 and sum(map(_row_bytes, reused)) >= self.first_cache * 3 // 4:
            return [access for access in first if access not in reused]
        return [a for a in first if sum(o.memory == a.memory for o in first) > 1]


def _is_reused(access: LoopAccess, accesses: LoopAccesses) -> bool:
    """Whether it is the same row for all rows of the result."""
    return len(access.indices) == 1 and all(len(store.indices) > 1 for store in accesses.streamed)


def _row_bytes(access: LoopAccess) -> int:
    """Bytes of an array of one dimension; 0 where its length is not known."""
    kind = ir.MemRefType(access.memory.type)
    return 0 if kind.is_dynamic_dim(0) else kind.shape[0] * access.size
