"""Integer ranges of values that `scf.while` carries, proved by induction.

Comes in: values that an `scf.while` carries. Goes out: the range of their initial values, if each iteration keeps them
in it. In a binary search, for example, both ends stay in the range where they began: while `low < high`, the middle is
below `high`, so `middle + 1` is at most `high`. Read next: `integer_ranges` (all other values), `narrow_indices`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from pykern.passes.analysis.integer_ranges import Interval, Ranges, signed, width
from pykern.passes.ir.predicates import predicate_of
from pykern.passes.ir.values import defining, is_argument

_WHILE = "scf.while"
_LESS = {"slt": 1, "sle": 0}
"""By how much the left side is less at least."""
_GREATER = {"sgt": 1, "sge": 0}


class CarriedRanges(Ranges):
    """Intervals that hold wherever their value is defined, carried values of `scf.while` included."""

    def _find(self, value: ir.Value) -> Interval | None:
        owner = value.owner.owner if is_argument(value) else value.owner
        if owner.operation.name != _WHILE:
            return super()._find(value)
        self._learn(owner.operation)
        return self._known.get(value)

    def _learn(self, loop: ir.Operation) -> None:
        """Note the intervals of all that the loop carries and gives."""
        before, after = (region.blocks[0] for region in loop.regions)
        condition, back = ([op.operation for op in block.operations][-1] for block in (before, after))
        given = [self.of(value) for value in loop.operands if width(value.type) > 1]
        if not given:
            return
        hull = Interval(min(one.low for one in given), max(one.high for one in given))
        supposed = {a for a in before.arguments if width(a.type) > 1 and hull.inside(signed(width(a.type)))}
        while True:
            trial = self._supposing(before, supposed, hull, condition, after)
            kept = {
                argument
                for argument, following in zip(before.arguments, back.operands, strict=True)
                if argument in supposed and trial.of(following).inside(hull)
            }
            if kept == supposed:
                break
            supposed = kept
        for value in (*before.arguments, *after.arguments):
            if width(value.type):
                self._known[value] = trial.of(value)
        for result, handed in zip(loop.results, list(condition.operands)[1:], strict=True):
            if width(result.type):
                self._known[result] = self.of(handed)

    def _supposing(
        self,
        before: ir.Block,
        supposed: set[ir.Value],
        hull: Interval,
        condition: ir.Operation,
        after: ir.Block,
    ) -> CarriedRanges:
        """What would follow in an iteration, if the values `supposed` were in `hull` at its beginning."""
        trial = CarriedRanges()
        trial._known = dict(self._known)
        for argument in before.arguments:
            if bits := width(argument.type):
                trial._known[argument] = hull if argument in supposed else signed(bits)
        for argument, handed in zip(after.arguments, list(condition.operands)[1:], strict=True):
            if width(argument.type):
                trial._known[argument] = _limited(handed, condition.operands[0], trial)
        return trial


def _limited(value: ir.Value, holds: ir.Value, ranges: Ranges) -> Interval:
    """The interval of `value` where the condition holds."""
    found = ranges.of(value)
    low, high = found.low, found.high
    for less, greater, by in _orders(holds):
        if value == less:
            high = min(high, ranges.of(greater).high - by)
        if value == greater:
            low = max(low, ranges.of(less).low + by)
    return Interval(low, high) if low <= high else found


def _orders(holds: ir.Value) -> Iterator[tuple[ir.Value, ir.Value, int]]:
    """The comparisons that all hold: which value is less than which, and by how much at least."""
    op = defining(holds)
    if op is None:
        return
    if op.name == "arith.andi":
        for part in op.operands:
            yield from _orders(part)
    if op.name == "arith.cmpi":
        predicate, (left, right) = predicate_of(op), op.operands
        if predicate in _LESS:
            yield left, right, _LESS[predicate]
        if predicate in _GREATER:
            yield right, left, _GREATER[predicate]
