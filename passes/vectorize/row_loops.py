"""Loops over the columns of a row, and which of them fetches coming rows of which array.

Comes in: innermost loops with their accesses, in the order of the program. Goes out: `RowLoop.ahead`.
Read next: `vectorize_reductions`, which makes vectors of them.

Why: processors fetch ahead within a page, which is about a row. Of two arrays, one is fetched in the second pass and
the other in the last one; fetching both in one pass, or in the first one, which waits for its own rows, is slower.

Lines are fetched to the second cache, two rows ahead, because few lines may be under way to the first cache at a time.
`benchmarks/NOTES.md` has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.passes.analysis.cost_model.caches import (
    FETCH_AHEAD_ROWS,
    FETCHED_ALONE_BYTES,
    FETCHED_TOGETHER_BYTES,
    LINE_BYTES,
)
from pykern.passes.kernels import find, identity, index_constant
from pykern.passes.vectorize.accesses import ELEMENTARY, LoopAccess, LoopAccesses
from pykern.passes.vectorize.reduction import Reduction
from pykern.passes.vectorize.selection import Selection
from pykern.passes.vectorize.vectorize_streams import columns_of, streaming_loops


@dataclass(eq=False)
class RowLoop:
    """A loop to make vectors of; without reductions it is one that writes what the others have found."""

    loop: ir.Operation
    accesses: LoopAccesses
    reductions: list[Reduction | Selection]
    rows: ir.Operation | None
    """The loop over rows, or over blocks of one, where there is one; vectors make more, so it is looked for before."""
    ahead: list[LoopAccess] = field(default_factory=list)
    """Rows of arrays of which it fetches one that comes; the next block, where the loop is in blocks."""
    together: int = 0
    """Bytes of a column of all arrays that this loop and those beside it fetch, where there are several of them."""

    def __post_init__(self) -> None:
        self.columns = columns_of(self.loop)
        self.computes = bool(find(self.loop, lambda op: op.name in ELEMENTARY))
        self.in_blocks = self.rows is not None and self.columns[0] == self.rows.opview.induction_variable

    def rows_read(self) -> dict[ir.Value, LoopAccess]:
        """Loads along a row of an array, one an array, where the loop stands in a loop over rows."""
        return self._along_rows(self.accesses.loads)

    def rows_written(self) -> dict[ir.Value, LoopAccess]:
        """The rows that the loop stores to, by array."""
        return self._along_rows(self.accesses.stores)

    def _along_rows(self, accesses: tuple[LoopAccess, ...]) -> dict[ir.Value, LoopAccess]:
        found: dict[ir.Value, LoopAccess] = {}
        if self.rows is None:
            return found
        row, column = self.rows.opview.induction_variable, self.loop.opview.induction_variable
        for access in accesses:
            if self.in_blocks:
                known = access.indices[-1:] == (column,)  # scratch of a block has columns of its own
            else:
                known = access.column is not None and access.indices[-2:-1] == (row,)
            if known:
                found.setdefault(access.memory, access)
        return found

    def is_like(self, other: RowLoop) -> bool:
        """Whether both go over the same columns of the same row."""
        if self.rows is None or other.rows is None or identity(self.rows) != identity(other.rows):
            return False
        return self.columns == other.columns

    def fetch(self, at: ir.Value, lanes: int) -> None:
        """Every line of what the vector at column `at` is in a row that comes, or in the next block."""
        if not self.ahead or self.rows is None:
            return
        if self.most_bytes and not self.in_blocks:
            few = scf.IfOp(self._are_short())
            with ir.InsertionPoint(few.then_block):
                self._fetch_rows(at, lanes)
                scf.YieldOp([])
        else:
            self._fetch_rows(at, lanes)

    @property
    def most_bytes(self) -> int:
        """How long the rows may be that are fetched, of all arrays together; 0 for any length."""
        if self.together:
            return FETCHED_TOGETHER_BYTES
        return 0 if self.computes else FETCHED_ALONE_BYTES

    def _are_short(self) -> ir.Value:
        """Whether the rows that are fetched fit the first cache beside others."""
        kind = ir.MemRefType(self.ahead[0].memory.type)
        if kind.is_dynamic_dim(kind.rank - 1):
            length = arith.SubIOp(self.columns[1], self.columns[0]).result
        else:  # of the whole row, where the loop is over a block of it
            length = index_constant(kind.shape[-1])
        most = self.most_bytes // (self.together or self.ahead[0].size)
        return arith.CmpIOp(arith.CmpIPredicate.sle, length, index_constant(most)).result

    def _fetch_rows(self, at: ir.Value, lanes: int) -> None:
        assert self.rows is not None
        step = self.rows.operands[2]
        if self.in_blocks:
            at = arith.AddIOp(at, step).result
        else:
            ahead = arith.MulIOp(step, index_constant(FETCH_AHEAD_ROWS)).result
        for access in self.ahead:
            rows = list(access.indices[:-1])
            if not self.in_blocks:
                rows[-1] = arith.AddIOp(rows[-1], ahead).result
            for line in range(0, lanes * access.size, LINE_BYTES):
                column = arith.AddIOp(at, index_constant(line // access.size)).result
                memref.PrefetchOp(access.memory, [*rows, column], False, 2, True)

    def fetch_while_streaming(self) -> None:
        """The same in the vectors with streaming stores that stand beside the loop."""
        for vectors in streaming_loops(self.loop) if self.ahead else []:
            step = ir.IntegerAttr(vectors.operands[2].owner.operation.attributes["value"]).value
            with ir.InsertionPoint.at_block_begin(vectors.regions[0].blocks[0]), vectors.location:
                self.fetch(vectors.opview.induction_variable, step)


def share_fetching(loops: list[RowLoop]) -> None:
    """A coming row of an array is fetched by the last reduction that reads it or a loop behind it: one that computes
    elementary functions, else the one that has least to do with memory, of several the last one. Not of an array whose
    rows are written before they are read."""
    last: dict[tuple[int, ir.Value], tuple[int, LoopAccess]] = {}
    written: set[tuple[int, ir.Value]] = set()
    burden = [len(each.rows_written()) for each in loops]
    for number, each in enumerate(loops):
        if each.rows is None:
            continue
        for memory, access in each.rows_read().items():
            key = identity(each.rows), memory
            if key in written:
                continue
            burden[number] += key not in last
            if each.reductions:
                last[key] = number, access
        written |= {(identity(each.rows), memory) for memory in each.rows_written()}
    for number, access in last.values():
        free = [n for n in range(number, len(loops)) if loops[n].is_like(loops[number])]
        chosen = min(reversed(free), key=lambda n: (not loops[n].computes, burden[n]))
        burden[chosen] += 1
        loops[chosen].ahead.append(access)
    for each in loops:
        beside = [a for other in loops if other.is_like(each) for a in other.ahead]
        each.together = sum(a.size for a in beside) if len(beside) > 1 else 0


def loop_over_rows(loop: ir.Operation) -> ir.Operation | None:
    """The loop in which it is one of several passes over a row; a pass may be in blocks, whose sums are joined."""
    outer = loop.parent
    for _ in range(2):
        if outer is None or outer.operation.name != "scf.for":
            return None
        inside = [o.operation for o in outer.operation.regions[0].blocks[0].operations]
        if sum(op.name == "scf.for" for op in inside) > 1:
            return outer.operation
        outer = outer.operation.parent
    return None
