"""Operations element by element: arithmetic, functions, comparisons, logic, choices."""

from __future__ import annotations

import math

from pykern.torch.backend.framework import Node, aten, prims, torch
from pykern.torch.backend.writer import DType, NotTaken, Rule, Writer, argument, cast, number

_FLOAT_FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sqrt",
)  # fmt: skip
UNARY = {
    **{getattr(aten, name).default: f"pk.{name}({{0}})" for name in _FLOAT_FUNCTIONS},
    aten.rsqrt.default: "1 / pk.sqrt({0})",
    aten.reciprocal.default: "1 / {0}",
    aten.sigmoid.default: "1 / (1 + pk.exp(-{0}))",
    aten.neg.default: "-{0}",
    aten.abs.default: "pk.abs({0})",
    aten.sign.default: "pk.where({0} == {0}, pk.sign({0}), 0)",  # of NaN it is 0
    aten.relu.default: "pk.maximum({0}, 0)",
    aten.square.default: "{0} * {0}",
    aten.floor.default: "pk.floor({0})",
    aten.ceil.default: "pk.ceil({0})",
    aten.trunc.default: "pk.trunc({0})",
    aten.round.default: "pk.round({0})",
}  # fmt: skip
"""Functions of one tensor, computed in the type of the result."""
FUNCTIONS = frozenset(
    (
        *(getattr(aten, name).default for name in _FLOAT_FUNCTIONS),
        aten.sigmoid.default,
        aten.gelu.default,
        aten.elu.default,
    )
)
"""Functions that cost more than the memory they go over."""
BINARY = {
    aten.mul.Tensor: "{0} * {1}", aten.mul.Scalar: "{0} * {1}",
    aten.div.Tensor: "{0} / {1}", aten.div.Scalar: "{0} / {1}",
    aten.maximum.default: "pk.maximum({0}, {1})", aten.minimum.default: "pk.minimum({0}, {1})",
    aten.clamp_min.default: "pk.maximum({0}, {1})", aten.clamp_max.default: "pk.minimum({0}, {1})",
    aten.atan2.default: "pk.atan2({0}, {1})",
}  # fmt: skip
"""Functions of two, computed in the type of the result."""
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
LOGIC = {
    aten.logical_and.default: "{0} & {1}", aten.logical_or.default: "{0} | {1}",
    aten.logical_xor.default: "{0} ^ {1}", aten.logical_not.default: "~{0}",
}  # fmt: skip
"""Functions of truths."""
BITWISE = {
    **{getattr(aten, f"bitwise_{name}").Tensor: f"{{0}} {sign} {{1}}"
       for name, sign in (("and", "&"), ("or", "|"), ("xor", "^"))},
    aten.bitwise_not.default: "~{0}",
}  # fmt: skip
CLASSES = {aten.isnan.default: "pk.isnan({0})", aten.isinf.default: "pk.isinf({0})"}


def _plain(template: str, count: int) -> Rule:
    def rule(w: Writer, node: Node) -> str:
        dtype = w.computed_in(node)
        _refuse_truths(dtype)
        return w.rounded(template.format(*(w.operand(a, dtype) for a in node.args[:count])), node)

    return rule


def _refuse_truths(dtype: DType) -> None:
    if dtype == torch.bool:
        raise NotTaken("arithmetic of bools")


def _sum(sign: str) -> Rule:
    """``a + alpha * b``."""

    def rule(w: Writer, node: Node) -> str:
        dtype = w.computed_in(node)
        _refuse_truths(dtype)
        a, b = (w.operand(each, dtype) for each in node.args[:2])
        alpha = node.kwargs.get("alpha", 1)
        scaled = b if alpha == 1 else f"{number(alpha, dtype)} * {b}"
        return w.rounded(f"{a} {sign} {scaled}", node)

    return rule


def _comparison(sign: str) -> Rule:
    def rule(w: Writer, node: Node) -> str:
        a, b = node.args[:2]
        dtype = torch.result_type(*(w.value(x) if isinstance(x, Node) else x for x in (a, b)))
        if dtype == torch.bool and sign not in ("==", "!="):
            raise NotTaken("an order of bools")
        return f"{w.operand(a, dtype)} {sign} {w.operand(b, dtype)}"

    return rule


def _logic(template: str) -> Rule:
    def rule(w: Writer, node: Node) -> str:
        return template.format(*(w.operand(a, torch.bool) for a in node.args))

    return rule


def _bitwise(template: str) -> Rule:
    def rule(w: Writer, node: Node) -> str:
        return template.format(*(w.operand(a, w.dtype(node)) for a in node.args))

    return rule


def _class(template: str) -> Rule:
    def rule(w: Writer, node: Node) -> str:
        [x] = node.args
        if not w.dtype(x).is_floating_point:
            raise NotTaken("a class of integers")
        return template.format(w.name(x))

    return rule


def _where(w: Writer, node: Node) -> str:
    condition, a, b = node.args
    dtype = w.dtype(node)
    return f"pk.where({w.operand(condition, torch.bool)}, {w.operand(a, dtype)}, {w.operand(b, dtype)})"


def _clamp(w: Writer, node: Node) -> str:
    dtype = w.dtype(node)
    _refuse_truths(dtype)
    made = w.operand(node.args[0], dtype)
    for place, name, function in ((1, "min", "maximum"), (2, "max", "minimum")):
        bound = argument(node, place, name)
        if bound is not None:
            made = f"pk.{function}({made}, {w.operand(bound, dtype)})"
    return made


def _power(w: Writer, node: Node) -> str:
    base, exponent = node.args
    dtype = w.computed_in(node)
    if not dtype.is_floating_point:
        raise NotTaken("powers of integers")
    x = w.operand(base, dtype)
    if exponent in (0.5, -0.5):
        return w.rounded(f"pk.sqrt({x})" if exponent > 0 else f"1 / pk.sqrt({x})", node)
    if not isinstance(exponent, Node) and float(exponent).is_integer() and abs(exponent) <= 4:
        return w.rounded(f"{x} ** {int(exponent)}" if exponent >= 0 else f"1 / {x} ** {-int(exponent)}", node)
    return w.rounded(f"{x} ** {w.operand(exponent, dtype)}", node)


def _divided_and_rounded(w: Writer, node: Node) -> str:
    dtype = w.computed_in(node)
    if not dtype.is_floating_point:
        raise NotTaken("a division of integers, which raises where the divisor is zero")
    a, b = (w.operand(each, dtype) for each in node.args[:2])
    mode = node.kwargs.get("rounding_mode")
    if mode == "floor":
        raise NotTaken("a division that is rounded down")
    return w.rounded(f"{a} / {b}" if mode is None else f"pk.trunc({a} / {b})", node)


def _gelu(w: Writer, node: Node) -> str:
    dtype = w.computed_in(node)
    x = w.let("x", w.operand(node.args[0], dtype))
    if node.kwargs.get("approximate", "none") == "tanh":
        inner = f"{math.sqrt(2 / math.pi)!r} * ({x} + 0.044715 * {x} * {x} * {x})"
        return w.rounded(f"0.5 * {x} * (1 + pk.tanh({inner}))", node)
    return w.rounded(f"0.5 * {x} * (1 + pk.erf({x} * {math.sqrt(0.5)!r}))", node)


def _leaky_relu(w: Writer, node: Node) -> str:
    dtype = w.computed_in(node)
    x = w.operand(node.args[0], dtype)
    slope = number(argument(node, 1, "negative_slope", 0.01), dtype)
    return w.rounded(f"pk.where({x} > 0, {x}, {x} * {slope})", node)


def _elu(w: Writer, node: Node) -> str:
    dtype = w.computed_in(node)
    x = w.operand(node.args[0], dtype)
    names = ((1, "alpha"), (2, "scale"), (3, "input_scale"))
    alpha, scale, inner = (number(argument(node, place, name, 1.0), dtype) for place, name in names)
    return w.rounded(f"pk.where({x} > 0, {x} * {scale}, pk.expm1({x} * {inner}) * ({alpha} * {scale}))", node)


def _hardtanh(w: Writer, node: Node) -> str:
    dtype = w.dtype(node)
    low = number(argument(node, 1, "min_val", -1.0), dtype)
    high = number(argument(node, 2, "max_val", 1.0), dtype)
    return f"pk.minimum(pk.maximum({w.operand(node.args[0], dtype)}, {low}), {high})"


def _converted(w: Writer, node: Node) -> str:
    """Another type, on the same device."""
    source = node.args[0]
    if w.value(source).device != w.value(node).device:
        raise NotTaken("a copy to another device")
    have, want = w.dtype(source), w.dtype(node)
    if have.is_floating_point and not (want.is_floating_point or want == torch.bool):
        raise NotTaken("floats that become integers, where too large ones have no one meaning")
    return cast(w.name(source), have, want)


def _copied(w: Writer, node: Node) -> str:
    """The elements of the second in the form and type of the first."""
    return f"pk.broadcast_to({w.operand(node.args[1], w.dtype(node))}, {w.shape(node)!r})"


RULES: dict[object, Rule] = {
    **{op: _plain(template, 1) for op, template in UNARY.items()},
    **{op: _plain(template, 2) for op, template in BINARY.items()},
    aten.add.Tensor: _sum("+"), aten.add.Scalar: _sum("+"),
    aten.sub.Tensor: _sum("-"), aten.sub.Scalar: _sum("-"),
    **{getattr(getattr(aten, name), kind): _comparison(sign)
       for name, sign in COMPARISONS.items() for kind in ("Tensor", "Scalar")},
    **{op: _logic(template) for op, template in LOGIC.items()},
    **{op: _bitwise(template) for op, template in BITWISE.items()},
    **{op: _class(template) for op, template in CLASSES.items()},
    aten.where.self: _where, aten.clamp.default: _clamp, aten.clamp.Tensor: _clamp,
    aten.pow.Tensor_Scalar: _power, aten.pow.Tensor_Tensor: _power, aten.pow.Scalar: _power,
    aten.div.Tensor_mode: _divided_and_rounded,
    aten.gelu.default: _gelu, aten.leaky_relu.default: _leaky_relu, aten.elu.default: _elu,
    aten.hardtanh.default: _hardtanh,
    aten._to_copy.default: _converted, prims.convert_element_type.default: _converted,
    aten.copy.default: _copied,
}  # fmt: skip
