"""How the body of an adjoint reads: elements of the primal's operands and of cotangents, at their maps."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import linalg

from pykern.passes.autodiff.tensor.builder import GenericBuilder
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.sweep import Recomputed
from pykern.passes.autodiff.tensor.values import is_tensor
from pykern.passes.ir.structured import Structured


class Frame:
    """The adjoint runs over the primal's own loops. `reads_primal` tells whether an operand was read."""

    def __init__(self, op: Structured, scope: Scope, builder: GenericBuilder) -> None:
        self.op, self.scope, self.builder = op, scope, builder
        self.reads_primal = False
        self.primal = Recomputed(op, self._operand, scope.value, self.position)

    def bring(self, value: ir.Value, map: ir.AffineMap) -> ir.Value:
        """The element of `value` at `map` of the primal's loops."""
        return self.builder.input(value, map)

    def position(self, loop: int) -> ir.Value:
        self.reads_primal = True
        return linalg.IndexOp(loop).result

    def _operand(self, place: int) -> ir.Value:
        value = self.scope.value(self.op.operands[place])
        if not is_tensor(value):
            return value
        self.reads_primal = True
        return self.bring(value, self.op.maps[place])
