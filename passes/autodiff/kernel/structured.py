"""Branches and loops in the reverse sweep.

A branch is taken again with the condition it had, a loop runs as often as it did, last iteration
first. What flows to values from outside of the body is carried around the reversed loop, or comes
out of the reversed branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith

from pykern.dialect.collectives import CONVERGENT, GroupReduceOp
from pykern.passes.autodiff.kernel.branches import both_branches
from pykern.passes.autodiff.kernel.loop_gates import CarriedAdjoints
from pykern.passes.autodiff.kernel.primal_values import ReverseScope, trip_count
from pykern.passes.autodiff.rules.expression import flow_type
from pykern.passes.autodiff.rules.gates import Flow
from pykern.passes.ir.values import defining, home
from pykern.passes.kernel.work_groups.convergence import is_guard
from pykern.passes.kernels import find, identity, index_constant, named, terminator

if TYPE_CHECKING:
    from pykern.passes.autodiff.kernel.sweep import Sweep


def reverse_if(sweep: Sweep, op: ir.Operation) -> None:
    """``scf.if``: results' adjoints flow into the branch that was taken."""
    condition = _for_group(op, sweep.primals.primal(op.operands[0]))
    flowing = [sweep.adjoints.pop(r, None) for r in op.results]

    def side(number: int, block: ir.Block) -> None:
        if len(op.regions[number].blocks):
            inside = op.regions[number].blocks[0]
            for value, flow in zip(terminator(inside).operands, flowing, strict=True):
                sweep.add(value, flow)
            sweep.block(ReverseScope(inside, sweep.primals.forward.block_of(op, number), block))

    both_branches(sweep, condition, captured_values(sweep, op), side, op.location)


def reverse_for(sweep: Sweep, op: ir.Operation) -> None:
    """``scf.for``: iterations from last to first; what was carried forward, its adjoint is carried back."""
    body = op.regions[0].blocks[0]
    carried = list(body.arguments)[1:]
    active = [n for n, v in enumerate(carried) if sweep.activity.varied(v)]
    outside = captured_values(sweep, op)
    lower, upper, step = (sweep.primals.primal(v) for v in list(op.operands)[:3])
    trips = _for_group(op, trip_count(lower, upper, step))
    flowing = [sweep.adjoints.pop(op.results[n], None) for n in active] + [
        sweep.adjoints.get(v) for v in outside
    ]
    carried_on = CarriedAdjoints.of(
        flowing, [flow_type(v.type) for v in (*(carried[n] for n in active), *outside)], op
    )
    made, block = _loop(trips, carried_on.start)

    def reverse() -> None:
        with ir.InsertionPoint(block):
            last = arith.SubIOp(arith.SubIOp(trips, block.arguments[0]).result, index_constant(1)).result
            counter = arith.AddIOp(lower, arith.MulIOp(last, step).result).result
            scope = ReverseScope(body, sweep.primals.forward.block_of(op, 0), block)
            _before_marker(scope, counter)
            scope.values[body.arguments[0]] = counter
            given = carried_on.flows(list(block.arguments)[1:])
            sweep.adjoints = dict(zip(outside, given[len(active) :], strict=True))
            ends = list(terminator(body).operands)
            for n, flow in zip(active, given, strict=False):
                sweep.add(ends[n], flow)
            sweep.block(scope)
            _yield(
                carried_on.yielded([sweep.adjoints.get(v) for v in (*(carried[n] for n in active), *outside)])
            )

    _isolated(sweep, reverse)
    results = carried_on.flows(list(made.results))
    for value, flow in zip(outside, results[len(active) :], strict=True):
        sweep.adjoints[value] = flow
    for n, flow in zip(active, results, strict=False):
        sweep.add(op.operands[3 + n], flow)


def reverse_while(sweep: Sweep, op: ir.Operation) -> None:
    """``scf.while``: its test ran once more than its body, so the reverse begins with a test."""
    forward = sweep.primals.forward
    before, after = (region.blocks[0] for region in op.regions)
    outside = captured_values(sweep, op)
    trips = _for_group(op, sweep.primals.scope.from_tape(forward.trips[identity(op)]))
    tested = [v for v in before.arguments if sweep.activity.varied(v)]
    passed = [n for n, v in enumerate(after.arguments) if sweep.activity.varied(v)]
    first, last = len(passed), len(passed) + len(tested)  # of what is tested, in what is carried
    inside = [after.arguments[n] for n in passed]
    flowing = [sweep.adjoints.pop(op.results[n], None) for n in passed] + [None] * len(tested)
    flowing += [sweep.adjoints.get(v) for v in outside]
    carried = CarriedAdjoints.of(flowing, [flow_type(v.type) for v in (*inside, *tested, *outside)], op)
    given_on = CarriedAdjoints([], [flow_type(v.type) for v in (*inside, *outside)], carried.gated)
    one = index_constant(1)
    made, block = _loop(arith.AddIOp(trips, one).result, carried.start)

    def enter(given: Sequence[Flow | None], ends: Sequence[ir.Value]) -> None:
        """What flows to `ends`, and behind that to values from outside."""
        around = zip(outside, given[len(ends) :], strict=True)
        sweep.adjoints = {v: flow for v, flow in around if flow is not None}
        for value, flow in zip(ends, given, strict=False):
            sweep.add(value, flow)

    def test(given: Sequence[Flow | None], at: ir.Block) -> list[Flow | None]:
        """Reverse the test: adjoints of what it passed on become those of what it was given."""
        values = list(terminator(before).operands)[1:]
        enter(given, [values[n] for n in passed])
        sweep.block(ReverseScope(before, forward.block_of(op, 0), at))
        return [sweep.adjoints.get(v) for v in (*tested, *outside)]

    def body(given: Sequence[Flow | None], at: ir.Block) -> list[Flow | None]:
        ends = dict(zip(before.arguments, terminator(after).operands, strict=True))
        enter(given, [ends[v] for v in tested])
        sweep.block(ReverseScope(after, forward.block_of(op, 1), at))
        return [sweep.adjoints.get(v) for v in (*inside, *outside)]

    def reverse() -> None:
        with ir.InsertionPoint(block):
            given = carried.flows(list(block.arguments)[1:])
            at_test = test([*given[:first], *given[last:]], block)
            more = arith.CmpIOp(arith.CmpIPredicate.slt, block.arguments[0], trips).result
            holder = ir.Operation.create("scf.if", operands=[more], regions=2)
            run, rest = (region.blocks.append() for region in holder.regions)
            with ir.InsertionPoint(run):
                _yield(given_on.yielded(body(at_test, run)))
            with ir.InsertionPoint(rest):
                _yield(given_on.yielded([*[None] * len(passed), *at_test[len(tested) :]]))
            types = [v.type for v in terminator(rest).operands]
            inner = ir.Operation.create("scf.if", results=types, operands=[more], regions=2)
            for end, region in zip((run, rest), inner.regions, strict=True):
                end.append_to(region)
            holder.erase()
            results = given_on.flows(list(inner.results))
            _yield(carried.yielded([*results[:first], *at_test[: len(tested)], *results[first:]]))

    _isolated(sweep, reverse)
    results = carried.flows(list(made.results))
    for value, flow in zip(outside, results[last:], strict=True):
        sweep.adjoints[value] = flow
    initial = dict(zip(before.arguments, op.operands, strict=True))
    for value, flow in zip(tested, results[first:], strict=False):
        sweep.add(initial[value], flow)


STRUCTURED: dict[str, Callable[[Sweep, ir.Operation], None]] = {
    "scf.if": reverse_if,
    "scf.for": reverse_for,
    "scf.while": reverse_while,
}


def captured_values(sweep: Sweep, op: ir.Operation) -> list[ir.Value]:
    """Varied values from outside that the regions use: each once, in order."""
    inside = {identity(o) for o in find(op, lambda o: True)}
    found: dict[ir.Value, None] = {}
    for inner in find(op, lambda o: True):
        for value in inner.operands:
            if sweep.activity.varied(value) and not _defined_in(value, op, inside):
                found[value] = None
    return list(found)


def _for_group(op: ir.Operation, decides: ir.Value) -> ir.Value:
    """What decides how the reverse of `op` runs, the same for all work-items of a group where they meet in it.

    They had the same in the forward sweep, each on a tape of its own; who has left has none. The largest is
    right for everybody.
    """
    if not named(op, *CONVERGENT) or is_guard(op) or not _from_tape(decides):
        return decides
    number, kind = ir.IntegerType.get_signless(32), decides.type
    if isinstance(kind, ir.IndexType):
        largest = GroupReduceOp.create("max", arith.IndexCastOp(number, decides).result)
        return arith.IndexCastOp(kind, largest).result
    largest = GroupReduceOp.create("max", arith.ExtUIOp(number, decides).result)
    return arith.TruncIOp(kind, largest).result


def _from_tape(value: ir.Value) -> bool:
    """Whether a value was popped, or computed from one that was."""
    waiting, seen = [value], set()
    while waiting:
        maker = defining(waiting.pop())
        if maker is None or identity(maker) in seen:
            continue
        if maker.name == "kern.pop":
            return True
        seen.add(identity(maker))
        waiting += maker.operands
    return False


def _defined_in(value: ir.Value, op: ir.Operation, inside: set[int]) -> bool:
    maker = defining(value)
    if maker is None:
        around = home(value).owner.operation
        return around == op or identity(around) in inside
    return identity(maker) in inside


def _isolated(sweep: Sweep, reverse: Callable[[], object]) -> None:
    """Run with adjoints of its own: what flows inside a region stays there until it is yielded."""
    outer = sweep.adjoints
    reverse()
    sweep.adjoints = outer


def _loop(trips: ir.Value, start: list[ir.Value]) -> tuple[ir.Operation, ir.Block]:
    bounds = [index_constant(0), trips, index_constant(1)]
    types = [v.type for v in start]
    made = ir.Operation.create("scf.for", results=types, operands=[*bounds, *start], regions=1)
    return made, made.regions[0].blocks.append(ir.IndexType.get(), *types)


def _before_marker(scope: ReverseScope, counter: ir.Value) -> None:
    """The loop's counter is computed before everything that is recomputed from it."""
    assert scope.marker is not None
    last = counter.owner.operation
    chain = [o.operation for o in scope.marker.block.operations]
    position = next(n for n, o in enumerate(chain) if identity(o) == identity(last))
    for op in chain[: position + 1]:
        if identity(op) != identity(scope.marker):
            op.move_before(scope.marker)


def _yield(values: list[ir.Value]) -> None:
    ir.Operation.create("scf.yield", operands=values)
