"""Where in a loop an index is clamped, wraps around, or is compared with the edge of an array.

Comes in: a loop over work-items. Goes out: `Edge`s: on which iterations each of these ops has one outcome, and which.
Only edges near an end of the loop count: small numbers at its beginning, lengths at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.lengths import WIDEST_RIM
from pykern.passes.ir.floor_division import floor_divisions
from pykern.passes.ir.index_arithmetic import Affine, affine_of, hoist
from pykern.passes.ir.predicates import MIRRORED, predicate_of
from pykern.passes.ir.values import defining, parent_of
from pykern.passes.kernel.narrow_sums import sum_of
from pykern.passes.kernel.spans import Spans, extremes, spans_of
from pykern.passes.kernels import find, is_constant, named, replace

_FIRST_INDEX = {"memref.load": 1, "memref.store": 2, "kern.atomic_rmw": 2}
_CLAMPS = {"arith.maxsi": "sge", "arith.minsi": "sle"}
_ONE = Affine(constant=1)


@dataclass(frozen=True)
class HalfLine:
    """Iterations from `bound / stride` on, rounded up, or (not `is_lower`) below it; there a comparison has the outcome
    `truth`."""

    bound: Affine
    is_lower: bool
    truth: bool
    is_short: bool
    """Whether few iterations lie outside, as far as lengths of arrays are those of launches."""
    stride: int = 1
    small: tuple[ir.Value, ...] = ()
    """What has to lie within +-`LARGEST_IN_SUM`."""


@dataclass(frozen=True)
class Edge:
    """`op` gives `outcome` on all of these half-lines."""

    op: ir.Operation
    lines: tuple[HalfLine, ...]
    outcome: ir.Value | bool
    says: str
    less: ir.Value | None = None
    """What is to be taken off the outcome."""

    def settle(self) -> None:
        """Put the outcome in place of the op."""
        result = self.op.results[0]
        if not isinstance(self.outcome, bool):
            result.replace_all_uses_with(self._value(self.outcome))
            return
        for user in [use.owner.operation for use in result.uses if use.operand_number == 0]:
            if user.name == "arith.select":
                user.results[0].replace_all_uses_with(user.operands[1 if self.outcome else 2])
            elif user.name == "scf.if" and user.results:
                _take(user, user.regions[0 if self.outcome else 1].blocks[0])
        with ir.InsertionPoint(self.op), self.op.location:
            known = arith.ConstantOp(result.type, ir.IntegerAttr.get(result.type, int(self.outcome))).result
        result.replace_all_uses_with(known)

    def _value(self, outcome: ir.Value) -> ir.Value:
        if self.less is None:
            return outcome
        with ir.InsertionPoint(self.op), self.op.location:
            return arith.SubIOp(outcome, self.less).result


def _take(branch: ir.Operation, side: ir.Block) -> None:
    """Put one side of a branch in its place."""
    *ops, end = [o.operation for o in side.operations]
    for op in ops:
        op.move_before(branch)
    replace(branch, list(end.operands))


def edges_of(loop: ir.Operation, branches_only: bool) -> list[Edge]:
    """The edges that matter: an index of an access depends on them, a branch, or how often a loop runs; with
    `branches_only` a branch or a loop in the innermost loop over work-items."""
    spans = spans_of(loop)
    found = [*_comparisons(loop, spans), *_clamps(loop, spans)]
    if not branches_only:
        found += _remainders(loop, spans)
    return [edge for edge in found if _matters(edge.op.results[0], branches_only)]


def _comparisons(loop: ir.Operation, spans: Spans) -> Iterator[Edge]:
    for op in find(loop, lambda op: op.name == "arith.cmpi"):
        predicate = predicate_of(op)
        line = None if predicate[0] == "u" else _half_line(op, predicate, loop, spans)
        if line is not None:
            yield Edge(op, (line,), line.truth, "a test of the edge")


def _clamps(loop: ir.Operation, spans: Spans) -> Iterator[Edge]:
    for op in find(loop, lambda op: op.name in _CLAMPS):
        line = _half_line(op, _CLAMPS[op.name], loop, spans)
        if line is not None:
            yield Edge(op, (line,), op.operands[0 if line.truth else 1], "an index clamped to the edge")


def _remainders(loop: ir.Operation, spans: Spans) -> Iterator[Edge]:
    for division in floor_divisions(loop):
        dividend = affine_of(division.dividend, loop, spans) if division.is_remainder else None
        if dividend is None or dividend.coefficient != 1 or not hoist(division.divisor, loop):
            continue
        fixed, least, most = extremes(dividend, spans)
        period = ((1, division.divisor),)  # `(j + n - 1) % n` is `j - 1`, too
        less = division.divisor if fixed.terms == period else None
        if not fixed.terms or less is not None:
            lines = _wrapped(fixed.constant, least, most, division.divisor, loop)
            if lines:
                yield Edge(division.op, lines, division.dividend, "a periodic index", less)


def _half_line(op: ir.Operation, predicate: str, loop: ir.Operation, spans: Spans) -> HalfLine | None:
    """Where ``operand 0 predicate operand 1`` has one outcome, whatever the variables of loops inside are."""
    sums = [sum_of(operand, loop, spans) for operand in op.operands]
    if sums[0] is None or sums[1] is None:
        return None
    left, right = (found.form for found in sums if found is not None)
    difference = left - right
    if difference.coefficient < 0:
        difference, predicate = difference * -1, MIRRORED[predicate]
    stride = difference.coefficient
    if not 1 <= stride <= WIDEST_RIM:
        return None
    fixed, least, most = extremes(difference, spans)
    if predicate in ("eq", "ne") and (least != most or stride != 1):
        return None  # `j != i`: outside of all `j` lie few iterations, if any
    bound = Affine(0, fixed.terms, fixed.constant) * -1
    side = left if left.coefficient else right
    offset = _offset(side if side.coefficient > 0 else side * -1)
    place = _place(bound + offset, loop)
    if place is None:
        return None
    is_lower, is_short = place
    reach = least if is_lower else most
    bound, is_short = bound - reach, is_short and reach.is_number and stride == 1 and not offset.terms
    small = tuple(value for found in sums if found is not None for value in found.small)
    if predicate in ("eq", "ne"):
        bound = bound + _ONE if is_lower else bound
        return HalfLine(bound, is_lower, predicate == "ne", is_short, small=small)
    if predicate in ("sgt", "sle"):
        return HalfLine(bound + _ONE, is_lower, (predicate == "sgt") is is_lower, is_short, stride, small)
    return HalfLine(bound, is_lower, (predicate == "sge") is is_lower, is_short, stride, small)


def _offset(side: Affine) -> Affine:
    """What is added to the variable of a loop before it is compared (`j + c < n`) and is a number that was read or
    given: it is taken to be small, because such an index is one of a neighbour."""
    return Affine(terms=tuple(term for term in side.terms if abs(term[0]) == 1 and _is_given(term[1])))


def _is_given(value: ir.Value) -> bool:
    op = defining(value)
    while op is not None and op.name in ("arith.index_cast", "arith.extsi"):
        value, op = op.operands[0], defining(op.operands[0])
    if op is None:
        return value.owner.owner.operation.name == "func.func"
    return op.name == "memref.load" or bool(named(op, "memref.load"))


def _wrapped(
    offset: int, least: Affine, most: Affine, divisor: ir.Value, loop: ir.Operation
) -> tuple[HalfLine, ...]:
    """Where ``0 <= iv + offset + inner < divisor``, which also says that the divisor is not 0."""
    number = is_constant(divisor)
    length = Affine(terms=((1, divisor),)) if number is None else Affine(constant=number)
    bounds = Affine(constant=-offset), length - Affine(constant=offset)
    places = [_place(bound, loop) for bound in bounds]
    if [place and place[0] for place in places] != [True, False]:
        return ()
    return (
        HalfLine(bounds[0] - least, True, True, least.is_number),
        HalfLine(bounds[1] - most, False, True, most.is_number),
    )


def _place(bound: Affine, loop: ir.Operation) -> tuple[bool, bool] | None:
    """Whether a bound lies at the lower end of the loop, and whether it surely is near an end; None for others."""
    if bound.is_number:
        last = is_constant(loop.operands[1])
        if last is not None and last - WIDEST_RIM <= bound.constant:
            return False, True
        return (True, True) if abs(bound.constant) <= WIDEST_RIM else None
    if len(bound.terms) != 1 or bound.terms[0][0] != 1 or abs(bound.constant) > WIDEST_RIM:
        return None
    is_sure = _is_length(bound.terms[0][1])
    return None if is_sure is None else (False, is_sure)


def _is_length(value: ir.Value) -> bool | None:
    """Whether a value is a length of an array, but for a small number; False for a number that the kernel is given,
    which often is one; None for all else."""
    op = defining(value)
    if op is None:
        return False if value.owner.owner.operation.name == "func.func" else None
    if op.name == "memref.dim":
        return True
    if (
        op.name in ("arith.addi", "arith.subi")
        and abs(is_constant(op.operands[1]) or WIDEST_RIM + 1) <= WIDEST_RIM
    ):
        return _is_length(op.operands[0])
    if op.name in _CLAMPS:
        sides = {_is_length(operand) for operand in op.operands}
        return None if None in sides else False not in sides
    return None


def _matters(value: ir.Value, branches_only: bool) -> bool:
    """Whether an access, a branch or the bound of a loop depends on a value, rather than numbers alone, which vectors
    select."""
    seen: set[ir.Value] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for use in one.uses:
            user = use.owner.operation
            if user.name == "scf.if" and use.operand_number == 0:
                if not branches_only or _is_innermost(user):
                    return True
            elif user.name == "scf.for" and use.operand_number < 2:
                if kern.ITEMS not in user.attributes and _is_innermost(user):
                    return True
            elif user.name in _FIRST_INDEX and use.operand_number >= _FIRST_INDEX[user.name]:
                if not branches_only:
                    return True
            elif user.name == "scf.yield" and parent_of(user).name == "scf.if":
                waiting.append(parent_of(user).results[use.operand_number])
            elif user.name.startswith("arith."):
                waiting.extend(user.results)
    return False


def _is_innermost(branch: ir.Operation) -> bool:
    """Whether a branch or a loop stands in the innermost loop over work-items."""
    around = branch.parent
    while around is not None and kern.ITEMS not in around.operation.attributes:
        around = around.operation.parent
    return around is not None
