"""An index as a function of one loop, linear in ranges: ``(i - 1) % 9`` is ``i + 8`` for ``i < 1``, else ``i - 1``.

Comes in: a number in the body of a `linalg.generic`, and the lengths of its loops. Goes out: the loop, and its ranges.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Union

from mlir import ir

from pykern.passes.analysis.cost_model.code_size import MOST_LINEAR_RANGES, PLACE_TERMS
from pykern.passes.ir.values import defining
from pykern.passes.kernels import is_constant


class LinearRange(NamedTuple):
    """``slope * i + start`` for every `i` from `low`, included, to `high`, excluded."""

    low: int
    high: int
    slope: int
    start: int


LinearRanges = Union[list[LinearRange], None]
"""In order, without gaps; None where an index is not known to be such a function. Conditions are 0 and 1."""
_TESTS: dict[int, Callable[[int], bool]] = {
    0: lambda sign: sign == 0, 1: lambda sign: sign != 0, 2: lambda sign: sign < 0, 3: lambda sign: sign <= 0,
    4: lambda sign: sign > 0, 5: lambda sign: sign >= 0,
}  # fmt: skip
"""What `arith.cmpi` asks of the sign of a difference, by the number of its predicate."""


def linear_ranges(value: ir.Value, lengths: Sequence[int]) -> tuple[int | None, list[LinearRange]] | None:
    """The loop that an index follows, none of them for a constant, and its ranges."""
    loops = _loops_behind(value)
    if loops is None or len(loops) > 1:
        return None
    loop = next(iter(loops), None)
    found = _ranges(value, 1 if loop is None else lengths[loop], {})
    return None if found is None else (loop, found)


def _loops_behind(value: ir.Value) -> set[int] | None:
    """The loops that a number is computed from; None where it is computed from many numbers."""
    loops, seen, waiting = set[int](), set[ir.Value](), [value]
    while waiting:
        one = waiting.pop()
        maker = defining(one)
        if one in seen or maker is None:
            continue
        seen.add(one)
        if maker.name == "linalg.index":
            loops.add(ir.IntegerAttr(maker.attributes["dim"]).value)
        elif len(seen) > PLACE_TERMS:
            return None
        waiting += maker.operands
    return loops


def _ranges(value: ir.Value, length: int, known: dict[ir.Value, LinearRanges]) -> LinearRanges:
    """The ranges of a number; `known` has those of others, and grows."""
    if value not in known:
        found = _computed(value, length, known)
        fits = found is not None and len(found) <= MOST_LINEAR_RANGES and _fit(value, found)
        known[value] = found if fits else None
    return known[value]


def _computed(value: ir.Value, length: int, known: dict[ir.Value, LinearRanges]) -> LinearRanges:
    maker, number = defining(value), is_constant(value)
    if number is not None:
        return [LinearRange(0, length, 0, number)]
    if maker is None:
        return None
    if maker.name == "linalg.index":
        return [LinearRange(0, length, 1, 0)]
    if maker.name == "arith.cmpi":
        return _compared(maker, length, known)
    compute = _OPS.get(maker.name)
    if compute is None:
        return None
    operands = [found for v in maker.operands if (found := _ranges(v, length, known)) is not None]
    return _joined(compute(*operands)) if len(operands) == len(maker.operands) else None


def _fit(value: ir.Value, ranges: Sequence[LinearRange]) -> bool:
    """Whether all numbers fit into the value's type: else they wrap around."""
    if not isinstance(value.type, ir.IntegerType) or value.type.width == 1:
        return True
    most = 1 << (value.type.width - 1)
    ends = (slope * n + start for low, high, slope, start in ranges for n in (low, high - 1))
    return all(-most <= number < most for number in ends)


def _joined(ranges: Sequence[LinearRange] | None) -> LinearRanges:
    """Neighbours of one function as one each."""
    found: list[LinearRange] = []
    for each in ranges or ():
        if found and found[-1][2:] == each[2:]:
            found[-1] = found[-1]._replace(high=each.high)
        else:
            found.append(each)
    return found or None


def _common(*functions: Sequence[LinearRange]) -> Iterator[tuple[LinearRange, ...]]:
    """The ranges of several functions, cut where any of them is."""
    edges = sorted({edge for ranges in functions for each in ranges for edge in (each.low, each.high)})
    for low, high in itertools.pairwise(edges):
        yield tuple(
            next(p for p in ranges if p.low <= low < p.high)._replace(low=low, high=high)
            for ranges in functions
        )


def _linear(first: list[LinearRange], second: list[LinearRange], factor: int) -> list[LinearRange]:
    return [
        LinearRange(a.low, a.high, a.slope + factor * b.slope, a.start + factor * b.start)
        for a, b in _common(first, second)
    ]


def _signs(ranges: Sequence[LinearRange]) -> list[LinearRange]:
    """-1, 0 or 1 of each number."""
    found = []
    for low, high, slope, start in ranges:
        if slope == 0:
            found.append(LinearRange(low, high, 0, (start > 0) - (start < 0)))
            continue
        step = 1 if slope > 0 else -1
        slope, start = step * slope, step * start
        zero, above = -(start // slope), -start // slope + 1  # from which it is not below 0, and above 0
        for a, b, sign in ((low, zero, -1), (zero, above, 0), (above, high, 1)):
            if max(a, low) < min(b, high):
                found.append(LinearRange(max(a, low), min(b, high), 0, step * sign))
    return found


def _compared(op: ir.Operation, length: int, known: dict[ir.Value, LinearRanges]) -> LinearRanges:
    """A condition; ``(a ^ c) < 0`` asks whether the signs of two numbers differ."""
    test = _TESTS.get(ir.IntegerAttr(op.attributes["predicate"]).value)
    left = defining(op.operands[0])
    if test is None:
        return None
    if left is not None and left.name == "arith.xori":
        is_sign = is_constant(op.operands[1]) == 0 and test(-1) and not test(0)
        first, second = (_ranges(operand, length, known) for operand in left.operands)
        if not is_sign or first is None or second is None:
            return None
        pairs = _common(_signs(first), _signs(second))
        return _joined([LinearRange(a.low, a.high, 0, int((a.start < 0) != (b.start < 0))) for a, b in pairs])
    first, second = (_ranges(operand, length, known) for operand in op.operands)
    if first is None or second is None:
        return None
    return _joined([p._replace(start=int(test(p.start))) for p in _signs(_linear(first, second, -1))])


def _chosen(
    condition: list[LinearRange], first: list[LinearRange], second: list[LinearRange]
) -> list[LinearRange]:
    return [a if c.start else b for c, a, b in _common(condition, first, second)]


def _least(first: list[LinearRange], second: list[LinearRange]) -> list[LinearRange]:
    return [a if s.start < 0 else b for s, a, b in _common(_signs(_linear(first, second, -1)), first, second)]


def _most(first: list[LinearRange], second: list[LinearRange]) -> list[LinearRange]:
    return [b if s.start < 0 else a for s, a, b in _common(_signs(_linear(first, second, -1)), first, second)]


def _both(first: list[LinearRange], second: list[LinearRange]) -> list[LinearRange] | None:
    """`and` of conditions."""
    is_condition = all(p.slope == 0 and p.start in (0, 1) for p in (*first, *second))
    return [a._replace(start=a.start & b.start) for a, b in _common(first, second)] if is_condition else None


def _rest(first: list[LinearRange], second: list[LinearRange]) -> list[LinearRange] | None:
    """The rest of a division by a constant, with the sign of the number."""
    by = second[0].start
    if len(second) != 1 or second[0].slope or by <= 0:
        return None
    found = []
    for low, high, slope, start in first:
        if slope not in (0, 1):
            return None
        at = low
        while at < high:
            number = slope * at + start
            whole = number // by if number >= 0 else -(-number // by)
            first_value, last = (
                (whole * by, (whole + 1) * by) if number >= 0 else ((whole - 1) * by + 1, whole * by + 1)
            )
            assert first_value <= number < last
            end = min(high, at + last - number) if slope else high
            found.append(LinearRange(at, end, slope, start - whole * by))
            at = end
            if len(found) > MOST_LINEAR_RANGES:
                return None
    return found


_OPS: dict[str, Callable] = {
    "arith.addi": lambda a, b: _linear(a, b, 1), "arith.subi": lambda a, b: _linear(a, b, -1),
    "arith.index_cast": lambda a: a, "arith.extsi": lambda a: a, "arith.select": _chosen,
    "arith.minsi": _least, "arith.maxsi": _most, "arith.andi": _both, "arith.remsi": _rest,
}  # fmt: skip
