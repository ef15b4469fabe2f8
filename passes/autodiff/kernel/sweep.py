"""The reverse sweep over straight-line code: for each op of the kernel, last first, what flows back.

`adjoints` holds, for values of the kernel, the derivative of what was asked for by them, as far as
the sweep has come. Branches and loops are in `structured`, memory in `memory`.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect.diagnostics import span_of
from pykern.dialect.memory import BarrierOp, GuardOp
from pykern.errors import NotDifferentiable
from pykern.passes.autodiff.kernel.activity import Activity
from pykern.passes.autodiff.kernel.collectives import reverse_collective
from pykern.passes.autodiff.kernel.memory import Shadows, reverse_memory
from pykern.passes.autodiff.kernel.primal_values import PrimalValues, ReverseScope
from pykern.passes.autodiff.kernel.structured import STRUCTURED
from pykern.passes.autodiff.parts import adjoint_of
from pykern.passes.autodiff.rules import table
from pykern.passes.autodiff.rules.expression import flow_type
from pykern.passes.autodiff.rules.gates import Flow, through
from pykern.passes.ir.constants import constant
from pykern.passes.kernels import identity

NOTHING_FLOWS = ("kern.stop_gradient", "kern.push", "kern.print", "kern.assert", "scf.yield", "scf.condition")


class Sweep:
    """Reverses blocks of the kernel at the current insertion point."""

    def __init__(self, activity: Activity, primals: PrimalValues, shadows: Shadows) -> None:
        self.activity, self.primals, self.shadows = activity, primals, shadows
        self.adjoints: dict[ir.Value, Flow] = {}
        self._touched: dict[int, bool] = {}

    # -- adjoints ------------------------------------------------------------------------------

    def add(self, value: ir.Value, flowing: Flow | ir.Value | None) -> None:
        """Add `flowing` to the cotangent of a value of the kernel."""
        if flowing is None or not self.activity.varied(value):
            return
        flow = (flowing if isinstance(flowing, Flow) else Flow(flowing)).cast(flow_type(value.type))
        known = self.adjoints.get(value)
        self.adjoints[value] = flow if known is None else known.joined(flow)

    def pop(self, value: ir.Value) -> ir.Value | None:
        """Remove and return the cotangent of a value; None where it has none."""
        flow = self.adjoints.pop(value, None)
        return None if flow is None else flow.settled()

    def taken(self, value: ir.Value) -> ir.Value:
        """Remove and return the cotangent of a value; zero where it has none."""
        flow = self.adjoints.get(value)
        return zero(flow_type(value.type)) if flow is None else flow.settled()

    # -- blocks --------------------------------------------------------------------------------

    def block(self, scope: ReverseScope, operations: list[ir.Operation] | None = None) -> None:
        """Reverse the ops of a block, last first."""
        self.primals.enter(scope)
        if operations is None:
            operations = [o.operation for o in scope.block.operations]
        for op in reversed(operations):
            with adjoint_of(op.location):
                self._operation(op)
        self.primals.scopes.pop()
        scope.close()

    def concerns(self, op: ir.Operation) -> bool:
        """Whether anything flows through the op or what is in it, or has to be put back."""
        key = identity(op)
        if key not in self._touched:
            self._touched[key] = self.shadows.concerns(op) or any(
                self.activity.varied(v) for v in (*op.operands, *op.results)
            )
            for region in op.regions:
                for block in region.blocks:
                    for inner in block.operations:
                        if self.concerns(inner.operation):
                            self._touched[key] = True
        return self._touched[key]

    def _operation(self, op: ir.Operation) -> None:
        if op.name == "kern.barrier":
            BarrierOp.create()
        elif op.name == "kern.guard":
            self._guard()
        elif op.name in NOTHING_FLOWS or not self.concerns(op):
            return
        elif op.name in STRUCTURED:
            STRUCTURED[op.name](self, op)
        elif not reverse_memory(self, op) and not reverse_collective(self, op):
            self._scalar(op)

    def _guard(self) -> None:
        """Mark the reverse of a branch that an early exit made as such a branch, too."""
        reverse = self.primals.scope.reverse
        if reverse is not None:
            with ir.InsertionPoint.at_block_begin(reverse):
                GuardOp.create()

    def _scalar(self, op: ir.Operation) -> None:
        if table.is_cut(op) or not op.results or op.results[0] not in self.adjoints:
            return
        if not table.has_rule(op):
            raise no_rule(op)
        flow = self.adjoints.pop(op.results[0])
        for number, operand in enumerate(op.operands):
            if self.activity.varied(operand):
                values = {name: self.primals.primal(v) for name, v in table.reads(op, number).items()}
                self.add(operand, through(op, number, values, flow))


def zero(kind: ir.Type) -> ir.Value:
    return constant(kind, 0.0)


def no_rule(op: ir.Operation) -> NotDifferentiable:
    what = op.name
    if op.name == "func.call":
        what = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    return NotDifferentiable(
        f"`{what}` has no rule of differentiation",
        span_of(op.location),
        "use pk.stop_gradient, or other functions",
    )
