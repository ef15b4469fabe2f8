"""Read-modify-write that no other work-item can split; each gives the old value."""

from __future__ import annotations

from mlir import ir

from pykern.dialect.base import KernOp, is_number, kern_op

FLOAT_KINDS = ("add", "sub", "min", "max", "exchange")
INTEGER_KINDS = (*FLOAT_KINDS, "and", "or", "xor", "umin", "umax")


@kern_op
class AtomicRmwOp(KernOp):
    """``memory[indices] = kind(memory[indices], value)``; gives what was there.

    ``%old = "kern.atomic_rmw"(%value, %memory, %i) {kind = "add"} : (f32, memref<?xf32>, index) -> f32``
    """

    OPERATION_NAME = "kern.atomic_rmw"
    IRDL = """
    %index = irdl.is index
    %memref = irdl.base "!builtin.memref"
    %element = irdl.any
    %kind = irdl.base "#builtin.string"
    irdl.operands(value: %element, memory: %memref, indices: variadic %index)
    irdl.results(old: %element)
    irdl.attributes { "kind" = %kind }
"""

    @classmethod
    def create(cls, kind: str, value: ir.Value, memory: ir.Value, indices: list[ir.Value]) -> ir.Value:
        operands = [value, memory, *indices]
        return cls.build(operands, [value.type], kind=ir.StringAttr.get(kind)).result

    @property
    def kind(self) -> str:
        return ir.StringAttr(self.attributes["kind"]).value

    def check(self) -> None:
        memref = ir.MemRefType(self.operands[1].type)
        _check_access(self, memref, len(self.operands) - 2)
        kinds = INTEGER_KINDS if isinstance(memref.element_type, ir.IntegerType) else FLOAT_KINDS
        if self.kind not in kinds:
            raise self.refuse(f"has no kind `{self.kind}` for {memref.element_type}: {', '.join(kinds)}")


@kern_op
class AtomicCasOp(KernOp):
    """Put `desired` where `expected` stands; gives what was there.

    ``%old = "kern.atomic_cas"(%expected, %desired, %memory, %i) : (i32, i32, memref<?xi32>, index) -> i32``
    """

    OPERATION_NAME = "kern.atomic_cas"
    IRDL = """
    %index = irdl.is index
    %memref = irdl.base "!builtin.memref"
    %element = irdl.any
    irdl.operands(expected: %element, desired: %element, memory: %memref, indices: variadic %index)
    irdl.results(old: %element)
"""

    @classmethod
    def create(
        cls, expected: ir.Value, desired: ir.Value, memory: ir.Value, indices: list[ir.Value]
    ) -> ir.Value:
        return cls.build([expected, desired, memory, *indices], [expected.type]).result

    def check(self) -> None:
        _check_access(self, ir.MemRefType(self.operands[2].type), len(self.operands) - 3)


def _check_access(op: KernOp, memref: ir.MemRefType, indices: int) -> None:
    if memref.rank != indices:
        raise op.refuse(f"indexes {memref} with {indices} indices, not {memref.rank}")
    if not is_number(memref.element_type):
        raise op.refuse(f"changes numbers, not {memref.element_type}")
    if op.operands[0].type != memref.element_type:
        raise op.refuse(f"takes a {memref.element_type} for {memref}, not {op.operands[0].type}")
