"""Integers that are sums of loop numbers: ``n - i - 1``. What is known of them wherever the loops are.

Comes in: syntax. Goes out: a `Linear`, whose least and greatest values are exact where each loop's bounds are linear in
the numbers of the loops around it: of ``j - i`` with ``for j in range(i)`` the greatest is -1. Read next:
`sliced_elements`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from pykern.frontend.program.loop_integers import Integers


@dataclass(frozen=True)
class Linear:
    """A sum of names, each times an integer other than 0, sorted by name, and of an integer."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def plus(self, other: Linear, times: int = 1) -> Linear:
        factors = dict(self.terms)
        for name, factor in other.terms:
            factors[name] = factors.get(name, 0) + times * factor
        kept = tuple(sorted((name, factor) for name, factor in factors.items() if factor))
        return Linear(kept, self.constant + times * other.constant)

    def renamed(self, names: Mapping[str, str]) -> Linear:
        return Linear(tuple(sorted((names.get(n, n), factor) for n, factor in self.terms)), self.constant)

    def syntax(self) -> ast.expr:
        made: ast.expr | None = None
        for name, factor in sorted(self.terms, key=lambda term: -term[1]):  # what is subtracted comes last
            one: ast.expr = ast.Name(name, ast.Load())
            if abs(factor) != 1:
                one = ast.BinOp(one, ast.Mult(), ast.Constant(abs(factor)))
            if made is None:
                made = one if factor > 0 else ast.UnaryOp(ast.USub(), one)
            else:
                made = ast.BinOp(made, ast.Add() if factor > 0 else ast.Sub(), one)
        if made is None:
            return ast.Constant(self.constant)
        if not self.constant:
            return made
        operator = ast.Add() if self.constant > 0 else ast.Sub()
        return ast.BinOp(made, operator, ast.Constant(abs(self.constant)))


Spans = dict[str, tuple[Linear, Linear]]
"""The least and the greatest number of each loop, those of outer loops first, whose names they may have."""


def linear(node: ast.expr, integers: Integers, spans: Spans) -> Linear | None:
    """An expression as a sum of loop numbers, where it is one."""
    if isinstance(node, ast.Name) and node.id in spans:
        return Linear(((node.id, 1),))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = linear(node.operand, integers, spans)
        return None if inner is None else Linear().plus(inner, -1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = linear(node.left, integers, spans), linear(node.right, integers, spans)
        if left is None or right is None:
            return None
        return left.plus(right, 1 if isinstance(node.op, ast.Add) else -1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = linear(node.left, integers, spans), linear(node.right, integers, spans)
        if left is not None and right is not None and not (left.terms and right.terms):
            whole, times = (left, right) if left.terms else (right, left)
            return Linear().plus(whole, times.constant)
        return None
    bounds = integers.of(node)
    return Linear(constant=bounds[0]) if bounds is not None and bounds[0] == bounds[1] else None


def least(number: Linear, spans: Spans) -> int | None:
    """The least value that a sum can have; None where it has a name that is no loop's."""
    for name in reversed(spans):
        factor = dict(number.terms).get(name, 0)
        if factor:
            end = spans[name][0 if factor > 0 else 1]
            number = number.plus(Linear(((name, 1),)), -factor).plus(end, factor)
    return None if number.terms else number.constant


def greatest(number: Linear, spans: Spans) -> int | None:
    low = least(Linear().plus(number, -1), spans)
    return None if low is None else -low
