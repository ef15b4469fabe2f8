"""Instructions for products of small matrices: a subgroup multiplies them, loads them, and copies what comes next."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from pykern.dialect.base import KernOp, kern_op

FACTOR_TYPES = ("f16", "bf16")
LANES, ROWS, COLUMNS, TERMS = 32, 16, 8, 16
"""Lanes of a subgroup; rows, columns and terms of a product."""
QUAD = 4
"""Lanes that hold a row of the left factor between them, or a column of the right one; sums of a lane."""


@kern_op
class MultiplyMatricesOp(KernOp):
    """A 16x16 matrix times a 16x8 one, added to a 16x8 one of f32, by the 32 lanes of a subgroup together.

    The factors' elements have the type `element`, two in a word: the one with the smaller term in the low half. Lane
    `4 * g + t` holds of the left factor the terms `2 * t` and `2 * t + 1` of the rows `g` and `g + 8`, then the terms
    `2 * t + 8` and `2 * t + 9` of both; of the right one the same terms of column `g`; of the sums the columns `2 * t`
    and `2 * t + 1` of row `g`, then of row `g + 8` (PTX ISA, "Matrix Fragments for mma.m16n8k16").

    ``%d:4 = "kern.multiply_matrices"(%a0, %a1, %a2, %a3, %b0, %b1, %c0, %c1, %c2, %c3) {element = "f16"}
    : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)``
    """

    OPERATION_NAME = "kern.multiply_matrices"
    IRDL = """
    %word = irdl.is i32
    %sum = irdl.is f32
    %element = irdl.base "#builtin.string"
    irdl.operands(a0: %word, a1: %word, a2: %word, a3: %word, b0: %word, b1: %word,
                  c0: %sum, c1: %sum, c2: %sum, c3: %sum)
    irdl.results(d0: %sum, d1: %sum, d2: %sum, d3: %sum)
    irdl.attributes { "element" = %element }
    """

    @classmethod
    def create(
        cls, left: Sequence[ir.Value], right: Sequence[ir.Value], sums: Sequence[ir.Value], element: ir.Type
    ) -> list[ir.Value]:
        """The four new sums of a lane, from its four and two words of the factors, and the sums before."""
        made = cls.build(
            [*left, *right, *sums], [v.type for v in sums], element=ir.StringAttr.get(str(element))
        )
        return list(made.results)

    @property
    def element(self) -> str:
        """The name of the factors' type."""
        return ir.StringAttr(self.attributes["element"]).value

    def check(self) -> None:
        if self.element not in FACTOR_TYPES:
            raise self.refuse(f"multiplies {' and '.join(FACTOR_TYPES)}, not {self.element}")


@kern_op
class LoadMatricesOp(KernOp):
    """Four 8x8 matrices of 16-bit elements from shared memory, by the 32 lanes of a subgroup together.

    Lane ``8 * m + r`` gives the place of row ``r`` of matrix ``m``: eight elements in four words, from a multiple of 16
    bytes on. Of each matrix lane ``4 * g + t`` gets the elements ``2 * t`` and ``2 * t + 1`` of row ``g``, or of column
    ``g`` where they are `transposed` (PTX ISA, "ldmatrix").

    ``%w:4 = "kern.load_matrices"(%shared, %i) {transposed = false} : (memref<640xi32, ...>, index)
    -> (i32, i32, i32, i32)``
    """

    OPERATION_NAME = "kern.load_matrices"
    IRDL = """
    %word = irdl.is i32
    %memref = irdl.base "!builtin.memref"
    %index = irdl.is index
    %transposed = irdl.base "#builtin.integer"
    irdl.operands(memory: %memref, place: %index)
    irdl.results(w0: %word, w1: %word, w2: %word, w3: %word)
    irdl.attributes { "transposed" = %transposed }
    """

    @classmethod
    def create(cls, memory: ir.Value, place: ir.Value, transposed: bool) -> list[ir.Value]:
        """A lane's word of each matrix."""
        word = ir.IntegerType.get_signless(32)
        return list(cls.build([memory, place], [word] * 4, transposed=ir.BoolAttr.get(transposed)).results)

    def check(self) -> None:
        _refuse_other_memory(self, self.operands[0])


@kern_op
class CopyAsyncOp(KernOp):
    """Copy 16 bytes of an array to shared memory, while the work-item goes on; both begin at multiples of 16 bytes.

    `count` bytes are read, 0 or 16; in place of others zeros are written. Copies since the last `kern.commit_copies`
    are a batch, and `kern.wait_copies` waits for batches of its work-item.

    ``"kern.copy_async"(%count, %shared, %at, %source, %i, %j)
    : (i32, memref<640xi32, ...>, index, memref<?x?xf16>, index, index) -> ()``
    """

    OPERATION_NAME = "kern.copy_async"
    IRDL = """
    %word = irdl.is i32
    %memref = irdl.base "!builtin.memref"
    %source = irdl.base "!builtin.memref"
    %index = irdl.is index
    irdl.operands(count: %word, target: %memref, place: %index, source: %source, indices: variadic %index)
    """

    @classmethod
    def create(
        cls, count: ir.Value, target: ir.Value, place: ir.Value, source: ir.Value, indices: Sequence[ir.Value]
    ) -> ir.Operation:
        return cls.build([count, target, place, source, *indices])

    def check(self) -> None:
        _refuse_other_memory(self, self.operands[1])


@kern_op
class CommitCopiesOp(KernOp):
    """The work-item's copies since the last one are a batch.

    ``"kern.commit_copies"() : () -> ()``
    """

    OPERATION_NAME = "kern.commit_copies"

    @classmethod
    def create(cls) -> ir.Operation:
        return cls.build()


@kern_op
class WaitCopiesOp(KernOp):
    """Wait until all batches of the work-item's copies are done but the last `pending` ones.

    ``"kern.wait_copies"() {pending = 1} : () -> ()``
    """

    OPERATION_NAME = "kern.wait_copies"
    IRDL = """
    %pending = irdl.base "#builtin.integer"
    irdl.attributes { "pending" = %pending }
    """

    @classmethod
    def create(cls, pending: int) -> ir.Operation:
        return cls.build(pending=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), pending))


def _refuse_other_memory(op: KernOp, memory: ir.Value) -> None:
    kind = ir.MemRefType(memory.type)
    if "<workgroup>" not in str(kind.memory_space) or str(kind.element_type) != "i32":
        raise op.refuse(f"takes shared memory of i32, not {kind}")
