"""A `while` loop that counts is a `for` loop.

Comes in: a kernel, work-item or loops. Goes out: `scf.for` in place of each `scf.while` whose condition compares a
counter with what does not change, and whose body ends by adding a number to it. Read next: `items_from_loops`.

Why: nothing that reads loops, from raising to lanes, looks into conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.index_space import GroupSizeOp, NdrangeOp, NumGroupsOp, SubgroupSizeOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.index_arithmetic import hoist
from pykern.passes.ir.predicates import MIRRORED, predicate_of
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import index_arithmetic, index_constant, is_constant, named, terminator
from pykern.passes.remarks import remark

_UPWARDS, _DOWNWARDS = ("slt", "sle"), ("sgt", "sge")
"""Predicates of the conditions of loops that count."""
_SIZES = tuple(op.OPERATION_NAME for op in (NdrangeOp, GroupSizeOp, NumGroupsOp, SubgroupSizeOp))


@dataclass(frozen=True)
class CountLoops(Pass):
    """Turn `while` loops that count into `for` loops.

    In:  kernels with `scf.while`.
    Out: `scf.for` where the condition is one comparison of an index, to which each iteration adds the same positive
         number or a size of the launch, with an upper bound that does not change; or from which it takes one, with a
         lower bound. It may be cast for that. What the loop leaves, the counter included, is the same.
    """

    name: ClassVar[str] = "kern-count-loops"
    looks_for: ClassVar[tuple[str, ...]] = ("scf.while",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for loop in named(kernel, "scf.while"):
                counter = _counter(loop)
                if counter is not None:
                    remark(loop, "the loop counts: it is treated as one over a range")
                    _replace(loop, counter)
                    changed = True
        return changed


@dataclass(frozen=True)
class Counter:
    """The place of the counter among what the loop carries, what is added to it, and what it is compared with."""

    place: int
    step: int | ir.Value
    bound: ir.Value
    is_included: bool

    @property
    def goes_down(self) -> bool:
        return self.step == -1

    def distance(self) -> ir.Value:
        """From one iteration to the next, at the insertion point."""
        return index_constant(abs(self.step)) if isinstance(self.step, int) else self.step


def _counter(loop: ir.Operation) -> Counter | None:
    before, after = (region.blocks[0] for region in loop.regions)
    *asked, end = [op.operation for op in before.operations]
    arguments = list(before.arguments)
    passed = list(end.operands)[1:]
    compare = made_by(end.operands[0], "arith.cmpi")
    if compare is None or compare.block != before or not all(value in arguments for value in passed):
        return None
    if not all(op in (compare, end) or is_speculatable(op) for op in asked):
        return None
    predicate = predicate_of(compare)
    left, right = map(_uncast, compare.operands)
    if right in arguments:
        left, right, predicate = right, left, MIRRORED[predicate]
    if (
        predicate not in (*_UPWARDS, *_DOWNWARDS)
        or left not in arguments
        or not isinstance(left.type, ir.IndexType)
    ):
        return None
    place = arguments.index(left)
    step = _step(terminator(after).operands[place], left, passed, list(after.arguments))
    counts_up = predicate in _UPWARDS
    if step is None or not hoist(right, loop):
        return None
    if isinstance(step, int) and (step < 1 if counts_up else step != -1):
        return None
    if not isinstance(step, int) and not (counts_up and hoist(step, loop)):
        return None
    if not isinstance(right.type, ir.IndexType):
        with ir.InsertionPoint(loop), loop.location:
            right = arith.IndexCastOp(ir.IndexType.get(), right).result
    return Counter(place, step, right, predicate in ("sle", "sge"))


def _uncast(value: ir.Value) -> ir.Value:
    """The index that a number of 64 bits is: integers that are passed are compared so."""
    cast = made_by(value, "arith.index_cast")
    return value if cast is None or str(value.type) != "i64" else cast.operands[0]


def _step(
    next_one: ir.Value, counter: ir.Value, passed: list[ir.Value], given: list[ir.Value]
) -> int | ir.Value | None:
    """What the body adds to the counter."""
    op = made_by(next_one, "arith.addi", "arith.subi")
    if op is None or op.operands[0] not in given or passed[given.index(op.operands[0])] != counter:
        return None
    number = is_constant(op.operands[1])
    if number is None and op.name == "arith.addi" and _is_size(op.operands[1]):
        return op.operands[1]
    return -number if number is not None and op.name == "arith.subi" else number


def _is_size(value: ir.Value) -> bool:
    """Whether a value is a size of the launch, or a product of such and of numbers: at least 1, where there is a
    work-item."""
    if (number := is_constant(value)) is not None:
        return number >= 1
    op = made_by(value, *_SIZES, "arith.muli")
    return op is not None and (op.name in _SIZES or all(map(_is_size, op.operands)))


def _replace(loop: ir.Operation, counter: Counter) -> None:
    """Write the loop as one from 0, or from its start, to its bound."""
    before, after = (region.blocks[0] for region in loop.regions)
    passed = list(terminator(before).operands)[1:]
    starts = list(loop.operands)
    start = starts.pop(counter.place)
    with ir.InsertionPoint(loop), loop.location:
        first, end = _range(start, counter)
        made = scf.ForOp(first, end, counter.distance(), starts)
        behind = _behind(first, end, start, counter)
    now = list(made.inner_iter_args)
    results = list(made.results)
    with ir.InsertionPoint(made.body), loop.location:
        variable = made.induction_variable
        now.insert(counter.place, arith.SubIOp(start, variable).result if counter.goes_down else variable)
        results.insert(counter.place, behind)
    held = list(before.arguments)
    for given, value in zip(after.arguments, passed, strict=True):
        given.replace_all_uses_with(now[held.index(value)])
    for result, value in zip(loop.results, passed, strict=True):
        result.replace_all_uses_with(results[held.index(value)])
    last = terminator(after)
    ends = [value for place, value in enumerate(last.operands) if place != counter.place]
    with ir.InsertionPoint(made.body), loop.location:
        closing = scf.YieldOp(ends).operation
    for op in [o.operation for o in after.operations][:-1]:
        op.move_before(closing)
    loop.erase()


def _range(start: ir.Value, counter: Counter) -> tuple[ir.Value, ir.Value]:
    """From where to where the variable of the new loop goes: backwards it is how far from the start."""
    one = index_constant(1)
    if not counter.goes_down:
        return start, index_arithmetic("addi", counter.bound, one) if counter.is_included else counter.bound
    length = index_arithmetic("subi", start, counter.bound)
    return index_constant(0), index_arithmetic("addi", length, one) if counter.is_included else length


def _behind(first: ir.Value, end: ir.Value, start: ir.Value, counter: Counter) -> ir.Value:
    """What the counter is behind the loop, at the insertion point."""
    length = arith.MaxSIOp(index_arithmetic("subi", end, first), index_constant(0)).result
    if counter.goes_down:
        return index_arithmetic("subi", start, length)
    step = counter.distance()
    trips = arith.CeilDivSIOp(length, step).result
    return index_arithmetic("addi", start, arith.MulIOp(trips, step).result)
