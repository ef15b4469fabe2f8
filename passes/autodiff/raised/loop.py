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
from pykern.passes.autodiff.raised.gates import Gate, emitted, shut
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
    ends = [*(op.results[k] for k in active), *outer]
    carries = any(cotangents.gate(value) is not None for value in ends[: len(active)])
    closing = [
        n for n in range(len(ends)) if carries and (n < len(active) or _may_close(ends[n], cotangents))
    ]
    bits = [_gate_of(ends[n], cotangents, scope) for n in closing]
    start = [cotangents.take_or_zero(value, scope) for value in ends]

    made = scf.ForOp(index(0), index(trips.count), index(1), [*start, *bits])
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
        gates = _gates(closing, flowing[len(start) :])
        for n, value in enumerate(outer, len(active)):
            inside.add(value, flowing[n], gates.get(n))
        for n, k in enumerate(active):
            inside.add(terminator_operands(body)[k], flowing[n], gates.get(n))
        block(inner, inside)
        wanted = [*(carried[k] for k in active), *outer]
        bits = [_gate_of(wanted[n], inside, inner) for n in closing]
        scf.YieldOp([*(inside.take_or_zero(value, inner) for value in wanted), *bits])
    inside.check_all_taken()
    made = stored.finish(made)
    scope.anchor = None
    results = list(made.results)
    gates = _gates(closing, results[len(start) : len(start) + len(closing)])
    for n, value in enumerate(outer, len(active)):
        cotangents.add(value, results[n], gates.get(n))
    for n, k in enumerate(active):
        cotangents.add(inits[k], results[n], gates.get(n))


def _may_close(value: ir.Value, cotangents: Cotangents) -> bool:
    return cotangents.gate(value) is not None or not cotangents.any([value])


def _gate_of(value: ir.Value, cotangents: Cotangents, scope: Scope) -> ir.Value:
    """The gate of what flows to `value`, to be carried around the loop."""
    like = value if _is_static(value) else scope.value(value)
    return emitted(cotangents.gate(value), like) if cotangents.any([value]) else shut(like)


def _is_static(value: ir.Value) -> bool:
    return not isinstance(value.type, ir.RankedTensorType) or value.type.has_static_shape


def _gates(closing: list[int], values: list[ir.Value]) -> dict[int, Gate]:
    """The gates that are carried, by the number of what they belong to."""
    return {n: lambda value=value: value for n, value in zip(closing, values, strict=True)}


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
            first = length if ir.RankedTensorType(type).is_dynamic_dim(0) else type.shape[0]
            stacks.append(empty([first, *list(type.shape)[1:]], element(type)))
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
