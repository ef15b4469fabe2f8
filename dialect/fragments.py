"""Matrices of 8 by 8 elements that a subgroup of Metal holds in registers: declared, loaded, multiplied, stored.

Arrays of them stand as memory of a work-item whose elements are whole matrices. Which lane holds what is Metal's
(Metal Shading Language Specification, "SIMD-group Matrix"). Read next:
`pykern.passes.codegen.device.fragment_product`, which makes them, and `pykern.lowering.source.msl_fragments`.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect.base import KernOp, kern_op

FRAGMENT_UNIT = "simdgroup8x8"
"""The name that targets with such matrices give `kern-make-kernels`."""
BFLOAT_UNIT = f"{FRAGMENT_UNIT}+bf16"
"""The same where matrices of bf16 are multiplied as they are."""
FRAGMENT_TYPES = ("f16", "bf16", "f32")
"""Types of factors; sums are f32."""
SIDE, FRAGMENT_LANES = 8, 32
"""Rows and columns of a matrix; work-items that hold it between them."""
_HELD = """
    %held = irdl.base "!builtin.memref"
"""


def _number(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


@kern_op
class FragmentsOp(KernOp):
    """An array of matrices of one type, f16, bf16 or f32; what is in them is undefined at first.

    ``%f = "kern.fragments"() : () -> memref<4xf32>``
    """

    OPERATION_NAME = "kern.fragments"
    IRDL = f"{_HELD} irdl.results(held: %held)"

    @classmethod
    def create(cls, count: int, element: ir.Type) -> ir.Value:
        return cls.build(results=[ir.MemRefType.get([count], element)]).result

    def check(self) -> None:
        kind = ir.MemRefType(self.result.type)
        if kind.rank != 1 or not kind.has_static_shape or str(kind.element_type) not in FRAGMENT_TYPES:
            raise self.refuse(f"gives a known number of matrices of f16, bf16 or f32, not {kind}")


@kern_op
class ClearFragmentsOp(KernOp):
    """All elements of all matrices are zeros.

    ``"kern.clear_fragments"(%f) : (memref<4xf32>) -> ()``
    """

    OPERATION_NAME = "kern.clear_fragments"
    IRDL = f"{_HELD} irdl.operands(held: %held)"

    @classmethod
    def create(cls, held: ir.Value) -> ir.Operation:
        return cls.build([held])


class _MoveOp(KernOp):
    """Base of those that move matrices: the first one from `place` on, the next ones `apart` elements further each;
    rows of a matrix are `row` elements apart."""

    IRDL = """
    %held = irdl.base "!builtin.memref"
    %memory = irdl.base "!builtin.memref"
    %index = irdl.is index
    %first = irdl.base "#builtin.integer"
    %count = irdl.base "#builtin.integer"
    %apart = irdl.base "#builtin.integer"
    %row = irdl.base "#builtin.integer"
    irdl.operands(held: %held, memory: %memory, place: %index)
    irdl.attributes { "first" = %first, "count" = %count, "apart" = %apart, "row" = %row }
    """

    @classmethod
    def create(
        cls, held: ir.Value, memory: ir.Value, place: ir.Value, which: range, apart: int, row: int
    ) -> ir.Operation:
        """Move the matrices of these numbers."""
        numbers = {"first": which.start, "count": len(which), "apart": apart, "row": row}
        return cls.build([held, memory, place], **{name: _number(n) for name, n in numbers.items()})

    def check(self) -> None:
        held, memory = (ir.MemRefType(v.type) for v in list(self.operands)[:2])
        kinds = str(held.element_type), str(memory.element_type)
        fits = kinds[0] == kinds[1] or kinds == ("bf16", "i16")  # where memory has its bits
        if "<workgroup>" not in str(memory.memory_space) or not fits:
            raise self.refuse(f"takes shared memory of {held.element_type}, not {memory}")


@kern_op
class LoadFragmentsOp(_MoveOp):
    """Load matrices from shared memory, by all lanes of a subgroup together.

    ``"kern.load_fragments"(%f, %shared, %i) {apart = 8, count = 4, first = 0, row = 64}
    : (memref<4xf32>, memref<1024xf32, ...>, index) -> ()``
    """

    OPERATION_NAME = "kern.load_fragments"


@kern_op
class StoreFragmentsOp(_MoveOp):
    """Store matrices to shared memory, by all lanes of a subgroup together.

    ``"kern.store_fragments"(%f, %shared, %i) {apart = 8, count = 2, first = 2, row = 16}
    : (memref<4xf32>, memref<512xf32, ...>, index) -> ()``
    """

    OPERATION_NAME = "kern.store_fragments"


@kern_op
class MultiplyFragmentsOp(KernOp):
    """Add the product of each matrix of the left factor and each of the right one to a sum: these come row by row.

    ``"kern.multiply_fragments"(%sums, %left, %right) : (memref<8xf32>, memref<2xf16>, memref<4xf16>) -> ()``
    """

    OPERATION_NAME = "kern.multiply_fragments"
    IRDL = """
    %sums = irdl.base "!builtin.memref"
    %left = irdl.base "!builtin.memref"
    %right = irdl.base "!builtin.memref"
    irdl.operands(sums: %sums, left: %left, right: %right)
    """

    @classmethod
    def create(cls, sums: ir.Value, left: ir.Value, right: ir.Value) -> ir.Operation:
        return cls.build([sums, left, right])

    def check(self) -> None:
        sums, left, right = (ir.MemRefType(v.type) for v in self.operands)
        if left.shape[0] * right.shape[0] != sums.shape[0]:
            raise self.refuse("needs a sum for each matrix of the left factor and each of the right one")
        if left.element_type != right.element_type or str(sums.element_type) != "f32":
            raise self.refuse("multiplies matrices of one type, and adds up in f32")
