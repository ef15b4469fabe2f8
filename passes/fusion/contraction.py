"""What is computed together with a contraction: operations that make its factors (`prologues`), one that reads its sums
(`readers`).

Comes in: a contraction, and `FactorReads`, how an emitter would read its factors. Goes out: a `ContractionGroup`, or
the prologues that pay alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.analysis.cost_model.operations import CHEAP_REPEATS
from pykern.passes.analysis.space import Space
from pykern.passes.fusion.prologues import Prologue, prologue_of
from pykern.passes.fusion.readers import SumReader, reader_of
from pykern.passes.kernels import identity
from pykern.passes.remarks import remark

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
    from_memory: bool = False
    """Whether each time it waits for memory, which hides cheap arithmetic: only the bytes that are read count then."""


@dataclass(frozen=True)
class ContractionGroup:
    """What is computed together with a contraction."""

    prologues: Prologues = (None, None)
    reader: SumReader | None = None

    @property
    def operations(self) -> list[ir.Operation]:
        """All operations of the group but the contraction."""
        return [each.op for each in (*self.prologues, self.reader) if each is not None]

    @property
    def outside(self) -> list[ir.Value]:
        """All values of the program that these operations need."""
        found = [] if self.reader is None else [self.reader.out]
        for each in (*self.prologues, self.reader):
            if each is not None:
                found += [*(value for value, _ in each.operands), *each.captured]
        return found

    def remark_on(self, op: ir.Operation) -> None:
        """Remarks about what is computed with the contraction `op`."""
        if any(self.prologues):
            remark(op, "a factor of the product is computed where it is read")
        if self.reader is not None:
            remark(self.reader.op, "computed in the tiles of the product whose sums it reads")


def _makers_of_factors(op: ir.Operation) -> list[ir.Operation]:
    """Operations that may be computed where a contraction reads their results."""
    if len(op.operands) != 3 or not multiplies(op):
        return []
    found = [prologue_of(op, n) for n in (0, 1)]
    return [p.op for p in found if p is not None]


def with_makers_last(operations: list[tuple[int, ir.Operation]]) -> list[tuple[int, ir.Operation]]:
    """Operations with their identities; those that may be computed with a contraction come behind all others."""
    makers = {identity(maker) for _, op in operations for maker in _makers_of_factors(op)}
    return sorted(operations, key=lambda each: each[0] in makers)


def contraction_group(space: Space, reads: tuple[FactorReads, FactorReads], starts: bool) -> ContractionGroup:
    """What is computed with a contraction by an emitter that reads its first two operands in this way.

    `starts`: whether sums start from a number rather than from what is in memory.
    """
    reader = reader_of(space) if starts else None
    group = ContractionGroup(profitable_prologues(space.op, (0, 1), reader, lambda _: reads), reader)
    group.remark_on(space.op)
    return group


def profitable_prologues(
    op: ir.Operation,
    factors: tuple[int, int],
    reader: SumReader | None,
    reads: Callable[[Prologues], tuple[FactorReads, FactorReads] | None],
) -> Prologues:
    """The prologues of a contraction's factors, the operands `factors`, that pay.

    `reader` is computed with the contraction. `reads` tells how factors are read where these prologues are taken, None:
    not at all.
    """
    written = [op.operands[2]] + ([] if reader is None else [reader.out])
    left, right = (prologue_of(op, n) for n in factors)
    found = tuple(None if p is None or p.reads(written) else p for p in (left, right))
    while any(found):
        how = reads(found)
        if how is None:
            return None, None
        kept = tuple(
            p if p is not None and _is_profitable(p, r) else None for p, r in zip(found, how, strict=True)
        )
        if kept == found:
            break
        found = kept
    left, right = found
    return left, right


def _is_profitable(prologue: Prologue, reads: FactorReads) -> bool:
    """Whether each element is computed once, or a cheap one twice, and can be read in the emitter's vectors."""
    accesses = [(value, access) for value, access in prologue.operands if access is not None]
    if reads.ascending and any(access.descends for _, access in accesses):
        return False
    for value, access in accesses if reads.along is not None else ():
        strides, _ = ir.MemRefType(value.type).get_strides_and_offset()
        if access.stride(reads.along, strides) not in (0, 1):
            return False
    if reads.from_memory and prologue.is_cheap:
        made, read = prologue.element_bits
        return reads.times * read <= read + made + reads.times * made
    return reads.times <= (CHEAP_REPEATS if prologue.is_cheap else 1)
