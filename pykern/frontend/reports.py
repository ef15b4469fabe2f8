"""What a kernel tells the host: `print` and `assert`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.dialect import reports
from pykern.frontend import arithmetic
from pykern.frontend.casts import bits, materialise
from pykern.frontend.values import (
    NoneValue,
    Scalar,
    Text,
    TupleValue,
    Value,
)

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls
from pykern.frontend.call_arguments import argument_nodes


def print_values(t: Calls, node: ast.Call) -> Value:
    args, keywords = t.arguments(node)
    separator, end = keywords.get("sep", Text(" ")), keywords.get("end", Text("\n"))
    unknown = set(keywords) - {"sep", "end"}
    if unknown or not isinstance(separator, Text) or not isinstance(end, Text):
        raise t.type_error(node, "print takes values, and the strings sep and end",
                           "write pk.print('x =', x)")  # fmt: skip
    parts: list[str] = []
    values: list[Scalar] = []
    for item, value in zip(argument_nodes(node, args), args, strict=True):
        parts.append(_template(t, item, value, values))
    template = _escaped(separator).join(parts) + _escaped(end)
    reports.PrintOp.create(template, [v.dtype.name for v in values], [bits(v) for v in values])
    return NoneValue()


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
