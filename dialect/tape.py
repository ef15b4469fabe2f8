"""What a differentiated kernel remembers: a stack of each work-item, last in, first out."""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.base import KernOp, is_number, kern_op


@kern_op
class PushOp(KernOp):
    """Put a number on the work-item's tape, or one of each lane. The tape grows; nothing is lost.

    ``"kern.push"(%x) {kern.site = 0} : (f64) -> ()``

    A push and the pop that takes what it put share a `kern.site`.
    """

    OPERATION_NAME = "kern.push"
    IRDL = """
    %type = irdl.any
    irdl.operands(value: %type)
"""

    @classmethod
    def create(cls, value: ir.Value, site: int | None = None) -> ir.Operation:
        return _at(cls.build([value]), site)

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
    def create(cls, kind: ir.Type, site: int | None = None) -> ir.Value:
        return _at(cls.build(results=[kind]), site).result

    def check(self) -> None:
        _check_number(self, self.operation.results[0].type)


def _at(op: ir.Operation, site: int | None) -> ir.Operation:
    if site is not None:
        op.attributes[kern.SITE] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), site)
    return op


def _check_number(op: KernOp, kind: ir.Type) -> None:
    if isinstance(kind, ir.VectorType):
        kind = kind.element_type
    if not is_number(kind):
        raise op.refuse(f"takes a number, not {kind}")
