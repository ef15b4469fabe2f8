"""Instructions for products of small matrices: a subgroup multiplies them, loads them, and copies what comes next."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from pykern.dialect.base import KernOp, kern_op
from pykern.dialect.matrix_units import SUMS, UNITS, MatrixInstruction, Types

FLOATS = ("f16", "bf16")
"""Types of the factors of attention."""
LANES, ROWS, COLUMNS, WORDS = 32, 16, 8, 8
"""Of the unit `m16n8k16`: lanes of a subgroup; rows and columns of a product, and words with the terms of one of
them."""
QUAD = 4
"""Lanes that hold a row of the left factor between them, or a column of the right one; sums of a lane."""


@kern_op
class MultiplyMatricesOp(KernOp):
    """A product of two small matrices, added to sums, by all lanes of a subgroup together.

    `left` and `right` are the types of elements, `unit` a unit of `pykern.dialect.matrix_units`, where it says which
    lane holds what. Operands are the lane's words of the left factor, those of the right one, and its sums; results are
    the new sums.

    ``%d:4 = "kern.multiply_matrices"(%a0, %a1, %a2, %a3, %b0, %b1, %c0, %c1, %c2, %c3)
    {left = "f16", operandSegmentSizes = array<i32: 6, 4>, right = "f16", unit = "m16n8k16"}
    : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)``
    """

    OPERATION_NAME = "kern.multiply_matrices"
    IRDL = """
    %word = irdl.is i32
    %f32 = irdl.is f32
    %f64 = irdl.is f64
    %i32 = irdl.is i32
    %sum = irdl.any_of(%f32, %f64, %i32)
    %left = irdl.base "#builtin.string"
    %right = irdl.base "#builtin.string"
    %unit = irdl.base "#builtin.string"
    irdl.operands(words: variadic %word, sums: variadic %sum)
    irdl.results(results: variadic %sum)
    irdl.attributes { "left" = %left, "right" = %right, "unit" = %unit }
    """

    @classmethod
    def create(
        cls,
        left: Sequence[ir.Value],
        right: Sequence[ir.Value],
        sums: Sequence[ir.Value],
        types: Types,
        unit: str,
    ) -> list[ir.Value]:
        """The new sums of a lane, from its words of the factors and the sums before."""
        first, second, name = map(ir.StringAttr.get, (*types, unit))
        words = [*left, *right]
        made = cls.build(
            [*words, *sums],
            [v.type for v in sums],
            left=first,
            right=second,
            unit=name,
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(words), len(sums)]),
        )
        return list(made.results)

    @property
    def types(self) -> Types:
        """The names of the factors' types."""
        left, right = (ir.StringAttr(self.attributes[name]).value for name in ("left", "right"))
        return left, right

    @property
    def unit(self) -> str:
        return ir.StringAttr(self.attributes["unit"]).value

    @property
    def instruction(self) -> MatrixInstruction:
        return UNITS[self.unit][self.types]

    @property
    def parts(self) -> tuple[list[ir.Value], list[ir.Value], list[ir.Value]]:
        """The words of the factors, and the sums."""
        values, (left, right) = list(self.operands), self.instruction.words
        return values[:left], values[left : left + right], values[left + right :]

    def check(self) -> None:
        left, right = self.types
        if self.unit not in UNITS:
            raise self.refuse(f"knows no unit {self.unit}", f"there are {', '.join(UNITS)}")
        if self.types not in UNITS[self.unit]:
            known = ", ".join(f"{a} by {b}" if a != b else a for a, b in UNITS[self.unit])
            said = f"{left} by {right}" if left != right else left
            raise self.refuse(f"multiplies {known} on {self.unit}, not {said}")
        words, sums = sum(self.instruction.words), len(self.instruction.cells)
        kinds = ["i32"] * words + [SUMS[left]] * sums
        if [str(v.type) for v in self.operands] != kinds or [str(v.type) for v in self.results] != kinds[
            words:
        ]:
            raise self.refuse(f"takes {words} words and {sums} sums of {SUMS[left]}, and gives new sums")


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
class LoadWordsOp(KernOp):
    """Successive bytes of an array, or of shared memory, as words; they begin at a multiple of their size.

    ``%w:4 = "kern.load_words"(%array, %i, %j) : (memref<?x?xf16>, index, index) -> (i32, i32, i32, i32)``
    """

    OPERATION_NAME = "kern.load_words"
    IRDL = """
    %word = irdl.is i32
    %memref = irdl.base "!builtin.memref"
    %index = irdl.is index
    irdl.operands(memory: %memref, indices: variadic %index)
    irdl.results(words: variadic %word)
    """

    @classmethod
    def create(cls, memory: ir.Value, indices: Sequence[ir.Value], count: int) -> list[ir.Value]:
        """`count` words, from an element on."""
        word = ir.IntegerType.get_signless(32)
        return list(cls.build([memory, *indices], [word] * count).results)


@kern_op
class StoreWordsOp(KernOp):
    """Store words side by side in shared memory, from a multiple of their size on.

    ``"kern.store_words"(%shared, %i, %a, %b) : (memref<640xi32, ...>, index, i32, i32) -> ()``
    """

    OPERATION_NAME = "kern.store_words"
    IRDL = """
    %word = irdl.is i32
    %memref = irdl.base "!builtin.memref"
    %index = irdl.is index
    irdl.operands(memory: %memref, place: %index, words: variadic %word)
    """

    @classmethod
    def create(cls, memory: ir.Value, place: ir.Value, words: Sequence[ir.Value]) -> ir.Operation:
        return cls.build([memory, place, *words])

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
