"""What a program says to differentiation."""

from __future__ import annotations

from mlir import ir

from pykern.dialect.base import KernOp, kern_op


@kern_op
class StopGradientOp(KernOp):
    """The value itself, a constant to differentiation. A tensor or a scalar.

    ``%y = "kern.stop_gradient"(%x) : (tensor<4xf32>) -> tensor<4xf32>``
    """

    OPERATION_NAME = "kern.stop_gradient"
    IRDL = """
    %type = irdl.any
    irdl.operands(value: %type)
    irdl.results(out: %type)
"""

    @classmethod
    def create(cls, value: ir.Value) -> ir.Value:
        return cls.build([value], [value.type]).result
