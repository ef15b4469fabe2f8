"""Look-up of the rules, for both modes and both levels.

vjp of operand i: ``vjp(op, i, values, adjoint)``; jvp: ``jvp(op, values, tangents)``. `values` are
the primal values under the names ``x, y, z, r`` (only those of `reads` are needed).
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from pykern.passes.autodiff.rules import arith as arith_rules
from pykern.passes.autodiff.rules import library
from pykern.passes.autodiff.rules import math as math_rules
from pykern.passes.autodiff.rules.expression import cast_float, flow_type, names_read, times

RULES: dict[str, tuple[str | None, ...]] = {**arith_rules.RULES, **math_rules.RULES}
CUTS: frozenset[str] = arith_rules.CUTS | math_rules.CUTS
NAMES = ("x", "y", "z")


def has_rule(op: ir.Operation) -> bool:
    return _rule(op) is not None


def is_cut(op: ir.Operation) -> bool:
    """Whether nothing flows through the op, rightly: comparisons, integers."""
    return op.name in CUTS


def partial(op: ir.Operation, operand: int) -> str | None:
    """The text of a partial derivative; None for a condition or an exponent that is an integer."""
    rule = _rule(op)
    assert rule is not None
    return rule[operand]


def _rule(op: ir.Operation) -> tuple[str | None, ...] | None:
    if op.name == "func.call":
        return library.RULES.get(ir.FlatSymbolRefAttr(op.attributes["callee"]).value.removesuffix("f"))
    return RULES.get(op.name)


def reads(op: ir.Operation, operand: int) -> dict[str, ir.Value]:
    """The op's values that the partial derivative for `operand` reads, by their name in the rule."""
    text = partial(op, operand)
    if text is None:
        return {}
    own = {**dict(zip(NAMES, op.operands, strict=False)), "r": op.results[0]}
    return {name: own[name] for name in sorted(names_read(text))}


def vjp(op: ir.Operation, operand: int, values: dict[str, ir.Value], adjoint: ir.Value) -> ir.Value | None:
    """The cotangent of `operand`, in its `flow_type`; None where the partial derivative is zero."""
    text = partial(op, operand)
    product = None if text is None else times(text, values, adjoint)
    return None if product is None else cast_float(product, flow_type(op.operands[operand].type))


def jvp(op: ir.Operation, values: dict[str, ir.Value], tangents: list[ir.Value | None]) -> ir.Value | None:
    """The tangent of the result: the sum of partial * tangent over the operands that have one."""
    total: ir.Value | None = None
    for operand, tangent in enumerate(tangents):
        text = None if tangent is None else partial(op, operand)
        if tangent is None or text is None:
            continue
        product = times(text, values, cast_float(tangent, op.results[0].type))
        if product is not None:
            total = product if total is None else arith.addf(total, product)
    return total
