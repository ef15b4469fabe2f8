"""Derivatives of shuffles, products and scans: lane by lane, in loops that the whole subgroup runs.

Only lanes that are there count: a group's last subgroup may be partial. `_Lanes.of(k, v)` is the value of
lane k, made of a reduction, and zero where there is no such lane. Called by `collectives`.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect.collectives import SubgroupExclusiveScanOp, SubgroupReduceOp
from pykern.dialect.index_space import LaneIdOp, SubgroupSizeOp
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import index_constant

_EQ, _ULE, _ULT = arith.CmpIPredicate.eq, arith.CmpIPredicate.ule, arith.CmpIPredicate.ult


def shuffle_adjoint(lane: ir.Value, adjoint: ir.Value) -> ir.Value:
    """Give each lane the sum of the cotangents of the lanes that read it; a lane that names none reads itself."""
    lanes = _Lanes()
    wanted = arith.RemUIOp(lane, lanes.size).result
    source = arith.SelectOp(lanes.there(wanted), wanted, lanes.own).result
    nothing = constant(adjoint.type, 0.0)

    def step(k: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        read = arith.SelectOp(_same(source, k), adjoint, nothing).result
        return [lanes.at(k, SubgroupReduceOp.create("add", read), carried[0])]

    return lanes.loop(step, [nothing])[0]


def product_factor(reduce: Callable[[str, ir.Value], ir.Value], value: ir.Value) -> ir.Value:
    """The product of the others' values, also where some are zero."""
    zero, one = constant(value.type, 0.0), constant(value.type, 1.0)
    is_zero = arith.CmpFOp(arith.CmpFPredicate.OEQ, value, zero).result
    zeros = reduce("add", arith.SelectOp(is_zero, one, zero).result)
    others = arith.SelectOp(is_zero, one, value).result
    product = arith.DivFOp(reduce("mul", others), others).result
    own = arith.SelectOp(is_zero, one, zero).result
    alone = arith.CmpFOp(arith.CmpFPredicate.OEQ, zeros, own).result  # no zero among the others
    return arith.SelectOp(alone, product, zero).result


def product_scan_adjoint(
    value: ir.Value, adjoint: ir.Value, gate: ir.Value | None, exclusive: bool
) -> ir.Value:
    """For ``s = v0 * v1 * ...``: what is before a lane, times a recurrence that runs from the last lane.

    With a `gate` the factors that are in nothing that is taken have no say.
    """
    lanes = _Lanes()
    nothing, one = constant(value.type, 0.0), constant(value.type, 1.0)
    opens = one if gate is None else arith.SelectOp(gate, one, nothing).result

    def step(k: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        found, behind, open = carried
        last = arith.SubIOp(arith.SubIOp(lanes.size, k).result, index_constant(1)).result
        flowing, factor = lanes.of(last, adjoint), lanes.of(last, value)
        more = arith.MaximumFOp(open, lanes.of(last, opens)).result

        def through(flow: ir.Value, taken: ir.Value) -> ir.Value:
            some = arith.CmpFOp(arith.CmpFPredicate.OGT, taken, nothing).result
            return arith.SelectOp(some, arith.MulFOp(factor, flow).result, nothing).result

        if exclusive:
            here, on = behind, arith.AddFOp(flowing, through(behind, open)).result
        else:
            here = arith.AddFOp(flowing, behind).result
            on = through(here, more)
        return [lanes.at(last, here, found), arith.SelectOp(lanes.there(last), on, behind).result, more]

    found = lanes.loop(step, [nothing, nothing, nothing])[0]
    return arith.MulFOp(SubgroupExclusiveScanOp.create("mul", value), found).result


def product_scan_tangent(value: ir.Value, tangent: ir.Value, exclusive: bool) -> ir.Value:
    """The product rule, from the first lane on."""
    lanes = _Lanes()

    def step(k: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        found, product, flowing = carried
        factor, more = lanes.of(k, value), lanes.of(k, tangent)
        through = arith.AddFOp(
            arith.MulFOp(flowing, factor).result, arith.MulFOp(product, more).result
        ).result
        there = lanes.there(k)
        return [
            lanes.at(k, flowing if exclusive else through, found),
            arith.SelectOp(there, arith.MulFOp(product, factor).result, product).result,
            arith.SelectOp(there, through, flowing).result,
        ]

    zero, one = constant(value.type, 0.0), constant(value.type, 1.0)
    return lanes.loop(step, [zero, one, zero])[0]


def extreme_scan_adjoint(value: ir.Value, scanned: ir.Value, adjoint: ir.Value, exclusive: bool) -> ir.Value:
    """The cotangent of a running minimum or maximum goes to the lanes that hold it, in equal parts."""
    lanes = _Lanes()
    count, _ = _winners(lanes, value, scanned, value, exclusive)
    share, nothing = arith.DivFOp(adjoint, count).result, constant(value.type, 0.0)

    def step(k: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        won = arith.SelectOp(_won(lanes, k, value, scanned, exclusive), share, nothing).result
        return [lanes.at(k, SubgroupReduceOp.create("add", won), carried[0])]

    return lanes.loop(step, [nothing])[0]


def extreme_scan_tangent(value: ir.Value, scanned: ir.Value, tangent: ir.Value, exclusive: bool) -> ir.Value:
    """The mean over the lanes that have the minimum or maximum so far; zero where none has."""
    count, total = _winners(_Lanes(), value, scanned, tangent, exclusive)
    zero = constant(value.type, 0.0)
    some = arith.CmpFOp(arith.CmpFPredicate.OGT, count, zero).result
    return arith.SelectOp(some, arith.DivFOp(total, count).result, zero).result


def _winners(
    lanes: _Lanes, value: ir.Value, scanned: ir.Value, tangent: ir.Value, exclusive: bool
) -> tuple[ir.Value, ir.Value]:
    """How many lanes have the extreme value so far, and the sum of their tangents."""
    zero, one = constant(value.type, 0.0), constant(value.type, 1.0)

    def step(k: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        won = _won(lanes, k, value, scanned, exclusive)
        parts = (one, lanes.of(k, tangent))
        return [
            arith.AddFOp(c, arith.SelectOp(won, part, zero).result).result
            for c, part in zip(carried, parts, strict=True)
        ]

    count, total = lanes.loop(step, [zero, zero])
    return count, total


def _won(lanes: _Lanes, k: ir.Value, value: ir.Value, scanned: ir.Value, exclusive: bool) -> ir.Value:
    """Whether this lane's scan has its value from lane k."""
    equal = arith.CmpFOp(arith.CmpFPredicate.OEQ, lanes.of(k, value), scanned).result
    before = arith.CmpIOp(_ULT if exclusive else _ULE, k, lanes.own).result
    return arith.AndIOp(arith.AndIOp(equal, before).result, lanes.there(k)).result


class _Lanes:
    """The lanes of this work-item's subgroup: `own` is its number, `size` how many a full one has."""

    def __init__(self) -> None:
        self.own, self.size = LaneIdOp.create(), SubgroupSizeOp.create()
        self._present = SubgroupReduceOp.create("or", _bit(self.own))

    def there(self, lane: ir.Value) -> ir.Value:
        """Whether lane number `lane` takes part."""
        zero = arith.ConstantOp(self._present.type, 0).result
        held = arith.AndIOp(self._present, _bit(lane)).result
        return arith.CmpIOp(arith.CmpIPredicate.ne, held, zero).result

    def of(self, lane: ir.Value, value: ir.Value) -> ir.Value:
        """The value of one lane, the same `lane` for all; zero where it is not there."""
        nothing = constant(value.type, 0.0)
        return SubgroupReduceOp.create("add", arith.SelectOp(_same(self.own, lane), value, nothing).result)

    def at(self, lane: ir.Value, new: ir.Value, old: ir.Value) -> ir.Value:
        """`new` in one lane, `old` in the others."""
        return arith.SelectOp(_same(self.own, lane), new, old).result

    def loop(
        self, step: Callable[[ir.Value, list[ir.Value]], list[ir.Value]], start: list[ir.Value]
    ) -> list[ir.Value]:
        """Carry values over the lane numbers, from 0 on."""
        made = scf.ForOp(index_constant(0), self.size, index_constant(1), start)
        with ir.InsertionPoint(made.body):
            scf.YieldOp(step(made.induction_variable, list(made.inner_iter_args)))
        return list(made.results)


def _bit(lane: ir.Value) -> ir.Value:
    word = ir.IntegerType.get_signless(64)
    return arith.ShLIOp(arith.ConstantOp(word, 1).result, arith.IndexCastOp(word, lane).result).result


def _same(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.CmpIOp(_EQ, a, b).result
