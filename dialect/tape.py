"""What a differentiated kernel remembers: a stack of each work-item, last in, first out."""

from __future__ import annotations

from mlir import ir

from pykern.dialect.base import KernOp, kern_op


@kern_op
class PushOp(KernOp):
    """Put a number on the work-item's tape. The tape grows; nothing is lost.

    ``"kern.push"(%x) : (f64) -> ()``
    """

    OPERATION_NAME = "kern.push"
    IRDL = """
    %type = irdl.any
    irdl.operands(value: %type)
"""

    @classmethod
    def create(cls, value: ir.Value) -> ir.Operation:
        return cls.build([value])

    def check(self) -> None:
        _check_number(self, self.operands[0].type)


@kern_op
class PopOp(KernOp):
    """Take the number that was pushed last off the work-item's tape.

    ``%x = "kern.pop"() : () -> f64``
    """

    OPERATION_NAME = "kern.pop"
    IRDL = """
    %type = irdl.any
    irdl.results(value: %type)
"""

    @classmethod
    def create(cls, kind: ir.Type) -> ir.Value:
        return cls.build(results=[kind]).result

    def check(self) -> None:
        _check_number(self, self.operation.results[0].type)


def _check_number(op: KernOp, kind: ir.Type) -> None:
    if not isinstance(kind, ir.IntegerType | ir.FloatType | ir.IndexType):
        raise op.refuse(f"takes a number, not {kind}")
