"""Expressions of a C-like language: their text, how tightly they bind, and what they read.

An expression may be written later than it was computed, in the one place that uses it. `reads` and `memory` tell
between which statements it may not be moved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mlir import ir

ATOM, UNARY, PRODUCT, SUM, COMPARISON, AND, OR, LOOSE = 10, 9, 8, 7, 5, 4, 3, 1
"""How tightly an operator binds. What is `LOOSE` (bits, shifts, conditional expressions) always gets parentheses: C and
WGSL differ in how they bind it, and readers do not remember either."""


@dataclass(frozen=True)
class Expression:
    """Text of an expression. `reads` are the variables in it that assignments change, `memory` tells whether it reads
    memory that others may write."""

    text: str
    level: int = ATOM
    reads: frozenset[str] = frozenset()
    memory: bool = False
    widened: tuple[Expression, ir.Type] | None = None
    """The integer that this one was before it was widened, and its type: what wants fewer bits takes that."""

    other_sign: tuple[Expression, str] | None = None
    """The same bits read without a sign, and the name of that type."""

    opposite: str = ""
    """The text of the opposite of a comparison, where one operator says it."""

    def within(self, least: int) -> str:
        """The text as an operand of what takes only expressions that bind at least so tightly."""
        return self.text if self.level >= least else f"({self.text})"

    def over(self, *operands: Expression) -> Expression:
        """This text, made of `operands`: it reads what they read."""
        reads = self.reads.union(*(each.reads for each in operands))
        return replace(self, reads=reads, memory=self.memory or any(each.memory for each in operands))


def call(name: str, *operands: Expression) -> Expression:
    """``name(a, b)``."""
    return Expression(f"{name}({', '.join(each.text for each in operands)})").over(*operands)


def binary(left: Expression, operator: str, right: Expression, level: int) -> Expression:
    """``left operator right``; operators of one level are taken from left to right."""
    nested = level if level > LOOSE else UNARY
    text = f"{left.within(nested)} {operator} {right.within(nested + 1)}"
    return Expression(text, level).over(left, right)


def both(left: Expression, operator: str, right: Expression, level: int) -> Expression:
    """``a && b`` or ``a || b``, whose operands are comparisons or the same again."""
    sides = (
        side.text if side.level in (level, *range(COMPARISON, ATOM + 1)) else f"({side.text})"
        for side in (left, right)
    )
    return Expression(f" {operator} ".join(sides), level).over(left, right)


def comparison(left: Expression, operator: str, right: Expression) -> Expression:
    """``left < right``."""
    sides = left.within(SUM), right.within(SUM)
    opposite = {"==": "!=", "!=": "=="}.get(operator, "")
    text, other = (f" {each} ".join(sides) for each in (operator, opposite))
    return Expression(text, COMPARISON, opposite=other if opposite else "").over(left, right)


def prefix(operator: str, operand: Expression) -> Expression:
    """``-x``; two signs in a row would be one operator."""
    text = operand.within(UNARY)
    if operator == "!" and text.startswith("!"):
        return Expression(text[1:]).over(operand)
    return Expression(
        f"{operator}({text})" if text.startswith(operator) else f"{operator}{text}", UNARY
    ).over(operand)


def negated(condition: Expression) -> Expression:
    """The opposite. Of numbers that may be NaN only equality has an opposite operator."""
    if condition.opposite:
        return replace(condition, text=condition.opposite, opposite=condition.text)
    return prefix("!", condition)
