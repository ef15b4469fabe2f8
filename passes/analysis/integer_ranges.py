"""Intervals that integer values are proved to lie in, from static facts alone.

Comes in: a value of type index (64 bits) or iN. Goes out: an `Interval` in its signed reading.
Facts are constants, constant bounds of loops, static lengths, the widths of types, what ops say of
themselves (`RANGE`), and what the ops of arith make of them. What may wrap around has the whole
interval of its type. Guards are not looked at, so that an interval holds wherever its value is defined.
Read next: `narrow_indices`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.ir.values import is_argument
from pykern.passes.kernels import is_constant


@dataclass(frozen=True)
class Interval:
    """All integers from `low` to `high`, both included."""

    low: int
    high: int

    def inside(self, other: Interval) -> bool:
        return other.low <= self.low and self.high <= other.high

    @property
    def is_nonnegative(self) -> bool:
        return self.low >= 0


def signed(bits: int) -> Interval:
    """The range of signed integers of `bits` bits."""
    return Interval(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


I32, I64 = signed(32), signed(64)


def width(kind: ir.Type) -> int:
    """Bits of an integer type, 0 for any other type; an index has 64."""
    if isinstance(kind, ir.IndexType):
        return 64
    return kind.width if isinstance(kind, ir.IntegerType) else 0


class Ranges:
    """Intervals of values, each worked out once. Good as long as the ops looked at stay as they are."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, Interval] = {}

    def of(self, value: ir.Value) -> Interval:
        """The interval of an integer value. Raises ValueError for other types."""
        bits = width(value.type)
        if not bits:
            raise ValueError(f"no integer: {value.type}")
        if value not in self._known:
            whole = signed(bits)
            found = self._find(value)
            self._known[value] = found if found is not None and found.inside(whole) else whole
        return self._known[value]

    def note(self, value: ir.Value, interval: Interval) -> None:
        """Take it that a new value, which stands for one of a known interval, lies in it."""
        self._known[value] = interval

    def _find(self, value: ir.Value) -> Interval | None:
        if width(value.type) == 1:
            return None
        if is_argument(value):
            return self._of_counter(value)
        number = is_constant(value)
        if number is not None:
            return Interval(number, number)
        op = value.owner.operation
        if kern.RANGE in op.attributes:
            return Interval(*ir.DenseI64ArrayAttr(op.attributes[kern.RANGE]))
        if op.name == "scf.if":
            return self._of_branches(op, value)
        if op.name == "memref.dim":
            return _of_length(op)
        rule = _RULES.get(op.name)
        return rule(self, op) if rule else None

    def _of_counter(self, value: ir.Value) -> Interval | None:
        """An induction variable; other block arguments are unknown."""
        loop = value.owner.owner
        if loop.operation.name != "scf.for" or value != loop.opview.induction_variable:
            return None
        lower, upper, step = (self.of(bound) for bound in list(loop.operation.operands)[:3])
        unsigned = "unsignedCmp" in loop.operation.attributes
        if unsigned and not (lower.is_nonnegative and upper.is_nonnegative):
            return None
        most = signed(width(value.type)).high
        wraps = upper.high - 1 + step.high > (2 * most + 1 if unsigned else most)
        if step.low < 0 or wraps or lower.low >= upper.high:
            return None
        return Interval(lower.low, upper.high - 1)

    def _of_branches(self, op: ir.Operation, value: ir.Value) -> Interval:
        number = list(op.results).index(value)
        yields = [list(region.blocks[0].operations)[-1].operation for region in op.regions]
        return _hull(self.of(y.operands[number]) for y in yields)


def _of_length(op: ir.Operation) -> Interval | None:
    dim, kind = is_constant(op.operands[1]), ir.ShapedType(op.operands[0].type)
    if dim is None or not kind.has_rank or not 0 <= dim < kind.rank:
        return None
    if kind.is_dynamic_dim(dim):
        return Interval(0, I64.high)
    return Interval(kind.get_dim_size(dim), kind.get_dim_size(dim))


def _hull(parts: Iterable[Interval]) -> Interval:
    parts = list(parts)
    return Interval(min(p.low for p in parts), max(p.high for p in parts))


# -- one rule an op: None where nothing is known ------------------------------------------------

Rule = Callable[[Ranges, ir.Operation], "Interval | None"]
Combine = Callable[[Interval, Interval], "Interval | None"]


def _binary(combine: Combine) -> Rule:
    return lambda ranges, op: combine(ranges.of(op.operands[0]), ranges.of(op.operands[1]))


def _corners(function: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval]:
    """The range of an op that is monotone in each operand: its extremes are at the corners of the operands' ranges."""

    def combine(a: Interval, b: Interval) -> Interval:
        ends = [function(x, y) for x, y in product((a.low, a.high), (b.low, b.high))]
        return Interval(min(ends), max(ends))

    return combine


def _nonnegative(combine: Combine) -> Combine:
    """Unsigned ops agree with signed ones where neither operand has its sign bit set."""
    return lambda a, b: combine(a, b) if a.is_nonnegative and b.is_nonnegative else None


def _divide(function: Callable[[int, int], int]) -> Combine:
    """Quotients. Dividing by 0 is undefined, so a divisor that is not negative is at least 1."""

    def combine(a: Interval, b: Interval) -> Interval:
        if b.is_nonnegative and b.high >= 1:
            return _corners(function)(a, Interval(max(b.low, 1), b.high))
        largest = max(abs(a.low), abs(a.high))
        return Interval(-largest, largest)

    return combine


def _toward_zero(a: int, b: int) -> int:
    return abs(a) // b * (1 if a >= 0 else -1)


def _remainder(a: Interval, b: Interval) -> Interval | None:
    """The sign is the dividend's, the magnitude below the divisor's and not above the dividend's."""
    largest = max(abs(b.low), abs(b.high)) - 1
    return Interval(-min(max(-a.low, 0), largest), min(max(a.high, 0), largest)) if largest >= 0 else None


def _unsigned_remainder(a: Interval, b: Interval) -> Interval | None:
    if not b.is_nonnegative or b.high < 1:
        return None
    return Interval(0, min(a.high, b.high - 1) if a.is_nonnegative else b.high - 1)


def _unsigned_least(a: Interval, b: Interval) -> Interval | None:
    highs = [x.high for x in (a, b) if x.is_nonnegative]
    if not highs:
        return None
    return Interval(min(a.low, b.low) if len(highs) == 2 else 0, min(highs))


def _and(a: Interval, b: Interval) -> Interval | None:
    highs = [x.high for x in (a, b) if x.is_nonnegative]
    return Interval(0, min(highs)) if highs else None


def _or(a: Interval, b: Interval) -> Interval | None:
    return Interval(0, (1 << max(a.high.bit_length(), b.high.bit_length())) - 1)


def _by_bits(combine: Combine) -> Combine:
    """Bit operations: by `combine` where that knows something, else the bits that both operands have."""

    def combined(a: Interval, b: Interval) -> Interval:
        bits = max((n if n >= 0 else ~n).bit_length() for n in (a.low, a.high, b.low, b.high))
        return combine(a, b) or Interval(-(1 << bits), (1 << bits) - 1)

    return combined


def _shift(function: Callable[[int, int], int]) -> Combine:
    return lambda a, b: _corners(function)(a, b) if b.inside(Interval(0, 63)) else None


def _sign_cast(ranges: Ranges, op: ir.Operation) -> Interval | None:
    return ranges.of(op.operands[0])  # a narrower result that cannot hold it falls back to its type


def _zero_cast(ranges: Ranges, op: ir.Operation) -> Interval | None:
    given, bits = ranges.of(op.operands[0]), width(op.operands[0].type)
    if given.is_nonnegative:
        return given
    return Interval(0, (1 << bits) - 1) if width(op.results[0].type) > bits else None


def _select(ranges: Ranges, op: ir.Operation) -> Interval:
    return _hull((ranges.of(op.operands[1]), ranges.of(op.operands[2])))


_LEAST: Combine = lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high))  # noqa: E731
_GREATEST: Combine = lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high))  # noqa: E731

_RULES: dict[str, Rule] = {
    "arith.addi": _binary(lambda a, b: Interval(a.low + b.low, a.high + b.high)),
    "arith.subi": _binary(lambda a, b: Interval(a.low - b.high, a.high - b.low)),
    "arith.muli": _binary(_corners(lambda x, y: x * y)),
    "arith.divsi": _binary(_divide(_toward_zero)),
    "arith.divui": _binary(_nonnegative(_divide(_toward_zero))),
    "arith.floordivsi": _binary(_divide(lambda x, y: x // y)),
    "arith.ceildivsi": _binary(_divide(lambda x, y: -(-x // y))),
    "arith.ceildivui": _binary(_nonnegative(_divide(lambda x, y: -(-x // y)))),
    "arith.remsi": _binary(_remainder),
    "arith.remui": _binary(_unsigned_remainder),
    "arith.minsi": _binary(_LEAST),
    "arith.maxsi": _binary(_GREATEST),
    "arith.minui": _binary(_unsigned_least),
    "arith.maxui": _binary(_nonnegative(_GREATEST)),
    "arith.andi": _binary(_by_bits(_and)),
    "arith.ori": _binary(_by_bits(_nonnegative(_or))),
    "arith.xori": _binary(_by_bits(_nonnegative(_or))),
    "arith.shli": _binary(_shift(lambda x, y: x << y)),
    "arith.shrsi": _binary(_shift(lambda x, y: x >> y)),
    "arith.shrui": _binary(_nonnegative(_shift(lambda x, y: x >> y))),
    "arith.select": _select,
    "arith.index_cast": _sign_cast,
    "arith.extsi": _sign_cast,
    "arith.trunci": _sign_cast,
    "arith.index_castui": _zero_cast,
    "arith.extui": _zero_cast,
}
