"""How often a loop runs at most, where that follows from the program.

Comes in: an `scf.for` with bounds known at run time, or an `scf.while`. Goes out: a number that its trips do not
exceed, or None. A while is bounded by a comparison that its condition implies, of a value it carries and steps by a
constant: ``for k in pk.range(6)`` with a `break`, ``while error > 1e-9 and n < 100``. So there is room for the states
of such a loop (`loop`) before it is known how many there are. Read next: `integer_ranges`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.memory import LOOP_STATE_BYTES
from pykern.passes.analysis.integer_ranges import Ranges
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.predicates import MIRRORED, predicate_of
from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import find, is_constant


def bound_loops(function: ir.Operation) -> None:
    """Write the most trips to the counted loops whose length is not known."""
    ranges = Ranges()
    for op in find(function, lambda op: op.name == "scf.for" and kern.TRIPS_AT_MOST not in op.attributes):
        lower, upper, step = (ranges.of(v) for v in list(op.operands)[:3])
        if step.low > 0:
            write_most(op, _trips(upper.high - lower.low, step.low))


def write_most(op: ir.Operation, most: int | None) -> None:
    """Note a bound on the loop, if it says enough and is needed."""
    if most is None or all(is_constant(v) is not None for v in list(op.operands)[:3]):
        return
    if most * max((_bytes(v.type) for v in list(op.operands)[3:]), default=1) <= LOOP_STATE_BYTES:
        op.attributes[kern.TRIPS_AT_MOST] = ir.IntegerAttr.get(ir.IndexType.get(), most)


def most_trips(loop: ir.Operation) -> int | None:
    """The most times that the second region of an `scf.while` runs."""
    before, after = [region.blocks[0] for region in loop.regions]
    condition, *passed = terminator_operands(before)
    ranges = Ranges()
    found = []
    for compared in _implied(condition):
        for argument, start, end in zip(
            before.arguments, loop.operands, terminator_operands(after), strict=True
        ):
            limit = _limit(compared, argument, ranges)
            if limit is None or argument not in passed:
                continue
            step, begin = _step(end, after.arguments[passed.index(argument)]), ranges.of(start)
            if step * limit.side > 0:
                room = limit.value - begin.low if limit.side > 0 else begin.high - limit.value
                found.append(_trips(room, abs(step)))
    return min(found, default=None)


@dataclass(frozen=True)
class _Limit:
    """A bound that a value stays below (`side` is 1) or above (`side` is -1)."""

    side: int
    value: int


def _trips(room: int, step: int) -> int:
    return max(0, -(-room // step))


def _implied(condition: ir.Value) -> Iterator[ir.Operation]:
    """Comparisons that hold wherever `condition` does."""
    op = defining(condition)
    if op is None:
        return
    if op.name == "arith.cmpi":
        yield op
    elif op.name == "arith.andi":
        for part in op.operands:
            yield from _implied(part)
    elif op.name == "scf.if":
        place = list(op.results).index(condition)
        taken, other = (terminator_operands(region.blocks[0])[place] for region in op.regions)
        if other == op.operands[0] or _is_false(other):
            yield from _implied(op.operands[0])
            yield from _implied(taken)
        elif _is_false(taken) or _is_opposite(taken, op.operands[0]):
            yield from _implied(other)


def _is_false(value: ir.Value) -> bool:
    return _is_bool(value, False)


def _is_opposite(value: ir.Value, of: ir.Value) -> bool:
    op = defining(value)
    return (
        op is not None and op.name == "arith.xori" and op.operands[0] == of and _is_bool(op.operands[1], True)
    )


def _is_bool(value: ir.Value, known: bool) -> bool:
    op = defining(value)
    return op is not None and op.name == "arith.constant" and op.attributes["value"] == ir.BoolAttr.get(known)


def _limit(compared: ir.Operation, value: ir.Value, ranges: Ranges) -> _Limit | None:
    """The bound that a comparison of `value` with something gives it."""
    left, right = compared.operands
    predicate = predicate_of(compared)
    if right == value:
        left, right, predicate = right, left, MIRRORED[predicate]
    if left != value or right == value:
        return None
    other = ranges.of(right)
    return {
        "slt": _Limit(1, other.high),
        "sle": _Limit(1, other.high + 1),
        "sgt": _Limit(-1, other.low),
        "sge": _Limit(-1, other.low - 1),
    }.get(predicate)


def _step(end: ir.Value, value: ir.Value) -> int:
    """The constant difference `end - value`; 0 where it is not constant."""
    op = made_by(end, "arith.addi", "arith.subi")
    if op is None:
        return 0
    left, right = op.operands
    if op.name == "arith.addi" and right == value:
        left, right = right, left
    number = is_constant(right) if left == value else None
    return 0 if number is None else number if op.name == "arith.addi" else -number


def _bytes(kind: ir.Type) -> int:
    if not isinstance(kind, ir.RankedTensorType):
        return 8
    return 8 * math.prod(max(1, n) for n in kind.shape)  # a length that is not known is negative
