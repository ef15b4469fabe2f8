"""The small language of the rules: a line of arithmetic becomes IR, times what flows.

``+ - * /``, comparisons, ``where(c, a, b)`` and the functions below, over the operands ``x, y, z``,
the result ``r`` and the constants below. Comes in: the text of a partial derivative and the op's
values. Goes out: `times` gives partial * flowing, so that a zero in the rule stays a zero even
where the flowing value is infinite; `names_read` tells which values must be kept for it.
"""

from __future__ import annotations

import ast
import functools
import math as python_math
from collections.abc import Callable, Mapping

from mlir import ir
from mlir.dialects import arith, math

from pykern.passes.autodiff.rules.digamma import digamma

CONSTANTS = {
    "LN2": python_math.log(2.0),
    "LN10": python_math.log(10.0),
    "SQRT_PI": python_math.sqrt(python_math.pi),
}
_BINARY = {ast.Add: arith.addf, ast.Sub: arith.subf, ast.Mult: arith.mulf, ast.Div: arith.divf}
_COMPARE = {ast.Gt: arith.CmpFPredicate.OGT, ast.Lt: arith.CmpFPredicate.OLT, ast.Eq: arith.CmpFPredicate.OEQ}
FP8 = (ir.Float8E4M3FNType, ir.Float8E5M2Type)
_UNARY = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "sin": math.sin, "cos": math.cos,
    "sinh": math.sinh, "cosh": math.cosh, "trunc": math.trunc, "roundeven": math.roundeven,
    "digamma": digamma,
}  # fmt: skip

Values = Mapping[str, ir.Value]


@functools.cache
def parse(text: str) -> ast.expr:
    """The expression of a rule."""
    return ast.parse(text, mode="eval").body


def names_read(text: str) -> frozenset[str]:
    """Which of ``x, y, z, r`` the partial derivative reads."""
    return frozenset(
        n.id for n in ast.walk(parse(text)) if isinstance(n, ast.Name) and n.id in ("x", "y", "z", "r")
    )


def times(text: str, values: Values, flowing: ir.Value) -> ir.Value | None:
    """partial * flowing at the current insertion point, in the type of `flowing`; None where it is zero."""
    return _Emitter(values, flowing.type).times(parse(text), flowing)


class _Emitter:
    def __init__(self, values: Values, type: ir.Type) -> None:
        self.values, self.type = values, type

    def times(self, node: ast.expr, flowing: ir.Value) -> ir.Value | None:
        """The product, with the factors 0, 1 and -1 and the choices taken apart."""
        if isinstance(node, ast.Constant) and node.value == 0:
            return None
        if isinstance(node, ast.Constant) and node.value == 1:
            return flowing
        if isinstance(node, ast.UnaryOp):
            product = self.times(node.operand, flowing)
            return None if product is None else arith.negf(product)
        if isinstance(node, ast.BinOp) and _is_quotient(node):
            return arith.divf(flowing, self.number(node.right))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and _is_quotient(node.left):
            return arith.mulf(self.times(node.left, flowing), self.number(node.right))
        if isinstance(node, ast.Call) and _name(node) == "where":
            condition, a, b = node.args
            sides = [self.times(side, flowing) for side in (a, b)]
            return arith.select(self.condition(condition), *[s or self.constant(0.0) for s in sides])
        return arith.mulf(flowing, self.number(node))

    def number(self, node: ast.expr) -> ir.Value:
        if isinstance(node, ast.Constant):
            return self.constant(float(node.value))
        if isinstance(node, ast.Name):
            if node.id in CONSTANTS:
                return self.constant(CONSTANTS[node.id])
            return self.cast(self.values[node.id])
        if isinstance(node, ast.UnaryOp):
            return arith.negf(self.number(node.operand))
        if isinstance(node, ast.BinOp):
            known = _known(node)
            if known is not None:
                return self.constant(known)
            return _BINARY[type(node.op)](self.number(node.left), self.number(node.right))
        assert isinstance(node, ast.Call)
        return self.call(_name(node), node.args)

    def call(self, name: str, args: list[ast.expr]) -> ir.Value:
        if name == "where":
            return arith.select(self.condition(args[0]), self.number(args[1]), self.number(args[2]))
        if name == "sign":  # 0 at 0, and at both zeros
            x = self.number(args[0])
            one = math.copysign(self.constant(1.0), x)
            zero = self.constant(0.0)
            return arith.select(arith.cmpf(arith.CmpFPredicate.OEQ, x, zero), zero, one)
        if name == "pow":
            return math.powf(self.number(args[0]), self.number(args[1]))
        if name == "powi":
            return math.fpowi(self.number(args[0]), self.integer(args[1]))
        if name == "real":
            return arith.sitofp(self.type, self.integer(args[0]))
        return _UNARY[name](self.number(args[0]))

    def integer(self, node: ast.expr) -> ir.Value:
        """An integer exponent, or that less a constant."""
        if isinstance(node, ast.Name):
            return self.values[node.id]
        assert isinstance(node, ast.BinOp)
        assert isinstance(node.right, ast.Constant)
        left = self.integer(node.left)
        return arith.subi(left, arith.constant(left.type, node.right.value))

    def condition(self, node: ast.expr) -> ir.Value:
        if isinstance(node, ast.Name):
            return self.values[node.id]
        assert isinstance(node, ast.Compare)
        left, right, operator = node.left, node.comparators[0], type(node.ops[0])
        if isinstance(left, ast.Name) and isinstance(self.values[left.id].type, ir.IntegerType):
            integer = self.values[left.id]
            assert isinstance(right, ast.Constant)
            return arith.cmpi(arith.CmpIPredicate.eq, integer, arith.constant(integer.type, right.value))
        return arith.cmpf(_COMPARE[operator], self.number(left), self.number(right))

    def constant(self, value: float) -> ir.Value:
        return arith.constant(self.type, value)

    def cast(self, value: ir.Value) -> ir.Value:
        """An operand in the type that flows: rules of casts read nothing, the others have one type."""
        if value.type != self.type:
            raise AssertionError(f"a rule mixes {value.type} and {self.type}")
        return value


def cast_float(value: ir.Value, type: ir.Type) -> ir.Value:
    """`value` as the float type `type`, the adjoint of extf and truncf."""
    if value.type == type:
        return value
    made: Callable = arith.extf if _width(type) > _width(value.type) else arith.truncf
    if _width(type) == _width(value.type):  # f16 and bf16 go through f32
        value = arith.extf(ir.F32Type.get(), value)
        made = arith.truncf
    return made(type, value)


def flow_type(type: ir.Type) -> ir.Type:
    """The type in which derivatives of a number flow: fp8 is a type of memory only."""
    return ir.F32Type.get() if isinstance(type, FP8) else type


def _width(type: ir.Type) -> int:
    return ir.FloatType(type).width


def _is_quotient(node: ast.expr) -> bool:
    """Whether it is ``1 / a``: what flows is divided, and other rules of the op may share that."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_one(node.left)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _name(node: ast.Call) -> str:
    assert isinstance(node.func, ast.Name)
    return node.func.id


def _known(node: ast.expr) -> float | None:
    """The value of an expression of constants."""
    if isinstance(node, ast.Constant):
        return float(node.value)
    if isinstance(node, ast.Name):
        return CONSTANTS.get(node.id)
    if isinstance(node, ast.UnaryOp):
        inner = _known(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        left, right = _known(node.left), _known(node.right)
        if left is None or right is None:
            return None
        operations: dict[type, Callable[[float, float], float]] = {
            ast.Add: float.__add__, ast.Sub: float.__sub__, ast.Mult: float.__mul__,
            ast.Div: float.__truediv__,
        }  # fmt: skip
        return operations[type(node.op)](left, right)
    return None
