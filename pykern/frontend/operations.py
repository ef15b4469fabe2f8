"""Operators, comparisons and choices between values.

Comes in: `ast.BinOp`, `ast.UnaryOp`, `ast.Compare` and what joins them. Goes out: scalars, computed by
`arithmetic` in the types of the operands; the branches of `and`, `or` and `a if c else b` are `branches`'.
"""

from __future__ import annotations

import ast

from pykern.data.source import LIST
from pykern.frontend import arithmetic, branches, complex_elements, row_products, rows
from pykern.frontend.advice import scalar_from
from pykern.frontend.debug_checks import check_divisor, check_power
from pykern.frontend.translation import Translation
from pykern.frontend.values import (
    ComplexValue,
    NoneValue,
    Scalar,
    Text,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.types import bool_

OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_BY_SYMBOL = {symbol: kind for kind, symbol in OPERATORS.items()}


class Operations(Translation):
    """The part of a translator that computes."""

    def operator(self, node: ast.AST, symbol: str, left: Value, right: Value) -> Value:
        """The value of ``left symbol right``, where a function was called for it: ``np.add(a, b)``."""
        op = _BY_SYMBOL[symbol]()
        if isinstance(op, ast.cmpop):
            return self.comparison(ast.copy_location(ast.Compare(), node), op, left, right)
        return self.binary(node, op, left, right)

    def of_BinOp(self, node: ast.BinOp) -> Value:  # noqa: N802
        left, right = self.expression(node.left), self.expression(node.right)
        return self.binary(node, node.op, left, right)

    def operand(self, node: ast.expr, other: ast.expr) -> Value:
        """One side of an operator."""
        return self.expression(node)

    def binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        symbol = OPERATORS.get(type(op))
        if isinstance(left, ComplexValue) or isinstance(right, ComplexValue):
            return complex_elements.operator(self, node, symbol or "@", left, right)
        if isinstance(left, TupleValue) and isinstance(right, TupleValue) and symbol == "+":
            return TupleValue(left.items + right.items)
        times = right.const if isinstance(right, Scalar) and symbol == "*" else None
        if isinstance(left, TupleValue) and isinstance(times, int):  # (0.0,) * 3
            return TupleValue(left.items * times)
        if isinstance(op, ast.MatMult):
            return row_products.product(self, node, left, right)
        if symbol is None:
            raise self.syntax_error(node, "this operator is not available in kernels")
        if rows.are_operands([left, right]):
            return rows.computed(self, node, [left, right], lambda pair: self._scalars(node, symbol, *pair))
        return self._scalars(node, symbol, left, right)

    def _scalars(self, node: ast.AST, symbol: str, left: Value, right: Value) -> Scalar:
        if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
            wrong = right if isinstance(left, Scalar) else left
            hint = self.instead_of_text if isinstance(wrong, Text) and symbol in "%+" else scalar_from(wrong)
            raise self.type_error(node, f"`{symbol}` takes scalars, not {describe(wrong)}", hint)
        with self.operands_of(node, lambda: _operands(node, left, right)):
            if symbol == "**":
                check_power(self.source, left, right)
            elif symbol in ("//", "%"):
                check_divisor(self.source, left, right)
            return arithmetic.binary(symbol, left, right, self.fastmath)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:  # noqa: N802
        value = self.expression(node.operand)
        if isinstance(value, ComplexValue) and not isinstance(node.op, ast.Not):
            sign = {ast.USub: "-", ast.UAdd: "+"}.get(type(node.op), "~")
            return complex_elements.operator(self, node, sign, value)
        if rows.is_row(value):
            if isinstance(node.op, ast.Not):
                raise self.type_error(node, "`not` takes one truth, and a row has many",
                                      "write ~(x[i] > 0) for each element, or not x[i].any()")  # fmt: skip
            return rows.computed(self, node, [value], lambda one: self._unary(node, one[0]))
        return self._unary(node, self.as_scalar(node.operand, value))

    def _unary(self, node: ast.UnaryOp, value: Scalar) -> Scalar:
        with self.operands_of(node):
            if isinstance(node.op, ast.Not):
                return arithmetic.logical_not(value)
            if isinstance(node.op, ast.Invert):
                return arithmetic.invert(value)
            return arithmetic.negate(value) if isinstance(node.op, ast.USub) else arithmetic.plus(value)

    def of_Compare(self, node: ast.Compare) -> Value:  # noqa: N802
        """A chain ``a < b < c``: each operand once, and none behind a comparison that is false."""
        return self.chain(node, self.expression(node.left), 0)

    def chain(self, node: ast.Compare, left: Value, number: int) -> Value:
        """The comparisons of a chain from one on."""
        right = self.expression(node.comparators[number])
        first = self.comparison(node, node.ops[number], left, right)
        if number + 1 == len(node.ops):
            return first
        rest = number + 1
        return branches.both(
            self,
            node,
            self.as_scalar(node, first),
            lambda: self.as_scalar(node, self.chain(node, right, rest)),
        )

    def comparison(self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
        symbol = OPERATORS.get(type(op))
        if isinstance(op, ast.Is | ast.IsNot) and (
            isinstance(left, NoneValue) or isinstance(right, NoneValue)
        ):
            same = isinstance(left, NoneValue) and isinstance(right, NoneValue)
            return Scalar(bool_, const=same == isinstance(op, ast.Is))
        if isinstance(left, Text | TypeValue | NoneValue) and symbol in ("==", "!="):
            return Scalar(bool_, const=(left == right) == (symbol == "=="))
        if symbol is None:
            raise self.syntax_error(
                node,
                f"`{_word(op)}` is not available in kernels",
                "compare with == or <" if "in" not in _word(op).split() else "write a == 1 or a == 2",
            )
        if isinstance(left, ComplexValue) or isinstance(right, ComplexValue):
            return complex_elements.operator(self, node, symbol, left, right)
        if isinstance(left, TupleValue) and isinstance(right, TupleValue) and symbol in ("==", "!="):
            return self._tuples_equal(node, op, left, right)
        if rows.are_operands([left, right]):
            return rows.computed(
                self, node, [left, right], lambda pair: arithmetic.binary(symbol, pair[0], pair[1])
            )
        if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
            wrong = right if isinstance(left, Scalar) else left
            raise self.type_error(
                node, f"`{symbol}` compares scalars, not {describe(wrong)}", scalar_from(wrong)
            )
        with self.operands_of(node):
            return arithmetic.binary(symbol, left, right)

    def _tuples_equal(self, node: ast.Compare, op: ast.cmpop, left: TupleValue, right: TupleValue) -> Scalar:
        """``==`` or ``!=`` of tuples, item by item: as many shapes are compared."""
        differ = isinstance(op, ast.NotEq)
        if len(left.items) != len(right.items) or (left.name == LIST) != (right.name == LIST):
            return Scalar(bool_, const=differ)
        result = Scalar(bool_, const=not differ)
        for a, b in zip(left.items, right.items, strict=True):
            part = self.as_scalar(node, self.comparison(node, op, a, b))
            result = arithmetic.binary("|" if differ else "&", result, part)
        return result

    def of_BoolOp(self, node: ast.BoolOp) -> Value:  # noqa: N802
        return branches.short_circuit(self, node)

    def of_IfExp(self, node: ast.IfExp) -> Value:  # noqa: N802
        return branches.conditional(self, node)


def _operands(node: ast.AST, left: Value, right: Value) -> str:
    """The operands as they are written, with what they are; "" where a text is long or all is constant."""
    sides = {ast.BinOp: ("left", "right"), ast.AugAssign: ("target", "value")}.get(type(node))
    if sides is None or (
        isinstance(left, Scalar) and left.is_const and isinstance(right, Scalar) and right.is_const
    ):
        return ""
    texts = [ast.unparse(getattr(node, side)) for side in sides]
    if any(len(text) > _LONGEST for text in texts):
        return ""
    return " and ".join(
        f"`{text}` is {describe(value)}" for text, value in zip(texts, (left, right), strict=True)
    )


_LONGEST = 40


def _word(op: ast.cmpop) -> str:
    return {ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}.get(
        type(op), "this comparison"
    )
