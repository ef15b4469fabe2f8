"""Loops over a row that reduce it, as vectors.

Comes in: innermost scf.for that carry reductions. Goes out: a loop of vectors, its lanes put together, and the
loop itself for the rest. Read next: `reduction` (lanes of one value), `accesses` (which loops), `body` (their vectors).

Why: a maximum that keeps NaN is more than one instruction, and LLVM leaves loops of them scalar: half the time of
a softmax. And a page, about a row, is as far as the machine looks ahead by itself: the last loop that reads a row
fetches the next one meanwhile (softmax 4096x1024 2.4 -> 1.9 ms). LLVM would take that for a reason not to vectorise.
Fetching what is going to be written gained nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref, scf

from pykern.errors import PassError
from pykern.passes.framework import Pass
from pykern.passes.kernels import find, identity, index_constant, is_constant
from pykern.passes.vectorize.accesses import Access, Accesses, accesses_of, arrays_of
from pykern.passes.vectorize.body import VectorBody
from pykern.passes.vectorize.reduction import Reduction, reductions_of
from pykern.passes.vectorize.streams import functions, lanes_of

LINE_BYTES = 64
AS_IT_IS = "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"
"""Unrolled, lanes would be truth values of several vectors packed into bytes."""


@dataclass(frozen=True)
class VectorizeReductions(Pass):
    """Give loops that reduce, one after another in a loop over rows, a version in vectors.

    In:  func.func marked `kern.noalias`: its array arguments do not overlap with each other or with
         scratch of its own.
    Out: an scf.for over vectors of `bytes` (half of it where elementary functions are in the loop), which
         carries a vector for each reduction, and for each maximum or minimum which lanes met a NaN; then
         the loop as it was, from where that one ends. Of a maximum alone the last vector is made of the last
         elements. Loops with sums are taken where these may be reordered; where a loop only sums up, only beside
         others in a loop over rows. Of -0.0 and 0.0 either may be the larger one.
    """

    name: ClassVar[str] = "kern-vectorize-reductions"
    bytes: int = 128
    prefetch: bool = True
    """Whether the last loop that reads a row of an array fetches the next row."""

    def run(self, module: ir.Module) -> None:
        if self.bytes < 2 or self.bytes & (self.bytes - 1):
            raise PassError(f"`{self}`: `bytes` is the width of a vector, a power of two")
        for function in functions(module):
            if "kern.noalias" in function.attributes and len(function.regions[0].blocks) == 1:
                self._function(function)

    def _function(self, function: ir.Operation) -> None:
        arrays = arrays_of(function)
        found: list[RowLoop] = []
        for loop in find(function, _is_candidate):
            reductions = reductions_of(loop)
            rows = _loop_over_rows(loop)
            if not reductions or not (rows or any(r.is_extreme for r in reductions)):
                continue
            accesses = accesses_of(loop, arrays)
            if accesses is not None and accesses.loads:
                found.append(RowLoop(loop, accesses, reductions, rows))
        if self.prefetch:
            _share_fetching(found)
        for each in reversed(found):
            each.vectorize(self.bytes)


@dataclass
class RowLoop:
    """A loop to make vectors of."""

    loop: ir.Operation
    accesses: Accesses
    reductions: list[Reduction]
    rows: ir.Operation | None
    """The loop over rows, where there is one; vectors make more loops, so it is looked for before."""
    ahead: list[Access] = field(default_factory=list)
    """Rows of arrays of which it fetches the next one."""

    def rows_read(self) -> list[Access]:
        """Loads along a row of an array, one an array, where the loop stands in a loop over rows."""
        if self.rows is None:
            return []
        row = self.rows.opview.induction_variable
        found: dict[ir.Value, Access] = {}
        for access in self.accesses.loads:
            if access.column is not None and len(access.indices) > 1 and access.indices[-2] == row:
                found.setdefault(access.memory, access)
        return list(found.values())

    def is_like(self, other: RowLoop) -> bool:
        """Whether both go over the same columns of the same row."""
        if self.rows is None or other.rows is None or identity(self.rows) != identity(other.rows):
            return False
        return list(self.loop.operands)[:2] == list(other.loop.operands)[:2]

    def vectorize(self, width: int) -> None:
        loop = self.loop
        costly = find(loop, lambda op: op.name.startswith("math."))
        lanes = lanes_of(self.accesses, width // 2 if costly else width)
        if lanes < 2 or _is_short(loop, 2 * lanes):
            return
        again_at_end = not self.accesses.stores and all(each.is_extreme for each in self.reductions)
        with ir.InsertionPoint(loop), loop.location:
            lower, upper, initial = loop.operands[0], loop.operands[1], list(loop.operands)[3:]
            middle = (_all_if_many if again_at_end else whole_vectors)(lower, upper, lanes)
            begin = [value for each in self.reductions for value in each.begin(lanes)]
            vectors = scf.ForOp(lower, middle, index_constant(lanes), begin)
            vectors.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(AS_IT_IS)
            with ir.InsertionPoint(vectors.body):
                at = vectors.induction_variable
                if again_at_end:  # some of the last elements were met before
                    at = arith.MinSIOp(at, arith.SubIOp(upper, index_constant(lanes)).result).result
                self._fetch(at, lanes)
                made = VectorBody(loop, self.accesses, at, lanes, {})
                made.emit()
                held = iter(vectors.inner_iter_args)
                scf.YieldOp([v for each in self.reductions for v in each.step(held, made.vector(each.added))])
            found = iter(vectors.results)
            joined = [each.finish(found, first) for each, first in zip(self.reductions, initial, strict=True)]
        loop.operands[0] = middle
        for number, value in enumerate(joined):
            loop.operands[3 + number] = value

    def _fetch(self, at: ir.Value, lanes: int) -> None:
        """Every line of what this vector is in the next row."""
        if not self.ahead or self.rows is None:
            return
        step = self.rows.operands[2]
        for access in self.ahead:
            following = arith.AddIOp(access.indices[-2], step).result
            for line in range(0, lanes * access.size, LINE_BYTES):
                column = arith.AddIOp(at, index_constant(line // access.size)).result
                memref.PrefetchOp(access.memory, [*access.indices[:-2], following, column], False, 3, True)


def _share_fetching(loops: list[RowLoop]) -> None:
    """The next row of an array is fetched by the last loop that reads it, or one behind it that fetches less."""
    last: dict[tuple[int, ir.Value], tuple[int, Access]] = {}
    for number, each in enumerate(loops):
        for access in each.rows_read():
            assert each.rows is not None
            last[identity(each.rows), access.memory] = number, access
    for number, access in last.values():
        free = [each for each in loops[number:] if each.is_like(loops[number])]
        min(reversed(free), key=lambda each: len(each.ahead)).ahead.append(access)


def whole_vectors(lower: ir.Value, upper: ir.Value, lanes: int) -> ir.Value:
    """Where the iterations end that make whole vectors."""
    trips = arith.MaxSIOp(arith.SubIOp(upper, lower).result, index_constant(0)).result
    rest = arith.RemUIOp(trips, index_constant(lanes)).result
    return arith.AddIOp(lower, arith.SubIOp(trips, rest).result).result


def _all_if_many(lower: ir.Value, upper: ir.Value, lanes: int) -> ir.Value:
    """The end of all iterations where they make a vector, else their beginning."""
    trips = arith.SubIOp(upper, lower).result
    many = arith.CmpIOp(arith.CmpIPredicate.sge, trips, index_constant(lanes)).result
    return arith.SelectOp(many, upper, lower).result


def _loop_over_rows(loop: ir.Operation) -> ir.Operation | None:
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


def _is_candidate(op: ir.Operation) -> bool:
    """Innermost loops over index with step 1 that carry something."""
    if op.name != "scf.for" or not op.results or is_constant(op.operands[2]) != 1:
        return False
    if "llvm.loop_annotation" in op.attributes:  # somebody has decided about it
        return False
    return isinstance(op.operands[0].type, ir.IndexType) and "unsignedCmp" not in op.attributes


def _is_short(loop: ir.Operation, trips: int) -> bool:
    bounds = [is_constant(v) for v in list(loop.operands)[:2]]
    return None not in bounds and bounds[1] - bounds[0] < trips  # type: ignore[operator]
