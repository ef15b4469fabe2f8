"""What is computed together with a contraction: operations that make its factors (`prologues`), one that reads its sums
(`readers`).

Comes in: a contraction, and `FactorReads`, how an emitter would read its factors. Goes out: the prologues that pay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.analysis.cost_model.operations import CHEAP_REPEATS
from pykern.passes.fusion.prologues import Prologue, prologue_of

Prologues = tuple["Prologue | None", "Prologue | None"]
"""Of the left and the right factor."""


@dataclass(frozen=True)
class FactorReads:
    """How an emitter reads a factor with a prologue."""

    times: int
    """How often it reads an element."""
    along: int | None = None
    """The dimension along which it reads vectors; None: it reads elements in any order."""
    ascending: bool = False
    """Whether no index may fall along a dimension."""


def makers_of_factors(op: ir.Operation) -> list[ir.Operation]:
    """Operations that may be computed where a contraction reads their results."""
    if len(op.operands) != 3 or not multiplies(op):
        return []
    found = [prologue_of(op, n) for n in (0, 1)]
    return [p.op for p in found if p is not None]


def paying(
    found: Prologues, reads: Callable[[Prologues], tuple[FactorReads, FactorReads] | None]
) -> Prologues:
    """Those of the prologues that pay; `reads` tells how factors are read where these are taken, None: not at all."""
    while any(found):
        how = reads(found)
        if how is None:
            return None, None
        left, right = (
            p if p is not None and _is_profitable(p, r) else None for p, r in zip(found, how, strict=True)
        )
        if (left, right) == found:
            break
        found = left, right
    return found


def _is_profitable(prologue: Prologue, reads: FactorReads) -> bool:
    """Whether each element is computed once, or a cheap one twice, and can be read in the emitter's vectors."""
    accesses = [(value, access) for value, access in prologue.operands if access is not None]
    if reads.ascending and any(access.descends for _, access in accesses):
        return False
    for value, access in accesses if reads.along is not None else ():
        strides, _ = ir.MemRefType(value.type).get_strides_and_offset()
        if access.stride(reads.along, strides) not in (0, 1):
            return False
    return reads.times <= (CHEAP_REPEATS if prologue.is_cheap else 1)
