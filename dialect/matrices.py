"""Instructions that multiply small matrices, whose elements the work-items of a subgroup share."""

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
