"""Memory a kernel makes for itself, and the barrier that orders it."""

from __future__ import annotations

import math

from mlir import ir

from pykern.dialect.base import KernOp, is_number, kern_op

MOST_ELEMENTS = 2**58
"""Of a buffer: its bytes are counted in 64 bits."""
_BUFFER = """
    %memref = irdl.base "!builtin.memref"
    irdl.results(memory: %memref)
"""


class BufferOp(KernOp):
    """Base of `shared` and `private`: a static buffer, its contents undefined at first."""

    IRDL = _BUFFER
    SPACE = ""

    @classmethod
    def create(cls, shape: tuple[int, ...], element: ir.Type) -> ir.Value:
        space = ir.Attribute.parse(f"#gpu.address_space<{cls.SPACE}>")
        return cls.build(results=[ir.MemRefType.get(list(shape), element, memory_space=space)]).result

    def check(self) -> None:
        memref = ir.MemRefType(self.result.type)
        if f"<{self.SPACE}>" not in str(memref.memory_space):
            raise self.refuse(f"gives memory in #gpu.address_space<{self.SPACE}>, not {memref.memory_space}")
        if not memref.has_static_shape:
            raise self.refuse("needs a static shape")
        if not is_number(memref.element_type):
            raise self.refuse(f"gives memory for numbers, not for {memref.element_type}")
        if math.prod(memref.shape) > MOST_ELEMENTS:
            raise self.refuse(f"gives {math.prod(memref.shape)} elements, more than {MOST_ELEMENTS}")


@kern_op
class SharedOp(BufferOp):
    """A buffer that the work-items of a group share.

    ``%t = "kern.shared"() : () -> memref<16x17xf32, #gpu.address_space<workgroup>>``
    """

    OPERATION_NAME = "kern.shared"
    SPACE = "workgroup"


@kern_op
class DynamicSharedOp(KernOp):
    """A buffer that the work-items of a group share, as many elements as fit in `bytes`.

    One a kernel, and one for its shadow where the kernel is differentiated.


    ``%t = "kern.dynamic_shared"(%bytes) : (index) -> memref<?xf32, #gpu.address_space<workgroup>>``
    """

    OPERATION_NAME = "kern.dynamic_shared"
    IRDL = """
    %index = irdl.is index
    %memref = irdl.base "!builtin.memref"
    irdl.operands(bytes: %index)
    irdl.results(memory: %memref)
    """

    @classmethod
    def create(cls, size: ir.Value, element: ir.Type) -> ir.Value:
        space = ir.Attribute.parse(f"#gpu.address_space<{SharedOp.SPACE}>")
        length = ir.ShapedType.get_dynamic_size()
        kind = ir.MemRefType.get([length], element, memory_space=space)
        return cls.build(operands=[size], results=[kind]).result

    def check(self) -> None:
        memref = ir.MemRefType(self.result.type)
        if f"<{SharedOp.SPACE}>" not in str(memref.memory_space):
            raise self.refuse(
                f"gives memory in #gpu.address_space<{SharedOp.SPACE}>, not {memref.memory_space}"
            )
        if memref.rank != 1 or not memref.is_dynamic_dim(0):
            raise self.refuse("gives one dimension, whose length is taken at launch")
        if not is_number(memref.element_type):
            raise self.refuse(f"gives memory for numbers, not for {memref.element_type}")


@kern_op
class PrivateOp(BufferOp):
    """A buffer of each work-item; it keeps its contents across barriers.

    ``%p = "kern.private"() : () -> memref<3xf32, #gpu.address_space<private>>``
    """

    OPERATION_NAME = "kern.private"
    SPACE = "private"


@kern_op
class BarrierOp(KernOp):
    """The work-items of a group meet here; memory written before is seen after.

    ``"kern.barrier"() : () -> ()``
    """

    OPERATION_NAME = "kern.barrier"

    @classmethod
    def create(cls) -> ir.Operation:
        return cls.build()


@kern_op
class GuardOp(KernOp):
    """First op of a branch that an early exit made: work-items outside of it have left.

    A barrier in such a branch does not wait for them. An op rather than an attribute of the branch,
    because canonicalization builds branches anew.

    ``scf.if %stays { "kern.guard"() : () -> () ... }``
    """

    OPERATION_NAME = "kern.guard"

    @classmethod
    def create(cls) -> ir.Operation:
        return cls.build()
