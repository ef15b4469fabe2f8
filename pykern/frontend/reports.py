"""What a kernel tells the host: `print` and `assert`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.dialect import reports
from pykern.frontend import arithmetic
from pykern.frontend.casts import bits, convert, materialise
from pykern.frontend.values import (
    NoneValue,
    Scalar,
    Text,
    TupleValue,
    Value,
)

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls
from pykern.types import bool_, f64


def print_values(t: Calls, node: ast.Call) -> Value:
    _, keywords = t.arguments(ast.Call(node.func, [], node.keywords))
    separator, end = keywords.get("sep", Text(" ")), keywords.get("end", Text("\n"))
    unknown = set(keywords) - {"sep", "end"}
    if unknown or not isinstance(separator, Text) or not isinstance(end, Text):
        raise t.type_error(node, "print takes values, and the strings sep and end",
                           "write pk.print('x =', x)")  # fmt: skip
    parts: list[str] = []
    values: list[Scalar] = []
    for item in node.args:
        if isinstance(item, ast.JoinedStr):
            parts.append(_formatted(t, item, values))
            continue
        several, _ = t.arguments(ast.Call(node.func, [item], []))
        parts += [_template(t, item, value, values) for value in several]
    template = _escaped(separator).join(parts) + _escaped(end)
    reports.PrintOp.create(template, [v.dtype.name for v in values], [bits(v) for v in values])
    return NoneValue()


def _formatted(t: Calls, node: ast.JoinedStr, values: list[Scalar]) -> str:
    """``f"x = {x[i]:.3f}"``."""
    parts: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(_escaped(Text(str(part.value))))
            continue
        assert isinstance(part, ast.FormattedValue)
        spec = _format(t, part)
        value = t.expression(part.value)
        if not spec:
            if isinstance(value, Scalar) and value.dtype.is_float:
                value = convert(value, f64)  # of NumPy's short floats f-strings show all digits
            parts.append(_template(t, part.value, value, values))
            continue
        values.append(t.as_scalar(part.value, value))
        _check_format(t, part, spec, values[-1])
        parts.append("{:" + spec + "}")
    return "".join(parts)


def _format(t: Calls, node: ast.FormattedValue) -> str:
    """``.3f``. Raises `KernelSyntaxError` for one that is computed."""
    if node.conversion not in (-1, ord("s")):
        raise t.syntax_error(node, "`!r`, `!a` and `=` in f-strings are not available in kernels",
                             "write f'x = {x[i]}'")  # fmt: skip
    if node.format_spec is None:
        return ""
    assert isinstance(node.format_spec, ast.JoinedStr)
    parts = node.format_spec.values
    if not all(isinstance(part, ast.Constant) for part in parts):
        raise t.syntax_error(
            node, "how an f-string shows a value is a constant in kernels", "write f'{x[i]:.3f}'"
        )
    spec = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    if node.conversion == ord("s") or set(spec) & set("{}"):
        raise t.syntax_error(
            node, f"`{ast.unparse(node)}` is not available in kernels", "write f'{x[i]:.3f}'"
        )
    return spec


def _check_format(t: Calls, node: ast.FormattedValue, spec: str, value: Scalar) -> None:
    sample = False if value.dtype == bool_ else 0.0 if value.dtype.is_float else 0
    try:
        format(sample, spec)
    except ValueError as error:
        raise t.type_error(node, f"{value.dtype.name} cannot be shown by `{spec}`: {error}",
                           "write f'{x[i]:.3f}' for a float, f'{k:d}' for an integer") from None  # fmt: skip


def _template(t: Calls, node: ast.expr, value: Value, values: list[Scalar]) -> str:
    if isinstance(value, Text):
        return _escaped(value)
    if isinstance(value, TupleValue):
        return "(" + ", ".join(_template(t, node, item, values) for item in value.items) + ")"
    values.append(t.as_scalar(node, value))
    return "{}"


def _escaped(text: Text) -> str:
    return text.value.replace("{", "{{").replace("}", "}}")


def assertion(t: Calls, node: ast.Assert) -> None:
    """``assert condition, "message"``."""
    condition = arithmetic.truth(t.scalar(node.test))
    message = t.expression(node.msg) if node.msg else Text("")
    if not isinstance(message, Text):
        raise t.type_error(node.msg or node, "the message of an assert is a string constant in kernels",
                           "print the value with pk.print before")  # fmt: skip
    if condition.is_const and condition.const:
        return
    reports.AssertOp.create(materialise(condition), message.value)
