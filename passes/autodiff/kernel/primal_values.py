"""How the reverse sweep gets a value of the forward sweep: alive, computed again, or from the tape.

In: values of the kernel. Out: values in the reverse sweep. What a block computed in the forward sweep
and the reverse sweep cannot compute again is pushed at the end of that block and popped at the
beginning of its reverse, so that the tape is last in, first out whatever the control flow.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from mlir import ir
from mlir.dialects import arith

from pykern.dialect.tape import PopOp, PushOp
from pykern.passes.autodiff.kernel.copying import ForwardSweep, copy_of
from pykern.passes.autodiff.kernel.sharing import Sharing
from pykern.passes.ir.values import defining, home, is_argument
from pykern.passes.kernels import identity, index_constant
from pykern.passes.remarks import remark


class ReverseScope:
    """A block of the kernel while it is reversed.

    `live`: its forward sweep stands in front of the reverse sweep in the same block, or around it, so
    its values are there. Else `forward` is its copy and `reverse` the block that reverses it, into
    which it puts pops and recomputation before `marker`.
    """

    def __init__(self, block: ir.Block, forward: ir.Block | None = None, reverse: ir.Block | None = None):
        self.block, self.forward, self.reverse = block, forward, reverse
        self.live = forward is None
        self.values: dict[ir.Value, ir.Value] = {}
        self.sites: Iterator[int] = itertools.count()
        self._popped: dict[ir.Value, ir.Value] = {}
        self.marker: ir.Operation | None = None
        if reverse is not None:
            with ir.InsertionPoint.at_block_begin(reverse):
                self.marker = index_constant(0).owner.operation

    def from_tape(self, value: ir.Value) -> ir.Value:
        """A value of the forward sweep, popped from the tape in the reverse sweep; the matching push is added where it
        is missing."""
        if self.live:
            return value
        if value not in self._popped:
            assert self.forward is not None
            assert self.reverse is not None
            _say(value, "stored on the tape for the reverse sweep")
            last = self.forward.operations[len(self.forward.operations) - 1].operation
            with ir.InsertionPoint(last), last.location:
                PushOp.create(value, site := next(self.sites))
            with ir.InsertionPoint.at_block_begin(self.reverse), last.location:
                self._popped[value] = PopOp.create(value.type, site)
        return self._popped[value]

    def close(self) -> None:
        """Remove the marker: nothing more is inserted before it."""
        if self.marker is not None:
            self.marker.erase()


class PrimalValues:
    """Finds primal values through the scopes around the place that is reversed, innermost last."""

    def __init__(self, forward: ForwardSweep, sharing: Sharing) -> None:
        self.forward = forward
        self.scopes: list[ReverseScope] = []
        self._sites = itertools.count()
        self._constant_memory = {m for m, found in sharing.accesses.items() if not found.written}

    @property
    def scope(self) -> ReverseScope:
        return self.scopes[-1]

    def enter(self, scope: ReverseScope) -> None:
        """Enter a scope: values of its block may be asked for from here on. Pushes and pops are numbered through the
        kernel."""
        scope.sites = self._sites
        self.scopes.append(scope)

    def primal(self, value: ir.Value) -> ir.Value:
        """The value that `value` of the kernel had when this part of the kernel ran."""
        block = home(value)
        scope = next(s for s in reversed(self.scopes) if s.block == block)
        if scope.live:
            return self.forward.values[value]
        if value not in scope.values:
            scope.values[value] = self._recomputed(value, scope) or scope.from_tape(
                self.forward.values[value]
            )
        return scope.values[value]

    def overwritten(self, store: ir.Operation) -> ir.Value:
        """The value that a store of the kernel overwrote."""
        block = store.block
        scope = next(s for s in reversed(self.scopes) if s.block == block)
        return scope.from_tape(self.forward.overwritten[identity(store)])

    def _recomputed(self, value: ir.Value, scope: ReverseScope) -> ir.Value | None:
        """The value computed once more at the top of the reverse, None where that could differ."""
        op = defining(value)
        if op is None:
            return None
        if not self._repeatable(op):
            return None
        operands = [self.primal(v) for v in op.operands]
        assert scope.marker is not None
        if op.name != "arith.constant":
            _say(value, "computed again in the reverse sweep")
        with ir.InsertionPoint(scope.marker):
            return copy_of(op, operands).results[list(op.results).index(value)]

    def _repeatable(self, op: ir.Operation) -> bool:
        if op.regions:
            return False
        if op.name == "memref.load":
            return op.operands[0] in self._constant_memory
        if op.name == "memref.dim":  # of an argument; shared memory stays in the scope that made it
            return is_argument(op.operands[0])
        return op.name.startswith(("arith.", "math.", "func.call", "kern.stop_gradient"))


def _say(value: ir.Value, text: str) -> None:
    maker, around = defining(value), home(value).owner.operation
    if maker is not None:
        remark(maker, text)
    elif around.name != "func.func":
        remark(around, f"what the loop carries is {text}")


def trip_count(lower: ir.Value, upper: ir.Value, step: ir.Value) -> ir.Value:
    """The trip count of an scf.for."""
    zero = index_constant(0)
    span = arith.MaxSIOp(arith.SubIOp(upper, lower).result, zero).result
    return arith.CeilDivSIOp(span, step).result
