"""The bounds test of a loop's body becomes the loop's bounds.

Comes in: loops whose body is one guarded block. Goes out: loops over exactly the guarded range.
Read next: `vectorize.affine` (index arithmetic), `vectorize.vectorize_streams` (who wants loops without tests).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes.framework import Pass
from pykern.passes.ir.effects import erase_dead, writes_nothing
from pykern.passes.ir.index_arithmetic import Affine, affine_of, hoist, materialise
from pykern.passes.ir.predicates import MIRRORED, NEGATED, predicate_of
from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import find, index_constant, is_constant
from pykern.passes.remarks import remark

Literal = tuple[ir.Value, bool]
"""A condition and the truth it needs to have."""


@dataclass(frozen=True)
class TightenBounds(Pass):
    """Move the conjuncts of a loop body's guard into the loop's bounds, or out of the loop.

    In:  scf.for over index whose body writes only under one scf.if, nested conditions included.
    Out: comparisons of `c * iv + invariant` with invariants are in the bounds, invariant conditions
         stand around the loop, what is left stays a guard. The same iterations write, in the same order.
    """

    name: ClassVar[str] = "kern-tighten-bounds"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.if",)
    scalar_only: ClassVar[bool] = True

    def run(self, module: ir.Module) -> bool:
        changed = False
        for loop in _inner_first(module.operation):
            if not loop.results and isinstance(loop.operands[0].type, ir.IndexType) and _is_signed(loop):
                changed = _tighten(loop) or changed
        return changed


def _inner_first(root: ir.Operation) -> list[ir.Operation]:
    return find(root, lambda op: op.name == "scf.for")  # the walk is post-order


def _is_signed(loop: ir.Operation) -> bool:
    return "unsignedCmp" not in loop.attributes


def _tighten(loop: ir.Operation) -> bool:
    facts = GuardFacts(loop)
    guards = _guard_chain(loop.regions[0].blocks[0])
    for guard in guards:
        _reduce(guard, facts)
    if guards:
        facts.apply()
        erase_dead(loop.regions[0].blocks[0])
    return bool(guards)


# -- guards -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Guard:
    """An scf.if without results of which one branch is empty; `wanted` is the truth that runs the other."""

    op: ir.Operation
    wanted: bool

    @property
    def block(self) -> ir.Block:
        return self.op.regions[0 if self.wanted else 1].blocks[0]


def _guard_chain(block: ir.Block) -> list[Guard]:
    """The guard that alone writes in `block`, then the one that alone writes within it, and so on."""
    writing = [o.operation for o in list(block.operations)[:-1] if not writes_nothing(o.operation)]
    if len(writing) != 1 or writing[0].name != "scf.if" or writing[0].results:
        return []
    then, otherwise = (_is_empty(region) for region in writing[0].regions)
    if then == otherwise:
        return []
    guard = Guard(writing[0], wanted=otherwise)
    return [guard, *_guard_chain(guard.block)]


def _is_empty(region: ir.Region) -> bool:
    return all(writes_nothing(o.operation) for block in region.blocks for o in list(block.operations)[:-1])


def _reduce(guard: Guard, facts: GuardFacts) -> None:
    """Take what the bounds can state; the guard keeps the rest of its condition, or goes."""
    condition = guard.op.operands[0]
    rest = facts.take((condition, guard.wanted))
    if rest is None:
        return
    remark(
        guard.op, "the guard is in the bounds of the loop" + (", but for a part that stays" if rest else "")
    )
    place = guard.op
    if rest:
        with ir.InsertionPoint(guard.op), guard.op.location:
            place = scf.IfOp(conjunction(rest)).operation
        with ir.InsertionPoint(place.regions[0].blocks[0]), guard.op.location:
            place = scf.YieldOp([]).operation
    for op in [o.operation for o in guard.block.operations][:-1]:
        op.move_before(place)
    guard.op.erase()


def conjunction(literals: list[Literal]) -> ir.Value:
    """One i1 that holds where every literal does, at the current insertion point."""
    total: ir.Value | None = None
    for value, wanted in literals:
        term = _either(value, wanted)
        total = term if total is None else arith.AndIOp(total, term).result
    return _truth(True) if total is None else total


def _either(value: ir.Value, wanted: bool) -> ir.Value:
    return value if wanted else arith.XOrIOp(value, _truth(True)).result


def _or_all(rest: list[Literal] | None, literal: Literal) -> list[Literal]:
    return [literal] if rest is None else rest


def _conjuncts(op: ir.Operation, wanted: bool) -> list[Literal] | None:
    """Literals that hold exactly where the result of `op` is `wanted`, None where there are no such."""
    operands = list(op.operands)
    truths = [_known_truth(operand) for operand in operands]
    if op.name == ("arith.andi" if wanted else "arith.ori"):
        return [(operand, wanted) for operand in operands]
    if op.name == "arith.xori" and truths[1] is not None:
        return [(operands[0], wanted != truths[1])]
    if op.name == "arith.cmpi" and truths[1] is not None and operands[0].type == _i1():
        predicate = predicate_of(op)
        if predicate in ("eq", "ne"):
            return [(operands[0], wanted == (truths[1] == (predicate == "eq")))]
    if op.name == "arith.select" and operands[1].type == _i1():
        if truths[2] is (not wanted):
            return [(operands[0], True), (operands[1], wanted)]
        if truths[1] is (not wanted):
            return [(operands[0], False), (operands[2], wanted)]
    return None


def _i1() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def _truth(value: bool) -> ir.Value:
    return arith.ConstantOp(_i1(), ir.IntegerAttr.get(_i1(), int(value))).result


def _known_truth(value: ir.Value) -> bool | None:
    op = made_by(value, "arith.constant")
    if op is None or value.type != _i1():
        return None
    return bool(ir.BoolAttr(op.attributes["value"]).value)


# -- what every iteration that writes has in common ---------------------------------------------


@dataclass
class GuardFacts:
    """Conjuncts taken from the guards of one loop: they hold in all of its iterations afterwards."""

    loop: ir.Operation
    lower: list[tuple[Affine, int, ir.Location]] = field(default_factory=list)  # iv >= form / factor
    upper: list[tuple[Affine, int, bool, ir.Location]] = field(default_factory=list)  # strict, or not
    invariant: list[Literal] = field(default_factory=list)

    def take(self, literal: Literal) -> list[Literal] | None:
        """Take what can be taken. Returns what is still to be tested, None where that is `literal` itself."""
        value, wanted = literal
        if _known_truth(value) is wanted:
            return []
        if hoist(value, self.loop):
            if literal not in self.invariant:
                self.invariant.append(literal)
            return []
        op = defining(value)
        if op is None:
            return None
        if op.name == "scf.if":
            return self._take_branch(op, wanted)
        parts = _conjuncts(op, wanted)
        if parts is None:
            return [] if op.name == "arith.cmpi" and self._take_comparison(op, wanted) else None
        rests = [self.take(part) for part in parts]
        if all(rest is None for rest in rests):
            return None
        return [kept for part, rest in zip(parts, rests, strict=True) for kept in _or_all(rest, part)]

    def _take_branch(self, op: ir.Operation, wanted: bool) -> list[Literal] | None:
        """`scf.if %p -> i1 { yield %x } else { yield false }`: %p and %x, where %x may need %p to be safe."""
        if len(op.results) != 1 or not writes_nothing(op):
            return None
        blocks = [region.blocks[0] for region in op.regions]
        yields = [list(block.operations)[-1].operation for block in blocks]
        closed = [_known_truth(y.operands[0]) is (not wanted) for y in yields]
        if closed[0] == closed[1]:
            return None
        live = 0 if closed[1] else 1
        condition, inner = (op.operands[0], live == 0), (yields[live].operands[0], wanted)
        rest = self.take(condition)
        if rest == []:  # the live branch is the one that runs: what it computes needs no test any more
            for moved in [o.operation for o in blocks[live].operations][:-1]:
                moved.move_before(op)
            return _or_all(self.take(inner), inner)
        if rest is not None:
            with ir.InsertionPoint(op), op.location:
                op.operands[0] = _either(conjunction(rest), condition[1])
        if (rest := self.take(inner)) is not None:
            with ir.InsertionPoint(yields[live]), op.location:
                yields[live].operands[0] = _either(conjunction(rest), wanted)
        return None

    def _take_comparison(self, op: ir.Operation, wanted: bool) -> bool:
        left, right = (affine_of(operand, self.loop) for operand in op.operands)
        if left is None or right is None:
            return False
        predicate = predicate_of(op)
        predicate = predicate if wanted else NEGATED[predicate]
        if predicate[0] == "u":
            if predicate in ("ugt", "uge"):
                predicate, left, right = MIRRORED[predicate], right, left
            if not _is_nonnegative(right) or right.coefficient:
                return False  # a negative bound is a huge one without its sign
            return self._add(left, "sge", Affine(), op) and self._add(left, "s" + predicate[1:], right, op)
        if predicate == "eq":
            return self._add(left, "sge", right, op) and self._add(left, "sle", right, op)
        return predicate != "ne" and self._add(left, predicate, right, op)

    def _add(self, left: Affine, predicate: str, right: Affine, op: ir.Operation) -> bool:
        """`left predicate right`, solved for the induction variable."""
        factor = left.coefficient - right.coefficient
        if factor == 0:
            return False
        bound = Affine(0, right.terms, right.constant) - Affine(0, left.terms, left.constant)
        if factor < 0:
            factor, bound, predicate = -factor, bound * -1, MIRRORED[predicate]
        if predicate in ("sgt", "sge"):
            strict = Affine(constant=int(predicate == "sgt"))
            self.lower.append((bound + strict, factor, op.location))
        else:
            self.upper.append((bound, factor, predicate == "slt", op.location))
        return True

    # -- the loop that has them -----------------------------------------------------------------

    def apply(self) -> None:
        """Set the loop's bounds and put the invariant conditions around it."""
        loop = self.loop
        lower, upper, step = loop.operands[0], loop.operands[1], loop.operands[2]
        place = ir.InsertionPoint(loop)
        for form, factor, strict, location in self.upper:
            with place, location:
                upper = _upper_bound(upper, form, factor, strict)
        raised, unit = lower, is_constant(step) == 1
        for form, factor, location in self.lower:
            with place, location:
                least = _quotient(arith.CeilDivSIOp, materialise(form), factor)
                raised = _max(
                    raised, least if unit else _min(least, upper)
                )  # near `upper` rounding cannot wrap
        if raised != lower and not unit:
            with place, loop.location:
                raised = _next_of(lower, raised, step)
        loop.operands[0], loop.operands[1] = raised, upper
        if self.invariant:
            with place, loop.location:
                around = scf.IfOp(conjunction(self.invariant)).operation
            with ir.InsertionPoint(around.regions[0].blocks[0]), loop.location:
                loop.move_before(scf.YieldOp([]).operation)


def _upper_bound(upper: ir.Value, form: Affine, factor: int, strict: bool) -> ir.Value:
    if strict:
        return _min(upper, _quotient(arith.CeilDivSIOp, materialise(form), factor))
    if factor == 1:
        return _min(upper, materialise(form + Affine(constant=1)))
    last = _quotient(arith.FloorDivSIOp, materialise(form), factor)
    return _min(upper, arith.AddIOp(last, index_constant(1)).result)


def _quotient(division: type, value: ir.Value, factor: int) -> ir.Value:
    return value if factor == 1 else division(value, index_constant(factor)).result


def _next_of(lower: ir.Value, raised: ir.Value, step: ir.Value) -> ir.Value:
    """The first of lower, lower + step, ... that is not below `raised` (which is not below `lower`)."""
    distance = arith.SubIOp(raised, lower).result
    padded = arith.AddIOp(distance, arith.SubIOp(step, index_constant(1)).result).result
    steps = arith.DivUIOp(padded, step).result
    return arith.AddIOp(lower, arith.MulIOp(steps, step).result).result


def _max(left: ir.Value, right: ir.Value) -> ir.Value:
    return _extreme(left, right, max, arith.MaxSIOp)


def _min(left: ir.Value, right: ir.Value) -> ir.Value:
    return _extreme(left, right, min, arith.MinSIOp)


def _extreme(left: ir.Value, right: ir.Value, pick: Callable, op: type) -> ir.Value:
    numbers = is_constant(left), is_constant(right)
    if left == right:
        return left
    if None not in numbers:
        return left if pick(numbers) == numbers[0] else right
    return op(left, right).result


def _is_nonnegative(form: Affine) -> bool:
    return form.constant >= 0 and all(factor > 0 and _is_length(value) for factor, value in form.terms)


def _is_length(value: ir.Value) -> bool:
    op = defining(value)
    if op is None:
        return False
    if op.name == "arith.index_cast" and isinstance(op.operands[0].type, ir.IndexType):
        return _is_length(op.operands[0])
    return op.name in ("memref.dim", "arith.extui")
