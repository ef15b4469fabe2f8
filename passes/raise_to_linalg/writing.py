"""The program as ops on tensors: each array is its current tensor, each statement makes the next one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import scf

from pykern.passes.raise_to_linalg.evaluation import index_number
from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Carried,
    Expression,
    Fold,
    Load,
    Mask,
    reachable,
    vector_dims,
)
from pykern.passes.raise_to_linalg.loops import roots_of
from pykern.passes.raise_to_linalg.program import Bind, Sequence, Statement, Store, statements, written
from pykern.passes.raise_to_linalg.scatter import is_slice, scatter
from pykern.passes.raise_to_linalg.updates import Destination, Update, Updates


@dataclass(eq=False)
class ProgramWriter:
    """Writes a program. `state` is the current tensor of each array."""

    updates: Updates
    state: dict[int, ir.Value]

    def run(self, body: list[Statement], later: list[Expression]) -> None:
        """Write the statements; `later` are values that will be looked at after them."""
        after = [later]
        for statement in reversed(body):
            after.append([*roots_of(statement), *_roots_within(statement), *after[-1]])
        for statement, rest in zip(body, reversed(after[:-1]), strict=True):
            self._protect(statement, rest)
            if isinstance(statement, Bind):
                statement.load.tensor = self.state[statement.load.array]
            elif isinstance(statement, Store):
                with statement.location:
                    self._store(statement)
            else:
                with statement.location:
                    self._sequence(statement)

    def _protect(self, statement: Statement, later: list[Expression]) -> None:
        """Compute what needs the arrays as they are, if it will be asked for after they have changed."""
        changing = set(written([statement]))
        if isinstance(statement, Sequence):
            later = [*_roots_within(statement), *statement.yields, *later]
        seen: set[Expression] = set()
        waiting = list(later) if changing else []
        while waiting:
            value = waiting.pop()
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value, Fold):
                if value in self.updates.held or not _needs(value, changing):
                    continue
                if all(p.tensor is not None for p in reachable([value]) if isinstance(p, Load | Carried)):
                    with statement.location:
                        self.updates.hold_everywhere(value)
                    continue
            if isinstance(value, Load) and value.tensor is not None and value.array in changing:
                with statement.location:
                    self.updates.freeze(value)
            waiting += value.parts

    def _store(self, store: Store) -> None:
        updates = self.updates
        place = Destination(store.subscripts, updates.lengths[store.array])
        target = self.state[store.array]
        update = Update(target, place, store.value, store.mask, store.combine, store.attributes)
        box = updates.boxes.full(store.dims)
        forward = is_slice(update, box, updates)
        made = updates.assign(update, box) if forward else scatter(update, box, updates)
        self.state[store.array] = made
        self._forget({store.array})
        shown = {d for form in store.subscripts for d in form.dims if d.value is None}
        found = store.combine is None and isinstance(store.value, Apply | Fold) and bool(shown)
        if forward and found and shown == set(vector_dims(store.value)):
            updates.stored[store.value] = Load(
                store.value.type, store.array, store.subscripts, store.mask, store.location, made
            )

    def _forget(self, arrays: Iterable[int]) -> None:
        """Forget the values that were stored in arrays that change."""
        kept = {v: load for v, load in self.updates.stored.items() if load.array not in arrays}
        self.updates.stored = kept

    def _sequence(self, loop: Sequence) -> None:
        updates, scalars = self.updates, self.updates.scalars
        self._hold_invariants(loop)
        box = updates.boxes.full(loop.dims)
        arrays = written(loop.body)
        self._forget(arrays)
        outer_stored, updates.stored = updates.stored, dict(updates.stored)
        carried = [updates.filled(value, box) for value in loop.initial]
        around = updates.boxes.full((*loop.dims, loop.dim)).restricted([loop.dim])
        low, high = scalars.low(around, loop.dim), scalars.high(around, loop.dim)
        initial = [self.state[a] for a in arrays] + carried
        made = scf.ForOp(low, high, index_number(1), initial)
        outer_state, outer_held, outer_holding = dict(self.state), updates.held, updates.holding
        outer_frozen, updates.frozen = updates.frozen, dict(updates.frozen)
        updates.held = {fold: list(known) for fold, known in outer_held.items()}
        updates.holding = scalars.true = outer_holding | set(self._bounds_that_hold(loop))
        loop.dim.value = loop.dim.position = made.induction_variable
        inner = list(made.inner_iter_args)
        self.state.update(zip(arrays, inner, strict=False))
        for value, tensor in zip(loop.carried, inner[len(arrays) :], strict=True):
            value.tensor = tensor
        with ir.InsertionPoint(made.body), scalars.scope():
            self.run(loop.body, loop.yields)
            box = updates.boxes.full(loop.dims)
            for number, value in enumerate(loop.carried):
                if value in reachable([y for n, y in enumerate(loop.yields) if n != number]):
                    updates.freeze(value)
            new = [
                updates.assign(Update(c.tensor, Destination(held=box), y, loop.inner_mask), box)
                for c, y in zip(loop.carried, loop.yields, strict=True)
            ]
            scf.YieldOp([self.state[a] for a in arrays] + new)
        updates.held, updates.holding, updates.frozen = outer_held, outer_holding, outer_frozen
        updates.stored, scalars.true = outer_stored, outer_holding
        self.state = outer_state
        results = list(made.results)
        self.state.update(zip(arrays, results, strict=False))
        for value, tensor in zip(loop.results, results[len(arrays) :], strict=True):
            value.tensor = tensor

    def _bounds_that_hold(self, loop: Sequence) -> Mask:
        """Of what holds within the loop and not around it, the bounds that are the loop's own."""
        box = self.updates.boxes.full(loop.dims)
        own: list = []
        for literal in loop.inner_mask:
            if literal in loop.mask:
                continue
            if not box.free(d for d in _dims_of(literal[0]) if d is not loop.dim and d.value is None):
                own.append(literal)
        return tuple(own)

    def _hold_invariants(self, loop: Sequence) -> None:
        """Folds that are the same in every iteration are computed in front of the loop."""
        roots = [root for s in [loop, *statements(loop.body)] for root in roots_of(s)]
        for value in sorted(reachable(roots), key=lambda v: v.serial):
            if isinstance(value, Fold) and value not in self.updates.held and self._is_known(value, loop):
                self.updates.hold_everywhere(value)

    def _is_known(self, fold: Fold, loop: Sequence) -> bool:
        inside = {s.load for s in statements(loop.body) if isinstance(s, Bind)}
        inner = {d for s in statements([loop]) if isinstance(s, Sequence) for d in (s.dim,)}
        for part in reachable([fold]):
            if part in inside or (isinstance(part, Load | Carried) and part.tensor is None):
                return False
            if inner & set(part.own_dims):
                return False
        return True


def _needs(value: Expression, arrays: set[int]) -> bool:
    """Whether arrays as they are now are looked at."""
    loads = (p for p in reachable([value]) if isinstance(p, Load))
    return any(load.array in arrays and load.tensor is not None for load in loads)


def _roots_within(statement: Statement) -> list[Expression]:
    if not isinstance(statement, Sequence):
        return []
    return [root for s in statements(statement.body) for root in roots_of(s)]


def _dims_of(value) -> list:
    return [d for part in reachable([value]) for d in part.own_dims]
