"""What a call of the language is given: arguments by name, and where each stands."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.errors import ARGUMENTS
from pykern.frontend.values import LanguageName, TypeValue, Value, describe
from pykern.types import DType, bool_, f64, i64

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls

PYTHON_DTYPES: dict[str, DType] = {"int": i64, "float": f64, "bool": bool_}
"""What Python's types mean where a dtype is asked for: NumPy's."""


def given_by_name(
    t: Calls, node: ast.Call, names: tuple[str, ...], args: list[Value], keywords: dict
) -> dict[str, Value]:
    """Arguments by name. Raises `KernelTypeError` for one too many, and for a name there is not."""
    unknown = [*keywords.keys() - set(names), *keywords.keys() & set(names[: len(args)])]
    if len(args) > len(names) or unknown:
        what = f"not `{unknown[0]}` as well" if unknown else f"not {len(args)} values"
        raise t.type_error(node, f"`{ast.unparse(node.func)}` takes {', '.join(names)}: {what}",
                           "give each argument once", ARGUMENTS)  # fmt: skip
    return dict(zip(names, args, strict=False)) | keywords


def argument_nodes(node: ast.Call, args: list[Value]) -> list[ast.expr]:
    """Where each argument stands, for messages."""
    return list(node.args) if len(node.args) == len(args) else [node] * len(args)


def type_of(t: Calls, node: ast.Call, value: Value) -> DType:
    """The type of elements that `value` says. Raises `KernelTypeError` where it says none."""
    if isinstance(value, LanguageName) and value.name in PYTHON_DTYPES:
        return PYTHON_DTYPES[value.name]
    if not isinstance(value, TypeValue):
        raise t.type_error(node, f"dtype is a type, not {describe(value)}", "write dtype=np.float32")
    return value.dtype
