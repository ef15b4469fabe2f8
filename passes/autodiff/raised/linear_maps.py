"""Affine expressions as coefficients."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir


@dataclass(frozen=True)
class Linear:
    """sum of coefficients[d] * loop d, plus a constant."""

    coefficients: tuple[int, ...]
    constant: int

    @property
    def loops(self) -> list[int]:
        return [d for d, coefficient in enumerate(self.coefficients) if coefficient]

    @property
    def is_plain(self) -> bool:
        """One loop, as it is."""
        return self.constant == 0 and [c for c in self.coefficients if c] == [1]


def linear(expression: ir.AffineExpr, loops: int) -> Linear | None:
    """None for divisions and remainders."""
    if isinstance(expression, ir.AffineConstantExpr):
        return Linear((0,) * loops, expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return Linear(tuple(int(d == expression.position) for d in range(loops)), 0)
    if not isinstance(expression, ir.AffineAddExpr | ir.AffineMulExpr):
        return None
    left, right = linear(expression.lhs, loops), linear(expression.rhs, loops)
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        sums = tuple(a + b for a, b in zip(left.coefficients, right.coefficients, strict=True))
        return Linear(sums, left.constant + right.constant)
    if left.loops:
        left, right = right, left
    if left.loops:
        return None
    return Linear(tuple(left.constant * c for c in right.coefficients), left.constant * right.constant)
