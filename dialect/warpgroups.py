"""Instructions of four subgroups together: copies of boxes of an array past the registers, products of what they bring.

A box comes through a tensor map, which the host makes of an array. Phases count the bytes that have come. All memory is
shared memory of words, flat, from a multiple of 1024 bytes on; rows of 128 bytes are permuted in chunks of 16, so that
no two lanes meet in a bank (PTX ISA, "Swizzling Modes").
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from pykern.dialect.base import KernOp, kern_op
from pykern.dialect.matrices import QUAD
from pykern.dialect.matrix_units import SUMS

ITEMS, ROWS = 128, 64
"""Work-items of a warpgroup; rows of a product."""
PANEL_BYTES, ROW_BYTES = 8192, 128
"""Of a factor: 64 rows of 128 bytes."""
ELEMENT_BYTES = {"f16": 2, "bf16": 2, "s8": 1, "u8": 1}
"""Of an element of a factor, by its type."""
_MEMORY = """
    %memref = irdl.base "!builtin.memref"
    %index = irdl.is index
"""


@kern_op
class TensorMapOp(KernOp):
    """A map of an array, by which boxes of it are copied. `form` says what the host makes it of, see
    `pykern.data.tensor_form`.

    ``%m = "kern.tensor_map"(%a) {form = "f16 64,256 128 64,128"} : (memref<256x64xf16>) -> i64``
    """

    OPERATION_NAME = "kern.tensor_map"
    IRDL = """
    %memref = irdl.base "!builtin.memref"
    %form = irdl.base "#builtin.string"
    %word = irdl.is i64
    irdl.operands(array: %memref)
    irdl.results(map: %word)
    irdl.attributes { "form" = %form }
    """

    @classmethod
    def create(cls, array: ir.Value, form: str) -> ir.Value:
        word = ir.IntegerType.get_signless(64)
        return cls.build([array], [word], form=ir.StringAttr.get(form)).result


@kern_op
class BeginPhasesOp(KernOp):
    """Make `count` phases, one behind the other; each ends with an arrival and the bytes that it has told of.

    By one work-item; a barrier shows them to the others. ``"kern.begin_phases"(%phases) {count = 4} : (...) -> ()``
    """

    OPERATION_NAME = "kern.begin_phases"
    IRDL = """
    %memref = irdl.base "!builtin.memref"
    %count = irdl.base "#builtin.integer"
    irdl.operands(phases: %memref)
    irdl.attributes { "count" = %count }
    """

    @classmethod
    def create(cls, phases: ir.Value, count: int) -> ir.Operation:
        return cls.build([phases], count=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count))


@kern_op
class ExpectBytesOp(KernOp):
    """Arrive at a phase, and tell how many bytes it waits for besides.

    ``"kern.expect_bytes"(%phases, %slot) {bytes = 32768} : (memref<4xi64, ...>, index) -> ()``
    """

    OPERATION_NAME = "kern.expect_bytes"
    IRDL = f"""{_MEMORY}
    %bytes = irdl.base "#builtin.integer"
    irdl.operands(phases: %memref, slot: %index)
    irdl.attributes {{ "bytes" = %bytes }}
    """

    @classmethod
    def create(cls, phases: ir.Value, slot: ir.Value, nbytes: int) -> ir.Operation:
        return cls.build([phases, slot], bytes=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), nbytes))


@kern_op
class CopyBoxOp(KernOp):
    """Copy the box of a tensor map at a corner to shared memory, while the work-item goes on; elements outside of the
    array are zeros. The phase hears of the bytes. Corners begin with the fastest dimension.

    ``"kern.copy_box"(%map, %shared, %at, %phases, %slot, %x, %y) : (i64, memref<...>, index, memref<...>, index,
    index, index) -> ()``
    """

    OPERATION_NAME = "kern.copy_box"
    IRDL = f"""{_MEMORY}
    %map = irdl.is i64
    %counts = irdl.base "!builtin.memref"
    irdl.operands(source: %map, target: %memref, place: %index, phases: %counts, slot: %index,
                  corner: variadic %index)
    """

    @classmethod
    def create(
        cls,
        source: ir.Value,
        target: tuple[ir.Value, ir.Value],
        phase: tuple[ir.Value, ir.Value],
        corner: Sequence[ir.Value],
    ) -> ir.Operation:
        """`target` and `phase` are memory and a place in it."""
        return cls.build([source, *target, *phase, *corner])


@kern_op
class WaitPhaseOp(KernOp):
    """Wait until the phase of a parity has ended. ``"kern.wait_phase"(%phases, %slot, %parity) : (..., index, i32)``"""

    OPERATION_NAME = "kern.wait_phase"
    IRDL = f"""{_MEMORY}
    %word = irdl.is i32
    irdl.operands(phases: %memref, slot: %index, parity: %word)
    """

    @classmethod
    def create(cls, phases: ir.Value, slot: ir.Value, parity: ir.Value) -> ir.Operation:
        return cls.build([phases, slot, parity])


@kern_op
class MultiplyPanelsOp(KernOp):
    """Add the products of two factors in shared memory to the sums of a warpgroup, and wait for them.

    Each factor begins at its place: panels of 64 lines and 128 bytes of terms each. Rows of a panel are its lines
    where `by_terms` is true for the factor, in which terms are side by side; else its terms, 64 of 16 bits. The left
    factor has `rows` lines, a multiple of 64, the right one `columns`. Sums are those of 64 rows after the other; lane
    and number of each: PTX ISA, "wgmma.mma_async", fragment D. `type` is that of the factors' elements.

    ``%d:64 = "kern.multiply_panels"(%m, %i, %m, %j, %c0, ...) {columns = 128, left_by_terms = true, ...}``
    """

    OPERATION_NAME = "kern.multiply_panels"
    IRDL = f"""{_MEMORY}
    %f32 = irdl.is f32
    %i32 = irdl.is i32
    %sum = irdl.any_of(%f32, %i32)
    %columns = irdl.base "#builtin.integer"
    %first = irdl.base "#builtin.integer"
    %second = irdl.base "#builtin.integer"
    %other = irdl.base "!builtin.memref"
    %type = irdl.base "#builtin.string"
    irdl.operands(left: %memref, left_place: %index, right: %other, right_place: %index, sums: variadic %sum)
    irdl.results(totals: variadic %sum)
    irdl.attributes {{ "columns" = %columns, "left_by_terms" = %first, "right_by_terms" = %second, "type" = %type }}
    """

    @classmethod
    def create(
        cls,
        left: tuple[ir.Value, ir.Value],
        right: tuple[ir.Value, ir.Value],
        sums: Sequence[ir.Value],
        columns: int,
        by_terms: tuple[bool, bool],
        kind: str,
    ) -> list[ir.Value]:
        """The new sums; `left` and `right` are memory and a place in it."""
        made = cls.build(
            [*left, *right, *sums],
            [v.type for v in sums],
            columns=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), columns),
            left_by_terms=ir.BoolAttr.get(by_terms[0]),
            right_by_terms=ir.BoolAttr.get(by_terms[1]),
            type=ir.StringAttr.get(kind),
        )
        return list(made.results)

    @property
    def columns(self) -> int:
        return ir.IntegerAttr(self.attributes["columns"]).value

    @property
    def by_terms(self) -> tuple[bool, bool]:
        left, right = (ir.BoolAttr(self.attributes[f"{side}_by_terms"]).value for side in ("left", "right"))
        return left, right

    @property
    def kind(self) -> str:
        """The name of the factors' type."""
        return ir.StringAttr(self.attributes["type"]).value

    def check(self) -> None:
        kind = self.kind
        if kind not in ELEMENT_BYTES:
            raise self.refuse(f"multiplies {', '.join(ELEMENT_BYTES)}, not {kind}")
        if SUMS[kind] == "i32" and not all(self.by_terms):
            raise self.refuse("multiplies bytes whose terms are side by side")
        count = len(list(self.results))
        if any(str(v.type) != SUMS[kind] for v in self.results):
            raise self.refuse(f"sums products of {kind} in {SUMS[kind]}")
        if self.columns % 64 or not 0 < self.columns <= 256 or count % (self.columns // 2) or count == 0:
            raise self.refuse(f"has {count} sums of {self.columns} columns")


@kern_op
class MultiplyWordsOp(KernOp):
    """Add the product of a left factor in registers and of a right one in shared memory to the sums of a warpgroup.

    The left factor has 64 rows, 16 of each subgroup; four words of a work-item hold 16 terms, as `m16n8k16` has them
    (`pykern.dialect.matrix_units`), the words of the next terms follow. Of the right factor 64 terms of all `columns`
    are panels one behind the other, as in `kern.multiply_panels`, and the next terms follow. `type` is that of the
    elements, of 16 bits.

    ``%d:32 = "kern.multiply_words"(%m, %i, %w0, ..., %c0, ...) {by_terms = true, columns = 64 : i32,
    operandSegmentSizes = array<i32: 1, 1, 16, 32>, type = "f16"} : (...) -> (...)``
    """

    OPERATION_NAME = "kern.multiply_words"
    IRDL = f"""{_MEMORY}
    %word = irdl.is i32
    %sum = irdl.is f32
    %columns = irdl.base "#builtin.integer"
    %by_terms = irdl.base "#builtin.integer"
    %type = irdl.base "#builtin.string"
    irdl.operands(right: %memref, place: %index, words: variadic %word, sums: variadic %sum)
    irdl.results(totals: variadic %sum)
    irdl.attributes {{ "columns" = %columns, "by_terms" = %by_terms, "type" = %type }}
    """

    @classmethod
    def create(
        cls,
        words: Sequence[ir.Value],
        right: tuple[ir.Value, ir.Value],
        sums: Sequence[ir.Value],
        by_terms: bool,
        kind: str,
    ) -> list[ir.Value]:
        """The new sums; `right` is memory and a place in it."""
        made = cls.build(
            [*right, *words, *sums],
            [v.type for v in sums],
            columns=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 2 * len(sums)),
            by_terms=ir.BoolAttr.get(by_terms),
            type=ir.StringAttr.get(kind),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 1, len(words), len(sums)]),
        )
        return list(made.results)

    @property
    def columns(self) -> int:
        return ir.IntegerAttr(self.attributes["columns"]).value

    @property
    def by_terms(self) -> bool:
        return ir.BoolAttr(self.attributes["by_terms"]).value

    @property
    def kind(self) -> str:
        """The name of the factors' type."""
        return ir.StringAttr(self.attributes["type"]).value

    def check(self) -> None:
        if ELEMENT_BYTES.get(self.kind) != 2:
            raise self.refuse(f"multiplies f16 and bf16, not {self.kind}")
        count = len(list(self.results))
        if self.columns % 64 or not 0 < self.columns <= 256 or 2 * count != self.columns:
            raise self.refuse(f"has {count} sums of {self.columns} columns")
        words = len(list(self.operands)) - 2 - count
        if words <= 0 or words % QUAD:
            raise self.refuse(f"takes four words of each 16 terms, not {words}")
