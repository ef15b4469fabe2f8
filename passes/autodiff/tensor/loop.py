"""The adjoint of scf.for: a loop from the last trip to the first.

Its body recomputes the primal's body from the values carried into the trip, and only those that some
rule reads are stored: a linear loop stores nothing, and its forward loop goes where nobody uses it.
Checkpoints: `all` of the trips in a stack, or by `binomial` (fewer, and recomputed in between); every
k-th needs nothing here, its loop was split in two before (`strips`).

Gates (`gates`) of what is carried go around it as well, but for what flows everywhere in every trip. Which that is, is
found by writing the loop: with the fewest gates first, and once more where a trip closes some other. What nothing
flows to behind the loop is closed in the first reversed trip; if it is open everywhere after one, no gate is carried.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, scf

from pykern.dialect import attributes as kern
from pykern.passes.autodiff.rules.gates import is_choice
from pykern.passes.autodiff.tensor.binomial import Snapshots
from pykern.passes.autodiff.tensor.block import ReverseBlock
from pykern.passes.autodiff.tensor.cotangents import Cotangents, gate_bits, gate_of
from pykern.passes.autodiff.tensor.gates import Gate, everywhere
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.stored import Stored
from pykern.passes.autodiff.tensor.strips import parse
from pykern.passes.autodiff.tensor.trips import Trips
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.lengths import as_value, minus
from pykern.passes.ir.values import free_values
from pykern.passes.kernels import body, find


def reverse_for(op: ir.Operation, scope: Scope, cotangents: Cotangents, block: ReverseBlock) -> None:
    """It carries the cotangents of the carried values, and of the outer values the body reads."""
    loop = _Loop(op, scope, cotangents)
    chooses = cotangents.singular and bool(find(op, is_choice))
    carries = chooses or any(cotangents.gate(value) is not None for value in op.results)
    closing = {n for n in range(len(loop.ends)) if carries and loop.may_close(n)}
    late: set[int] = set()
    with scope.here:
        start = [cotangents.take_or_zero(value, scope) for value in loop.ends]
    while True:
        trip = _Trip(loop, start, sorted(closing), late)
        trip.write(block)
        more = trip.closed() - closing - late if carries else set()
        opened = {n for n in closing if trip.opens(n)}
        if not more and not opened:
            break
        trip.drop()
        closing, late = (closing | more) - opened, late | opened
    trip.finish()


class _Loop:
    """A loop of the primal: `ends` are the active values it gives, and then what varies and is read from outside."""

    def __init__(self, op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
        self.op, self.scope, self.cotangents = op, scope, cotangents
        self.body = body(op)
        self.variable, *self.carried = list(self.body.arguments)
        self.active = [k for k, argument in enumerate(self.carried) if argument in cotangents.varied]
        self.outer = [v for v in free_values(op, nested_only=True) if v in cotangents.varied]
        self.trips = Trips.of(*[scope.value(bound) for bound in list(op.operands)[:3]])
        self.ends = [*(op.results[k] for k in self.active), *self.outer]
        self.flows = [cotangents.any([value]) for value in self.ends]
        self.gates = [cotangents.gate(value) for value in self.ends]

    def may_close(self, number: int) -> bool:
        """Whether what flows to an end flows under a gate, or nothing flows to it yet."""
        return self.gates[number] is not None or not self.flows[number]

    def bits(self, closing: list[int]) -> list[ir.Value]:
        """The gates with which the reversed loop begins."""
        return [gate_bits(self.ends[n], self.gates[n], self.flows[n], self.scope) for n in closing]


class _Trip:
    """The reversed loop, with gates of the ends `closing`; `late` are open from the second trip on."""

    def __init__(self, loop: _Loop, start: list[ir.Value], closing: list[int], late: set[int]) -> None:
        self.loop, self.start, self.closing, self.late = loop, start, closing, late
        op, scope = loop.op, loop.scope
        self.bits = loop.bits(closing)
        self.made = scf.ForOp(as_value(0), as_value(loop.trips.count), as_value(1), [*start, *self.bits])
        scope.anchor = self.made.operation
        with ir.InsertionPoint(self.made.body):
            trip = minus(minus(loop.trips.count, 1), self.made.induction_variable)
            self.stored = _states(op, scope, loop.trips, trip)
            self.inner = Scope(loop.body, self.made.body, scope, self.stored.value)
            self.inner.known[loop.variable] = loop.trips.variable(trip)
        self.inside = loop.cotangents.inside()
        self.wanted = [*(loop.carried[k] for k in loop.active), *loop.outer]

    def write(self, block: ReverseBlock) -> None:
        """The reverse of the body, but for its end."""
        loop, inside, flowing = self.loop, self.inside, list(self.made.inner_iter_args)
        count = len(loop.active)
        gates = self._gates(flowing)
        with ir.InsertionPoint(self.made.body):
            gates.update(self._late_gates())
            for n, value in enumerate(loop.outer, count):
                inside.add(value, flowing[n], gates.get(n))
            for n, k in enumerate(loop.active):
                inside.add(terminator_operands(loop.body)[k], flowing[n], gates.get(n))
            block(self.inner, inside)

    def closed(self) -> set[int]:
        """The numbers of active values to which all flows under gates at the end of a trip."""
        return {n for n in range(len(self.loop.active)) if self.inside.gate(self.wanted[n]) is not None}

    def opens(self, number: int) -> bool:
        """Whether all of a carried value is open at the end of a trip, to which nothing flows behind the loop."""
        loop = self.loop
        if number >= len(loop.active) or loop.flows[number]:
            return False
        wanted = self.wanted[number]
        return self.inside.any([wanted]) and self.inside.gate(wanted) is None

    def drop(self) -> None:
        self.loop.scope.anchor = None
        self.made.operation.erase()
        self.stored.forget()

    def finish(self) -> None:
        """End the body; what comes out of the loop flows on."""
        loop, inside, cotangents = self.loop, self.inside, self.loop.cotangents
        always = {n for n in self.closing if self._always(n)}
        with ir.InsertionPoint(self.made.body):
            ends = [gate_of(self.wanted[n], inside, self.inner) for n in self.closing]
            scf.YieldOp([*(inside.take_or_zero(value, self.inner) for value in self.wanted), *ends])
        inside.check_all_taken()
        made = self.stored.finish(self.made)
        loop.scope.anchor = None
        results = list(made.results)
        gates = {n: gate for n, gate in self._gates(results).items() if n not in always}
        count = len(loop.active)
        for n, value in enumerate(loop.outer, count):
            cotangents.add(value, results[n], gates.get(n))
        for n, k in enumerate(loop.active):
            cotangents.add(list(loop.op.operands)[3 + k], results[n], gates.get(n))

    def _always(self, number: int) -> bool:
        """Whether what flows to an end in any trip flows on everywhere."""
        value = self.wanted[number]
        return self.inside.any([value]) and self.inside.gate(value) is None and self.loop.flows[number]

    def _late_gates(self) -> dict[int, Gate]:
        """Gates closed in the first trip alone."""
        if not self.late:
            return {}
        again = arith.cmpi(arith.CmpIPredicate.ne, self.made.induction_variable, as_value(0))
        return {n: everywhere(again, self.start[n]) for n in self.late}

    def _gates(self, values: list[ir.Value]) -> dict[int, Gate]:
        """The gates that are carried, by the number of what they belong to."""
        carried = zip(self.closing, values[len(self.start) :], strict=False)
        return {n: lambda value=value: value for n, value in carried}


def _states(op: ir.Operation, scope: Scope, trips: Trips, trip: int | ir.Value) -> Snapshots | Stored:
    """The source of the states of an iteration: stored ones, or replayed from checkpoints."""
    kind, number = "all", 0
    if kern.CHECKPOINT in op.attributes:
        kind, number = parse(ir.StringAttr(op.attributes[kern.CHECKPOINT]).value)
    return Snapshots(op, scope, number) if kind == "binomial" else Stored(op, scope, trips.count, trip)
