"""The states of a loop that its reverse reads: the forward loop pushes them, trip by trip, into stacks."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import scf

from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.stack import peek, push, stack_type
from pykern.passes.autodiff.tensor.trips import Trips, room
from pykern.passes.autodiff.tensor.values import element
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.lengths import Number, empty
from pykern.passes.kernels import body, identity


class Stored:
    """The carried values a reverse loop reads, and the stacks they come from."""

    def __init__(self, op: ir.Operation, scope: Scope, count: Number, trip: Number) -> None:
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

    def forget(self) -> None:
        """The reverse loop is gone: nothing has to be stored for it."""
        for promise in self._promised.values():
            promise.erase()

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
    old = copy_of(op, scope)
    with ir.InsertionPoint(old), old.location:
        bounds, inits = list(old.operands)[:3], list(old.operands)[3:]
        trips, block = Trips.of(*bounds), body(old)
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
            known = dict(zip(block.arguments, [new.induction_variable, *arguments], strict=False))
            scf.YieldOp([*clone_block(block, known), *kept])
    replace_copy(op, scope, new.operation)
    return list(new.results)[len(inits) :]


def copy_of(op: ir.Operation, scope: Scope) -> ir.Operation:
    """The copy of `op` in `scope`, which is made if it is not there."""
    for result in op.results:
        scope.value(result)
    return scope.copies[identity(op)]


def replace_copy(op: ir.Operation, scope: Scope, new: ir.Operation) -> None:
    """Put `new`, whose first results are those of `op`, in place of the copy of `op`."""
    old = scope.copies[identity(op)]
    for result, replacement in zip(old.results, new.results, strict=False):
        result.replace_all_uses_with(replacement)
    scope.known.update(zip(op.results, new.results, strict=False))
    scope.copies[identity(op)] = new
    old.erase()
