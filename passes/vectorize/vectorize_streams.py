"""Stores past the cache: loops that write whole arrays nobody reads soon, as vectors with streaming stores.

Comes in: scf.for nests over memrefs. Goes out: such loops in two versions, chosen at run time.
Read next: `accesses` (which loops), `body` (their vectors), `cache` (how large), `addresses` (how aligned).

Why: an ordinary store reads the line it writes to. Where arrays do not fit the cache, that is a third of
the traffic of ``z = a * x + y``. Streaming is faster from about the size on where all arrays of the loop together
exceed the cache. Stores of a whole cache line matter: with half a line a stencil gains nothing.

Some loads are prefetched (`fetched`): two pages ahead, to the second cache, because few lines may be under way to the
first. `benchmarks/NOTES.md` has the figures.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, llvm, scf

from pykern.dialect import attributes as kern
from pykern.errors import PassError
from pykern.passes.analysis.cost_model.caches import FETCH_AHEAD_BYTES, FIRST_CACHE_BYTES, LAST_CACHE_BYTES
from pykern.passes.analysis.cost_model.lengths import (
    FEWEST_VECTORS,
    FEWEST_VECTORS_IN_PASSES,
    FEWEST_VECTORS_OF_ROWS,
    FEWEST_VECTORS_WITH_ENDS,
)
from pykern.passes.analysis.cost_model.registers import VECTOR_BYTES
from pykern.passes.framework import Pass
from pykern.passes.kernels import body, find, function_around, index_constant, is_constant
from pykern.passes.remarks import remark
from pykern.passes.vectorize.accesses import ELEMENTARY, LoopAccesses, accesses_of, argument, arrays_of
from pykern.passes.vectorize.addresses import address, is_multiple
from pykern.passes.vectorize.body import VectorBody
from pykern.passes.vectorize.cache import arrays_given, cache_of
from pykern.passes.vectorize.fetched import Ahead
from pykern.passes.vectorize.views import look_through_views


@dataclass(frozen=True)
class VectorizeStreams(Pass):
    """Give innermost loops that fill arrays a version with streaming stores.

    In:  func.func marked `kern.noalias`: its array arguments do not overlap with each other or with
         scratch of its own. An index argument with the attribute `kern.cache_bytes` is the size of the
         cache; without one `threshold_bytes` is.
    Out: where the arrays of a loop are larger than the cache, scalars up to an address that is a multiple
         of `bytes`, vectors of `bytes` with `nontemporal` stores, scalars for the rest; else the loop as
         it was. A fence at the end of the function orders the stores before what its caller does next.
    """

    name: ClassVar[str] = "kern-vectorize-streams"
    powers: ClassVar[tuple[str, ...]] = ("bytes",)
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    scalar_only: ClassVar[bool] = True
    bytes: int = VECTOR_BYTES
    threshold_bytes: int = LAST_CACHE_BYTES
    prefetch_bytes: int = FETCH_AHEAD_BYTES
    """Bytes that loads are prefetched ahead where it is profitable; 0 for no prefetching."""
    first_cache_bytes: int = FIRST_CACHE_BYTES

    def run(self, module: ir.Module) -> None:
        if self.bytes < 1 or self.bytes & (self.bytes - 1):
            raise PassError(f"`{self}`: `bytes` is the width of a vector, a power of two")
        for function in functions(module, distinct=True):
            self._function(function)

    def _function(self, function: ir.Operation) -> None:
        candidates = find(function, is_candidate)
        if not candidates:
            return
        cache = cache_of(function, self.threshold_bytes)
        if not cache.surely_holds(arrays_given(function)):
            look_through_views(function)
        arrays = arrays_of(function)
        conditions: list[ir.Value] = []
        for loop in candidates:
            accesses = accesses_of(loop, arrays)
            if accesses is None or not accesses.streamed:
                continue
            sized = _sized(accesses, function)
            if cache.surely_holds(sized):
                continue
            if lanes_of(accesses, self.bytes) < 2:
                continue
            with ir.InsertionPoint.at_block_begin(body(function)), loop.location:
                conditions.append(cache.is_exceeded(sized))
            remark(loop, "streaming stores where the arrays are larger than the cache")
            ahead = Ahead(self.prefetch_bytes, self.first_cache_bytes)
            version(loop, accesses, conditions[-1], self.bytes, ahead)
        if conditions:
            _fence(function, conditions)


def functions(module: ir.Module, distinct: bool = False) -> list[ir.Operation]:
    """The functions of a module that have a body and were not written in vectors.

    `distinct`: only those of one block whose array arguments do not overlap.
    """
    found = [
        op.operation
        for op in module.body.operations
        if op.operation.name == "func.func"
        and op.operation.regions[0].blocks
        and kern.IN_VECTORS not in op.operation.attributes
    ]
    if not distinct:
        return found
    return [op for op in found if kern.NOALIAS in op.attributes and len(op.regions[0].blocks) == 1]


def _sized(accesses: LoopAccesses, function: ir.Operation) -> list[ir.Value]:
    """The arrays that have to fit the cache together: the loop's own, without scratch; of a function whose
    loops go over one row of everything after another all of its arrays."""
    if kern.ROWS in function.attributes:
        return arrays_given(function)
    given = [argument(array) for array in accesses.arrays]
    return [array for array in given if array is not None]


def is_candidate(op: ir.Operation) -> bool:
    """Innermost loops over index with step 1 that carry nothing."""
    if op.name != "scf.for" or op.results or is_constant(op.operands[2]) != 1:
        return False
    if "llvm.loop_annotation" in op.attributes:  # somebody has decided about it
        return False
    return isinstance(op.operands[0].type, ir.IndexType) and "unsignedCmp" not in op.attributes


def version(
    loop: ir.Operation, accesses: LoopAccesses, condition: ir.Value, width: int, ahead: Ahead
) -> None:
    """Where `condition` holds, the middle of the loop runs as vectors and the loop itself twice, for the ends.

    One scalar loop in three roles rather than three loops: they would double the time LLVM takes.
    """
    lower, upper = loop.operands[0], loop.operands[1]
    first, size = accesses.streamed[0], accesses.streamed[0].size
    lanes = lanes_of(accesses, width)
    with ir.InsertionPoint(loop), loop.location:
        begin = address(first, loop, lower)
        lead = _to_alignment(begin, size, lanes * size)
        middle = arith.AddIOp(lower, lead).result
        rest = arith.RemUIOp(arith.SubIOp(upper, middle).result, index_constant(lanes)).result
        last = arith.SubIOp(upper, rest).result
        fewest = _fewest(loop, accesses, lanes, arith.OrIOp(lead, rest).result)
        chosen = condition
        for needed in (*_are_many(lower, upper, fewest), is_multiple(begin, size)):
            chosen = arith.AndIOp(chosen, needed).result
        branch = scf.IfOp(chosen)
        with ir.InsertionPoint(branch.then_block):
            _vectors(loop, accesses, (middle, last), lanes, ahead)
            scf.YieldOp([])
        _run_on_ends(loop, chosen, (lower, middle), (last, upper))


def _run_on_ends(
    loop: ir.Operation, ends: ir.Value, first: tuple[ir.Value, ir.Value], last: tuple[ir.Value, ir.Value]
) -> None:
    """Run the loop for the ranges `first` and `last` where `ends` holds, else from begin to end at once."""
    zero, one = index_constant(0), index_constant(1)
    final = arith.ExtUIOp(ir.IntegerType.get_signless(64), ends).result
    final = arith.IndexCastOp(ir.IndexType.get(), final).result  # 1 or 0: the number of the last part
    parts = scf.ForOp(zero, arith.AddIOp(final, one).result, one)
    once = ir.Attribute.parse(
        "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"
    )
    parts.operation.attributes["llvm.loop_annotation"] = once
    parts.operation.attributes[kern.ENDS] = ir.UnitAttr.get()
    with ir.InsertionPoint(parts.body):
        part = parts.induction_variable
        is_first = arith.CmpIOp(arith.CmpIPredicate.eq, part, zero).result
        is_last = arith.CmpIOp(arith.CmpIPredicate.eq, part, final).result
        begin = arith.SelectOp(is_first, first[0], last[0]).result
        end = arith.SelectOp(is_last, last[1], first[1]).result
        yielded = scf.YieldOp([]).operation
    loop.move_before(yielded)
    loop.operands[0], loop.operands[1] = begin, end


def columns_of(loop: ir.Operation) -> list[ir.Value]:
    """The bounds of a loop; of one that `version` has seen, those it had before."""
    bounds = list(loop.operands)[:2]
    if loop.parent is None or kern.ENDS not in loop.parent.operation.attributes:
        return bounds
    return [bound.owner.operation.operands[1] for bound in bounds]


def streaming_loops(loop: ir.Operation) -> list[ir.Operation]:
    """The vectors that `version` made of a loop."""
    if loop.parent is None or kern.ENDS not in loop.parent.operation.attributes:
        return []
    ends = loop.parent.operation
    before = [o.operation for o in ends.block.operations]
    branches = [op for op in before[: before.index(ends)] if op.name == "scf.if"]
    return find(branches[-1], lambda op: op.name == "scf.for")


def lanes_of(accesses: LoopAccesses, width: int) -> int:
    """Iterations of one vector: `width` bytes of the widest elements."""
    return width // max(access.size for access in (*accesses.loads, *accesses.stores))


def reads_rows(accesses: LoopAccesses) -> bool:
    """Whether several rows of one array are read, as stencils do."""
    rows: dict[ir.Value, set[tuple[ir.Value, ...]]] = {}
    for access in accesses.loads:
        rows.setdefault(access.memory, set()).add(access.indices[:-1])
    return any(len(one) > 1 for one in rows.values())


def _fewest(loop: ir.Operation, accesses: LoopAccesses, lanes: int, ends: ir.Value) -> ir.Value:
    """Iterations from which stores past the cache gain; `ends` is 0 where vectors leave nothing over."""
    if reads_rows(accesses):
        return index_constant(lanes * FEWEST_VECTORS_OF_ROWS)
    is_whole = arith.CmpIOp(arith.CmpIPredicate.eq, ends, index_constant(0)).result
    whole, others = (index_constant(lanes * vectors) for vectors in (FEWEST_VECTORS, _with_ends(loop)))
    return arith.SelectOp(is_whole, whole, others).result


def _with_ends(loop: ir.Operation) -> int:
    """Vectors from which stores past the cache gain in rows that share lines with others."""
    if find(function_around(loop), lambda op: op.name in ELEMENTARY):
        return FEWEST_VECTORS_OF_ROWS
    is_alone = not any(op.operation != loop and op.operation.regions for op in loop.block.operations)
    return FEWEST_VECTORS_WITH_ENDS if is_alone else FEWEST_VECTORS_IN_PASSES


def _are_many(lower: ir.Value, upper: ir.Value, fewest: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Two conditions that together say `upper - lower >= fewest`, whatever the bounds are."""
    some = arith.CmpIOp(arith.CmpIPredicate.slt, lower, upper).result
    count = arith.SubIOp(upper, lower).result
    return some, arith.CmpIOp(arith.CmpIPredicate.uge, count, fewest).result


def _to_alignment(begin: ir.Value, size: int, width: int) -> ir.Value:
    """Elements from address `begin` to the next multiple of `width`."""
    negated = arith.SubIOp(index_constant(0), begin).result
    distance = arith.AndIOp(negated, index_constant(width - 1)).result
    return arith.DivUIOp(distance, index_constant(size)).result


def _vectors(
    loop: ir.Operation,
    accesses: LoopAccesses,
    bounds: tuple[ir.Value, ir.Value],
    lanes: int,
    ahead: Ahead,
) -> None:
    """Iterations in vectors. Where arrays are not aligned as the first one is, they get ordinary stores."""
    alignments = {store.memory: lanes * store.size for store in accesses.streamed}
    first, *others = accesses.streamed
    if not others:
        _vector_loop(loop, accesses, bounds, lanes, alignments, ahead)
        return
    checks = [is_multiple(address(o, loop, bounds[0]), alignments[o.memory]) for o in others]
    alike = functools.reduce(lambda left, right: arith.AndIOp(left, right).result, checks)
    branch = scf.IfOp(alike, has_else=True)
    only_first = {first.memory: alignments[first.memory]}
    for block, streamed in ((branch.then_block, alignments), (branch.else_block, only_first)):
        with ir.InsertionPoint(block):
            _vector_loop(loop, accesses, bounds, lanes, streamed, ahead)
            scf.YieldOp([])


def _vector_loop(
    loop: ir.Operation,
    accesses: LoopAccesses,
    bounds: tuple[ir.Value, ir.Value],
    lanes: int,
    alignment: dict[ir.Value, int],
    ahead: Ahead,
) -> None:
    main = scf.ForOp(*bounds, index_constant(lanes))
    with ir.InsertionPoint(main.body):
        at = main.induction_variable
        ahead.fetch(loop, accesses, at)
        VectorBody(lanes, loop=loop, accesses=accesses, iv=at, alignment=alignment).emit()
        scf.YieldOp([])


def _fence(function: ir.Operation, conditions: list[ir.Value]) -> None:
    """Streaming stores are outside of x86's usual order: without a fence a thread that is told "done" may
    still see old memory. A release fence is no instruction there; seq_cst is one that drains them."""
    end = [o.operation for o in body(function).operations][-1]
    with ir.InsertionPoint(end), function.location:
        any_streamed = functools.reduce(lambda left, right: arith.OrIOp(left, right).result, conditions)
        branch = scf.IfOp(any_streamed)
        with ir.InsertionPoint(branch.then_block):
            llvm.FenceOp(llvm.AtomicOrdering.seq_cst)
            scf.YieldOp([])
