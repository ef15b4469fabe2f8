"""Instructions for products of small matrices: a subgroup multiplies them, loads them, and copies what comes next."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from pykern.dialect.base import KernOp, kern_op

FLOATS, BYTES = ("f16", "bf16"), ("s8", "u8")
"""Types of factors: products of floats are summed in f32, those of bytes in i32."""
PACKED = {"f16": 2, "bf16": 2, "s8": 4, "u8": 4}
"""Elements in a word."""
LANES, ROWS, COLUMNS, WORDS = 32, 16, 8, 8
"""Lanes of a subgroup; rows and columns of a product, and words of 32 bits with the terms of one of them."""
QUAD = 4
"""Lanes that hold a row of the left factor between them, or a column of the right one; sums of a lane."""


@kern_op
class MultiplyMatricesOp(KernOp):
    """A matrix of 16 rows times one of 8 columns, added to a 16x8 one, by the 32 lanes of a subgroup together.

    `left` and `right` are the types of elements. Two floats, or four bytes, of successive terms are a word: the first
    one in the lowest bits. There are eight words of terms. Lane `4 * g + t` holds of the left factor word `t` of the
    rows `g` and `g + 8`, then word `t + 4` of both; of the right one the same words of column `g`; of the sums, f32 of
    floats and i32 of bytes, which wrap, the columns `2 * t` and `2 * t + 1` of row `g`, then of row `g + 8` (PTX ISA,
    "Matrix Fragments for mma.m16n8k16" and "... for mma.m16n8k32").

    ``%d:4 = "kern.multiply_matrices"(%a0, %a1, %a2, %a3, %b0, %b1, %c0, %c1, %c2, %c3) {left = "f16", right = "f16"}
    : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)``
    """

    OPERATION_NAME = "kern.multiply_matrices"
    IRDL = """
    %word = irdl.is i32
    %f32 = irdl.is f32
    %sum = irdl.any_of(%f32, %word)
    %left = irdl.base "#builtin.string"
    %right = irdl.base "#builtin.string"
    irdl.operands(a0: %word, a1: %word, a2: %word, a3: %word, b0: %word, b1: %word,
                  c0: %sum, c1: %sum, c2: %sum, c3: %sum)
    irdl.results(d0: %sum, d1: %sum, d2: %sum, d3: %sum)
    irdl.attributes { "left" = %left, "right" = %right }
    """

    @classmethod
    def create(
        cls,
        left: Sequence[ir.Value],
        right: Sequence[ir.Value],
        sums: Sequence[ir.Value],
        types: tuple[str, str],
    ) -> list[ir.Value]:
        """The four new sums of a lane, from its four and two words of the factors, and the sums before."""
        first, second = map(ir.StringAttr.get, types)
        made = cls.build([*left, *right, *sums], [v.type for v in sums], left=first, right=second)
        return list(made.results)

    @property
    def types(self) -> tuple[str, str]:
        """The names of the factors' types."""
        left, right = (ir.StringAttr(self.attributes[name]).value for name in ("left", "right"))
        return left, right

    def check(self) -> None:
        left, right = self.types
        if not ((left == right and left in FLOATS) or (left in BYTES and right in BYTES)):
            said = f"{left} by {right}" if left != right else left
            raise self.refuse(f"multiplies {' and '.join(FLOATS)}, or {' and '.join(BYTES)}, not {said}")
        sums = "f32" if left in FLOATS else "i32"
        if any(str(v.type) != sums for v in list(self.operands)[6:]):
            raise self.refuse(f"adds products of {left} up in {sums}")


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
