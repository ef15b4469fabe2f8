"""Whether arrays fit the cache that streaming stores go past.

Comes in: a function and arrays of it. Goes out: the answer, where lengths are known, or the comparison that finds it.
Who asks: `vectorize_streams` (stores past the cache), `scratch_rows` (where rows wait).
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.caches import LEAST_LAST_CACHE_BYTES
from pykern.passes.kernels import argument_marks, body, index_constant
from pykern.passes.vectorize.addresses import static_bytes, total_bytes


@dataclass(frozen=True)
class Cache:
    """The cache of a function: `given` by an argument, else of `bytes`."""

    given: ir.Value | None
    bytes: int

    def surely_holds(self, arrays: list[ir.Value]) -> bool:
        """Whether lengths are known, and small."""
        known = static_bytes(arrays)
        return known is not None and known < (
            LEAST_LAST_CACHE_BYTES if self.given is not None else self.bytes
        )

    def is_exceeded(self, arrays: list[ir.Value]) -> ir.Value:
        """Whether the arrays together are as large as the cache: it holds other things too."""
        total = total_bytes(arrays)
        limit = index_constant(self.bytes) if self.given is None else self.given
        return arith.CmpIOp(arith.CmpIPredicate.sge, total, limit).result


def cache_of(function: ir.Operation, default: int) -> Cache:
    """The argument that is marked, or `default` bytes."""
    if "arg_attrs" not in function.attributes:
        return Cache(None, default)
    marks = argument_marks(function)
    marked = [v for v, m in zip(body(function).arguments, marks, strict=True) if kern.CACHE_BYTES in m]
    return Cache(marked[0] if marked else None, default)


def arrays_given(function: ir.Operation) -> list[ir.Value]:
    """The array arguments of a function."""
    return [a for a in body(function).arguments if isinstance(a.type, ir.MemRefType)]
