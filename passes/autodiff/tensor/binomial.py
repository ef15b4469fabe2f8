"""Loops reversed from few stored states: the forward run keeps some, the rest is run again (`schedule`).

The schedule is data: tables of integers that the replaying loops read, so the code stays as long as
the primal's. Of the carried values only those are kept that the rules read, or that these come from.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, scf, tensor

from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.schedule import CheckpointSchedule, schedule
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.stack import peek, push, stack_type
from pykern.passes.autodiff.tensor.stored import copy_of, replace_copy
from pykern.passes.autodiff.tensor.trips import Trips
from pykern.passes.autodiff.tensor.values import element
from pykern.passes.ir.clone import clone_block, terminator_operands
from pykern.passes.ir.lengths import as_value, empty
from pykern.passes.ir.values import defining, free_values
from pykern.passes.kernels import body


class Snapshots:
    """The carried values a reverse loop reads, from states kept and replayed."""

    def __init__(self, op: ir.Operation, scope: Scope, kept: int) -> None:
        self.op, self.scope, self.kept = op, scope, kept
        self.carried = list(body(op).arguments)[1:]
        self._promised: dict[int, ir.Operation] = {}  # carried value to the op that stands for it

    def value(self, argument: ir.Value) -> ir.Value:
        """A carried value before the trip that is reversed."""
        promise = ir.Operation.create("builtin.unrealized_conversion_cast", results=[argument.type])
        self._promised[argument.arg_number - 1] = promise
        return promise.results[0]

    def forget(self) -> None:
        """The reverse loop is gone, and with it the promises, which stood in it."""

    def finish(self, reverse: scf.ForOp) -> scf.ForOp:
        """The reverse loop with the replays in it; `reverse` is gone, or given back if it reads nothing."""
        if not self._promised:
            return reverse
        with self.scope.here:
            trips = Trips.of(*[self.scope.value(bound) for bound in list(self.op.operands)[:3]])
        if not isinstance(trips.count, int):
            hint = "use every(k), which needs no trip count"
            raise refused(self.op, "binomial checkpoints need a trip count known before the run", hint)
        plan = schedule(trips.count, min(self.kept, trips.count))
        places = self._closure()
        slots = _keeping(self.op, self.scope, places, plan)
        return self._replaying(reverse, trips, places, plan, slots)

    def _closure(self) -> list[int]:
        """The carried values that are read, and those they are computed from."""
        yielded = terminator_operands(body(self.op))
        found, waiting, seen = set(self._promised), [yielded[k] for k in self._promised], set()
        while waiting:
            value = waiting.pop()
            if value in seen:
                continue
            seen.add(value)
            op = defining(value)
            if op is not None and op.block == body(self.op):
                waiting += free_values(op)
            elif value in self.carried and (place := self.carried.index(value)) not in found:
                found.add(place)
                waiting.append(yielded[place])
        return sorted(found)

    def _replaying(
        self, old: scf.ForOp, trips: Trips, places: list[int], plan: CheckpointSchedule, slots: list[ir.Value]
    ) -> scf.ForOp:
        with ir.InsertionPoint(old):
            tables = _Tables(plan)
            new = scf.ForOp(*list(old.operands)[:3], [*list(old.operands)[3:], *slots])
        self.scope.anchor = new.operation
        adjoints = len(old.inner_iter_args)
        with ir.InsertionPoint(new.body):
            iteration, arguments = new.induction_variable, list(new.inner_iter_args)
            replays = scf.ForOp(
                tables.start(iteration), tables.stop(iteration), as_value(1), arguments[adjoints:]
            )
            with ir.InsertionPoint(replays.body):
                held = list(replays.inner_iter_args)
                source, first, last, target = tables.replay(replays.induction_variable)
                states = [peek(h, source, self.carried[k].type) for h, k in zip(held, places, strict=True)]
                states = self._run(trips, first, last, places, states)
                scf.YieldOp([push(h, s, target) for h, s in zip(held, states, strict=True)])
            results = list(replays.results)
            state = tables.state(iteration)
            for place, promise in self._promised.items():
                kept = peek(results[places.index(place)], state, self.carried[place].type)
                promise.results[0].replace_all_uses_with(kept)
                promise.erase()
            *ops, terminator = [op.operation for op in old.body.operations]
            end = scf.YieldOp([*terminator.operands, *results])
        for op in ops:
            op.move_before(end.operation)
        for argument, value in zip(old.body.arguments, new.body.arguments, strict=False):
            argument.replace_all_uses_with(value)
        old.operation.erase()
        return new

    def _run(
        self, trips: Trips, first: ir.Value, last: ir.Value, places: list[int], states: list[ir.Value]
    ) -> list[ir.Value]:
        """The kept carried values after the trips from `first` to before `last`."""
        block = body(self.op)
        loop = scf.ForOp(first, last, as_value(1), states)
        with ir.InsertionPoint(loop.body):
            inner = Scope(block, loop.body, self.scope)
            inner.known[block.arguments[0]] = trips.variable(loop.induction_variable)
            inner.known.update(zip([self.carried[k] for k in places], loop.inner_iter_args, strict=True))
            yielded = terminator_operands(block)
            scf.YieldOp([inner.value(yielded[k]) for k in places])
        return list(loop.results)


def _keeping(op: ir.Operation, scope: Scope, places: list[int], plan: CheckpointSchedule) -> list[ir.Value]:
    """Rewrite the copy of the loop in `scope`: it stops before the trips of `plan.first` to keep states."""
    old = copy_of(op, scope)
    block = body(old)
    with ir.InsertionPoint(old), old.location:
        bounds, inits = list(old.operands)[:3], list(old.operands)[3:]
        trips = Trips.of(*bounds)
        types = [stack_type(plan.kept + 1, inits[k].type) for k in places]
        slots = [empty(list(type.shape), element(type)) for type in types]
        starts, stops = _table(plan.first), _table([*plan.first[1:], plan.trips])
        outer = scf.ForOp(as_value(0), as_value(len(plan.first)), as_value(1), [*inits, *slots])
        with ir.InsertionPoint(outer.body):
            slot, arguments = outer.induction_variable, list(outer.inner_iter_args)
            kept = [push(s, arguments[k], slot) for s, k in zip(arguments[len(inits) :], places, strict=True)]
            start, stop = tensor.extract(starts, [slot]), tensor.extract(stops, [slot])
            inner = scf.ForOp(start, stop, as_value(1), arguments[: len(inits)])
            with ir.InsertionPoint(inner.body):
                variable = trips.variable(inner.induction_variable)
                known = dict(zip(block.arguments, [variable, *inner.inner_iter_args], strict=True))
                scf.YieldOp(clone_block(block, known))
            scf.YieldOp([*inner.results, *kept])
    replace_copy(op, scope, outer.operation)
    return list(outer.results)[len(inits) :]


class _Tables:
    """The replays in the order they run, as tensors of constants; iteration 0 reverses the last trip."""

    def __init__(self, plan: CheckpointSchedule) -> None:
        iterations = list(reversed(plan.replays))
        replays = [replay for iteration in iterations for replay in iteration]
        ends = [0]
        for iteration in iterations:
            ends.append(ends[-1] + len(iteration))
        self._starts, self._stops = _table(ends[:-1]), _table(ends[1:])
        columns = zip(*[(r.source, r.first, r.last, r.target) for r in replays], strict=True)
        self._columns = [_table(column) for column in (columns if replays else [(0,)] * 4)]
        self._states = _table(list(reversed(plan.states)))

    def start(self, iteration: ir.Value) -> ir.Value:
        return tensor.extract(self._starts, [iteration])

    def stop(self, iteration: ir.Value) -> ir.Value:
        return tensor.extract(self._stops, [iteration])

    def replay(self, number: ir.Value) -> list[ir.Value]:
        return [tensor.extract(column, [number]) for column in self._columns]

    def state(self, iteration: ir.Value) -> ir.Value:
        return tensor.extract(self._states, [iteration])


def _table(numbers: Sequence[int]) -> ir.Value:
    type = ir.RankedTensorType.get([len(numbers)], ir.IndexType.get())
    values = [ir.IntegerAttr.get(ir.IndexType.get(), number) for number in numbers]
    return arith.constant(type, ir.DenseElementsAttr.get(values, type))
