"""What a loop takes along from its best iteration, in the lanes of a vector: `if v > most: most, best = v, j`.

Comes in: the values that a loop carries from iteration to iteration. Goes out: `Selection`: each lane keeps its own
best value and the position at which it met it; at the end the best of all lanes is found, of equal ones that which the
loop as it was written would have kept. Read next: `vectorize_reductions`, which makes vectors of the loop.

Results are those of the loop, bit by bit. Two rare cases have no lanes of their own: a best value of zero that may be
-0.0 or 0.0, and a NaN for which the comparison is true. In these the loop runs as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf, vector

from pykern.passes.ir.clone import rematerialise
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import defining, has_uses, is_inside, made_by
from pykern.passes.kernels import identity, terminator
from pykern.passes.vectorize.body import VectorBody
from pykern.passes.vectorize.comparison import Comparison, comparison_of
from pykern.passes.vectorize.reduction import Joined, Reduction, reduction_of

NO_POSITION = (1 << 31) - 1
"""Larger than every position in a loop of vectors."""
_JOINS = {"max": "arith.maximumf", "min": "arith.minimumf"}
"""Ops that keep the better one of two values, as a comparison does but for NaN."""


@dataclass(frozen=True)
class Selection:
    """The values that the loop takes from an iteration where `comparison` holds: the one that is compared, at `place`
    among those that the loop carries, and what is taken along with it."""

    comparison: Comparison
    loop: ir.Operation
    place: int
    along: tuple[tuple[int, ir.Value], ...]
    """Places of other values, and what an iteration gives for them."""
    watches_nan: bool
    """Whether a NaN changes what the loop does: lanes know none."""

    is_extreme: ClassVar[bool] = True
    runs_twice: ClassVar[bool] = True
    """An iteration may be computed again, once the loop has ended: it must not write."""

    @property
    def element(self) -> ir.Type:
        return self.comparison.added.type

    @property
    def is_float(self) -> bool:
        return isinstance(self.element, ir.FloatType)

    def begin(self, lanes: int, first: Sequence[ir.Value]) -> list[ir.Value]:
        """Lanes begin with what the loop begins with, at a position before all others."""
        start = first[self.place]
        if self.is_float:  # nothing is better than a NaN, so lanes need not know of it
            start = arith.SelectOp(_is_nan(start), constant(self.element, 0.0), start).result
        values = [vector.BroadcastOp(_vector(lanes, self.element), start).result]
        if self.along:
            values.append(constant(_vector(lanes, _i32()), -lanes))
        if self.watches_nan:
            values.append(constant(_vector(lanes, _bits(self.element)), 0))
        return values

    def step(self, held: Iterator[ir.Value], body: VectorBody) -> list[ir.Value]:
        """The values that the loop carries to its next iteration."""
        added, before = body.evaluated(self.comparison.added), next(held)
        better = self.comparison.of(added, before)
        values = [arith.SelectOp(better, added, before).result]
        if self.along:
            position = arith.SubIOp(body.iv, self.loop.operands[0]).result
            short = arith.IndexCastOp(_i32(), position).result
            here = vector.BroadcastOp(_vector(body.width, _i32()), short).result
            values.append(arith.SelectOp(better, here, next(held)).result)
        if self.watches_nan:
            met = next(held)
            values.append(arith.OrIOp(met, arith.ExtSIOp(met.type, _is_nan(added)).result).result)
        return values

    def finish(self, found: Iterator[ir.Value], first: Sequence[ir.Value]) -> Joined:
        """The best of all lanes and what belongs to it."""
        held, start = next(found), first[self.place]
        flags = ir.Attribute.parse(f"#arith.fastmath<{'nnan,nsz' if self.is_float else 'none'}>")
        kind = ir.Attribute.parse(f"#vector.kind<{self.comparison.extreme}>")
        best = vector.ReductionOp(self.element, kind, held, fastmath=flags).result
        values = self._along(best, held, next(found), first) if self.along else {}
        if not self.is_float:
            return Joined({self.place: best, **values})
        doubts = []
        if has_uses(self.loop.results[self.place]):
            doubts.append(_is_unknown_zero(best, held))
        if self.watches_nan:
            doubts += [_any(next(found)), _is_nan(start)]
        values[self.place] = arith.SelectOp(_is_nan(start), start, best).result
        return Joined(values, tuple(doubts))

    def _along(
        self, best: ir.Value, held: ir.Value, vectors: ir.Value, first: Sequence[ir.Value]
    ) -> dict[int, ir.Value]:
        """What the iteration of the best value gives, or what the loop began with where no iteration was better."""
        position = self._position(best, held, vectors)
        taken = arith.CmpIOp(arith.CmpIPredicate.ult, position, constant(_i32(), NO_POSITION)).result
        if self.is_float:
            start = first[self.place]
            ordered = arith.CmpFOp(arith.CmpFPredicate.ORD, start, start).result
            taken = arith.AndIOp(taken, ordered).result
        branch = scf.IfOp(taken, [first[place].type for place, _ in self.along], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            distance = arith.IndexCastOp(ir.IndexType.get(), position).result
            iteration = arith.AddIOp(self.loop.operands[0], distance).result
            known = {self.loop.opview.induction_variable: iteration}
            scf.YieldOp([rematerialise(value, self.loop, known) for _, value in self.along])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([first[place] for place, _ in self.along])
        return {place: made for (place, _), made in zip(self.along, branch.results, strict=True)}

    def _position(self, best: ir.Value, held: ir.Value, vectors: ir.Value) -> ir.Value:
        """The position of the best value: of equal ones the first, or the last where the comparison is true for them.
        It is none of 0 .. `NO_POSITION` - 1, read without a sign, where the loop began with the best."""
        (lanes,) = ir.VectorType(held.type).shape
        kind, strict = _vector(lanes, _i32()), self.comparison.is_strict
        positions = arith.AddIOp(vectors, _lane_numbers(kind)).result
        is_best = self._equals(held, vector.BroadcastOp(held.type, best).result)
        others = constant(kind, NO_POSITION if strict else -1)
        candidates = arith.SelectOp(is_best, positions, others).result
        which = vector.CombiningKind.MINSI if strict else vector.CombiningKind.MAXSI
        return vector.ReductionOp(_i32(), which, candidates).result

    def _equals(self, left: ir.Value, right: ir.Value) -> ir.Value:
        if self.is_float:
            return arith.CmpFOp(arith.CmpFPredicate.OEQ, left, right).result
        return arith.CmpIOp(arith.CmpIPredicate.eq, left, right).result


def reductions_of(loop: ir.Operation) -> list[Reduction | Selection]:
    """What becomes of the values that the loop carries; none where one of them needs the iterations in order."""
    found: list[Reduction | Selection] = []
    if any(isinstance(result.type, ir.VectorType) for result in loop.results):
        return found  # lanes are work-items already
    open_places = []
    for place in range(len(loop.results)):
        each = reduction_of(loop, place)
        found += [] if each is None else [each]
        open_places += [place] if each is None else []
    while open_places:
        selection = _selection(loop, open_places)
        if selection is None:
            return []
        found.append(selection)
        taken = {selection.place, *(place for place, _ in selection.along)}
        open_places = [place for place in open_places if place not in taken]
    return found


def _selection(loop: ir.Operation, places: list[int]) -> Selection | None:
    """The selection that the first of these places belongs to."""
    choices = {place: choice for place in places if (choice := _choice(loop, place)) is not None}
    if places[0] not in choices:
        return None
    condition, wanted, _ = choices[places[0]]
    carried = _carried(loop)
    comparison = comparison_of(condition, carried, wanted)
    if comparison is None:
        return None
    place = carried.index(comparison.held)
    along = {p: value for p, (c, w, value) in choices.items() if (c, w) == (condition, wanted) and p != place}
    keeper = _keeper(loop, place, comparison, choices.get(place))
    if keeper is None or (comparison.sign != "o" and not along):  # LLVM knows extremes of integers
        return None
    ends = [terminator(loop.regions[0].blocks[0]).operands[p] for p in along]
    choosers = {identity(keeper), *(identity(value.owner.operation) for value in ends)}
    known = (
        _is_used_by(comparison.held, {*comparison.ops, identity(keeper)})
        and all(_is_used_by(carried[p], choosers) for p in along)
        and _is_used_by(condition, choosers)
        and all(_is_own(value, loop) for value in (comparison.added, *along.values()))
    )
    watches_nan = comparison.is_true_for_nan or keeper.name != "arith.select"
    return Selection(comparison, loop, place, tuple(along.items()), watches_nan) if known else None


def _choice(loop: ir.Operation, place: int) -> tuple[ir.Value, bool, ir.Value] | None:
    """The condition on which the loop takes another value, its truth then, and the value."""
    held, end = _carried(loop)[place], terminator(loop.regions[0].blocks[0]).operands[place]
    select = made_by(end, "arith.select")
    if select is None or select.block != held.owner or len(list(end.uses)) != 1:
        return None
    condition, yes, no = select.operands
    if (yes == held) == (no == held):
        return None
    return (condition, True, yes) if no == held else (condition, False, no)


def _keeper(
    loop: ir.Operation, place: int, comparison: Comparison, choice: tuple[ir.Value, bool, ir.Value] | None
) -> ir.Operation | None:
    """The op that keeps the better value: a choice by the same condition, or a maximum or minimum."""
    end = terminator(loop.regions[0].blocks[0]).operands[place]
    if choice is not None:
        return end.owner.operation if choice[2] == comparison.added else None
    op = made_by(end, _JOINS.get(comparison.extreme[:3], ""))
    if op is None or comparison.sign != "o" or set(op.operands) != {comparison.added, comparison.held}:
        return None
    return op if len(list(end.uses)) == 1 else None


def _carried(loop: ir.Operation) -> list[ir.Value]:
    arguments: list[ir.Value] = [*loop.regions[0].blocks[0].arguments]
    return arguments[1:]


def _is_used_by(value: ir.Value, users: set[int]) -> bool:
    return all(identity(use.owner.operation) in users for use in value.uses)


def _is_own(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether an iteration gives the value without anything that the loop carries."""
    carried, waiting, seen = _carried(loop), [value], set()
    while waiting:
        one = waiting.pop()
        if one in carried:
            return False
        op = defining(one)
        if op is not None and one not in seen and is_inside(one, loop):
            seen.add(one)
            waiting += op.operands
    return True


def _is_unknown_zero(best: ir.Value, held: ir.Value) -> ir.Value:
    """Whether the best value is zero, and a lane has one with a sign: lanes do not know which was first."""
    zero = constant(best.type, 0.0)
    is_zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, best, zero).result
    (lanes,) = ir.VectorType(held.type).shape
    bits = _bits(best.type)
    kind = _vector(lanes, bits)
    signed = constant(kind, -(1 << (bits.width - 1)))
    met = arith.CmpIOp(arith.CmpIPredicate.eq, vector.BitCastOp(kind, held).result, signed).result
    return arith.AndIOp(is_zero, _any(arith.ExtSIOp(kind, met).result)).result


def _any(truths: ir.Value) -> ir.Value:
    """Whether a lane is not 0."""
    kind = ir.VectorType(truths.type).element_type
    met = vector.ReductionOp(kind, vector.CombiningKind.OR, truths).result
    return arith.CmpIOp(arith.CmpIPredicate.ne, met, constant(kind, 0)).result


def _is_nan(value: ir.Value) -> ir.Value:
    return arith.CmpFOp(arith.CmpFPredicate.UNO, value, value).result


def _lane_numbers(kind: ir.VectorType) -> ir.Value:
    numbers: list[ir.Attribute] = [ir.IntegerAttr.get(kind.element_type, n) for n in range(kind.shape[0])]
    return arith.ConstantOp(kind, ir.DenseElementsAttr.get(numbers, kind)).result


def _vector(lanes: int, element: ir.Type) -> ir.VectorType:
    return ir.VectorType.get([lanes], element)


def _bits(element: ir.Type) -> ir.IntegerType:
    return ir.IntegerType.get_signless(element.width)


def _i32() -> ir.IntegerType:
    return ir.IntegerType.get_signless(32)
