"""The primal inside the adjoint: its values are computed where, and only where, a rule reads them.

A `Scope` stands for one block of the primal within the block of the adjoint being written. Asking it
for a primal value gives the one already there, or clones the ops that compute it. A loop-carried value
cannot be computed here: `carried` is asked, which is how a loop learns what it has to store.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from pykern.passes.ir.clone import clone
from pykern.passes.ir.values import defining, free_values, home
from pykern.passes.kernels import identity


class Scope:
    """`primal`: the block it stands for; `block`: where is written; `anchor`: the op in it written inside of."""

    def __init__(
        self,
        primal: ir.Block,
        block: ir.Block,
        parent: Scope | None = None,
        carried: Callable[[ir.Value], ir.Value] | None = None,
    ) -> None:
        self.primal, self.block, self.parent = primal, block, parent
        self.known: dict[ir.Value, ir.Value] = {}
        self.copies: dict[int, ir.Operation] = {}  # primal op to the copy made here
        self.anchor: ir.Operation | None = None
        self._carried = carried
        self._place = {identity(op.operation): k for k, op in enumerate(primal.operations)}

    @property
    def here(self) -> ir.InsertionPoint:
        """The insertion point of this scope: its end, or in front of the op whose regions are being written."""
        return ir.InsertionPoint(self.block if self.anchor is None else self.anchor)

    def value(self, value: ir.Value) -> ir.Value:
        """The primal `value`, computed if need be."""
        scope = self._home(value)
        if value not in scope.known:
            scope._compute(value)
        return scope.known[value]

    def emit_all(self) -> None:
        """The whole block, in order: the forward sweep."""
        for op in list(self.primal.operations)[:-1]:
            self._emit(op.operation)

    def _home(self, value: ir.Value) -> Scope:
        scope: Scope | None = self
        block = home(value)
        while scope is not None and scope.primal != block:
            scope = scope.parent
        assert scope is not None, f"no scope has {value}"
        return scope

    def _compute(self, value: ir.Value) -> None:
        needed: dict[int, ir.Operation] = {}
        waiting = [value]
        while waiting:
            one = waiting.pop()
            scope = self._home(one)
            if one in scope.known:
                continue
            if scope is not self:
                scope.value(one)
                continue
            op = defining(one)
            if op is None:
                assert self._carried is not None, f"argument {one} is unknown"
                with self.here:
                    self.known[one] = self._carried(one)
            elif (place := self._place[identity(op)]) not in needed:
                needed[place] = op
                waiting += free_values(op)
        for place in sorted(needed):
            self._emit(needed[place])

    def _emit(self, op: ir.Operation) -> None:
        with self.here, op.location:
            copy = clone(op, self.value)
        self.known.update(zip(op.results, copy.results, strict=True))
        self.copies[identity(op)] = copy
