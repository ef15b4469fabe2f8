"""The adjoint of scf.for: a loop from the last trip to the first.

Its body recomputes the primal's body from the values carried into the trip, and only those that some
rule reads are stored: a linear loop stores nothing, and its forward loop goes where nobody uses it.
Checkpoints: `all` of the trips in a stack, or by `binomial` (fewer, and recomputed in between); every
k-th needs nothing here, its loop was split in two before (`strips`).
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import scf

from pykern.passes.autodiff.raised.binomial import Snapshots
from pykern.passes.autodiff.raised.block import ReverseBlock
from pykern.passes.autodiff.raised.clone import body_of, clone_block, free_values, terminator_operands
from pykern.passes.autodiff.raised.cotangents import Cotangents
from pykern.passes.autodiff.raised.refuse import refused
from pykern.passes.autodiff.raised.scope import Scope
from pykern.passes.autodiff.raised.stack import peek, push, stack_type
from pykern.passes.autodiff.raised.strips import ATTRIBUTE, parse
from pykern.passes.autodiff.raised.trips import Trips, room
from pykern.passes.autodiff.raised.values import Index, element, empty, index, minus
from pykern.passes.kernels import identity


def reverse_for(op: ir.Operation, scope: Scope, cotangents: Cotangents, block: ReverseBlock) -> None:
    """It carries the cotangents of the carried values, and of the outer values the body reads."""
    body, inits = body_of(op), list(op.operands)[3:]
    variable, *carried = list(body.arguments)
    active = [k for k, argument in enumerate(carried) if argument in cotangents.varied]
    outer = [value for value in free_values(op, nested_only=True) if value in cotangents.varied]
    trips = Trips.of(*[scope.value(bound) for bound in list(op.operands)[:3]])
    start = [cotangents.take_or_zero(op.results[k], scope) for k in active]
    start += [cotangents.take_or_zero(value, scope) for value in outer]

    made = scf.ForOp(index(0), index(trips.count), index(1), start)
    scope.anchor = made.operation
    with ir.InsertionPoint(made.body):
        trip = minus(minus(trips.count, 1), made.induction_variable)
        kind, number = (
            parse(ir.StringAttr(op.attributes[ATTRIBUTE]).value) if ATTRIBUTE in op.attributes else ("all", 0)
        )
        stored = Snapshots(op, scope, number) if kind == "binomial" else Stored(op, scope, trips.count, trip)
        inner = Scope(body, made.body, scope, stored.value)
        inner.known[variable] = trips.variable(trip)
        inside = Cotangents(cotangents.varied)
        flowing = list(made.inner_iter_args)
        for value, cotangent in zip(outer, flowing[len(active) :], strict=True):
            inside.add(value, cotangent)
        for k, cotangent in zip(active, flowing, strict=False):
            inside.add(terminator_operands(body)[k], cotangent)
        block(inner, inside)
        wanted = [*(carried[k] for k in active), *outer]
        scf.YieldOp([inside.take_or_zero(value, inner) for value in wanted])
    inside.check_all_taken()
    made = stored.finish(made)
    scope.anchor = None
    results = list(made.results)[: len(start)]
    for value, result in zip(outer, results[len(active) :], strict=True):
        cotangents.add(value, result)
    for k, result in zip(active, results, strict=False):
        cotangents.add(inits[k], result)


class Stored:
    """The carried values a reverse loop reads, and the stacks they come from."""

    def __init__(self, op: ir.Operation, scope: Scope, count: Index, trip: Index) -> None:
        self.op, self.scope, self.count, self.trip = op, scope, count, trip
        self._promised: dict[int, ir.Operation] = {}  # carried value to the op that stands for its stack

    def value(self, argument: ir.Value) -> ir.Value:
        """A carried value at the trip that is reversed."""
        place = argument.arg_number - 1
        if isinstance(argument.type, ir.RankedTensorType) and not argument.type.has_static_shape:
            raise refused(self.op, "a tensor of a size known at run time cannot be stored in every trip")
        with self.scope.here:
            promise = ir.Operation.create(
                "builtin.unrealized_conversion_cast",
                results=[stack_type(room(self.op, self.count), argument.type)],
            )
        self._promised[place] = promise
        return peek(promise.results[0], self.trip, argument.type)

    def finish(self, reverse: scf.ForOp) -> scf.ForOp:
        """Make the forward loop push what was read, and keep the promises; the reverse loop stays."""
        if not self._promised:
            return reverse
        places = sorted(self._promised)
        stacks = storing(self.op, self.scope, places)
        for place, stack in zip(places, stacks, strict=True):
            self._promised[place].results[0].replace_all_uses_with(stack)
            self._promised[place].erase()
        return reverse


def storing(op: ir.Operation, scope: Scope, places: list[int]) -> list[ir.Value]:
    """Rewrite the copy of the loop `op` in `scope` to keep the carried values `places` of every trip."""
    for result in op.results:
        scope.value(result)
    old = scope.copies[identity(op)]
    with ir.InsertionPoint(old), old.location:
        bounds, inits = list(old.operands)[:3], list(old.operands)[3:]
        trips, body = Trips.of(*bounds), body_of(old)
        length, stacks = room(op, trips.count), []
        for place in places:
            type = stack_type(length, inits[place].type)
            stacks.append(empty([length, *list(type.shape)[1:]], element(type)))
        new = scf.ForOp(*bounds, [*inits, *stacks])
        with ir.InsertionPoint(new.body):
            arguments = list(new.inner_iter_args)
            trip = trips.trip(new.induction_variable)
            kept = [
                push(stack, arguments[k], trip)
                for stack, k in zip(arguments[len(inits) :], places, strict=True)
            ]
            known = dict(zip(body.arguments, [new.induction_variable, *arguments], strict=False))
            scf.YieldOp([*clone_block(body, known), *kept])
    copied = list(new.results)
    for result, replacement in zip(old.results, copied, strict=False):
        result.replace_all_uses_with(replacement)
    scope.known.update(zip(op.results, copied, strict=False))
    scope.copies[identity(op)] = new.operation
    old.erase()
    return copied[len(inits) :]
