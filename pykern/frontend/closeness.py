"""``np.isclose`` and ``np.nan_to_num`` in kernels: of numbers, and of each element of rows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import ml_dtypes

from pykern.errors import ARGUMENTS
from pykern.frontend import mathematics, numpy_elements, rows
from pykern.frontend.call_arguments import given_by_name
from pykern.frontend.values import NoneValue, Scalar, Value
from pykern.types import DType, bool_, f64, weak_float

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls


def is_close(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = given_by_name(t, node, ("a", "b", "rtol", "atol", "equal_nan"), args, keywords)
    a, b, rtol, atol = _operands(t, node, "isclose", given, ("a", "b"), {"rtol": 1e-5, "atol": 1e-8})
    flag = given.get("equal_nan", Scalar(bool_, const=False))
    if not isinstance(flag, Scalar) or not isinstance(flag.const, bool):
        raise t.type_error(node, "`equal_nan` is True or False", "write it as a constant", ARGUMENTS)
    is_equal = flag.const
    return _computed(
        t,
        node,
        [a, b, rtol, atol],
        lambda e: numpy_elements.is_close(mathematics.functions(t.fastmath), *e, equal_nan=is_equal),
    )


def nan_to_num(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = given_by_name(t, node, ("x", "copy", "nan", "posinf", "neginf"), args, keywords)
    x = given.get("x")
    dtype = x.dtype if isinstance(x, Scalar) or (x is not None and rows.is_row(x)) else f64
    if not dtype.is_float:
        return _operands(t, node, "nan_to_num", given, ("x",), {})[0]
    most = greatest(dtype.loaded)
    others = {"nan": 0.0, "posinf": most, "neginf": -most}
    return _computed(
        t,
        node,
        _operands(t, node, "nan_to_num", given, ("x",), others),
        lambda e: numpy_elements.nan_to_num(mathematics.functions(t.fastmath), *e),
    )


def greatest(dtype: DType) -> float:
    """The greatest number of a type of floats."""
    return float(ml_dtypes.finfo(f64.numpy if dtype.weak else dtype.numpy).max)


def _operands(
    t: Calls,
    node: ast.Call,
    name: str,
    given: dict[str, Value],
    needed: tuple[str, ...],
    others: dict[str, float],
) -> list[Value]:
    """Numbers and rows; of those that may be left out, the numbers that stand for them."""
    missing = [n for n in needed if n not in given]
    if missing:
        raise t.type_error(node, f"`{name}` needs the argument `{missing[0]}`",
                           f"write np.{name}({', '.join(needed)})", ARGUMENTS)  # fmt: skip
    found = [given[n] for n in needed]
    for n, value in others.items():
        own = given.get(n, NoneValue())
        found.append(Scalar(weak_float, const=value) if isinstance(own, NoneValue) else own)
    return [v if rows.is_row(v) else t.as_scalar(node, v) for v in found]


def _computed(t: Calls, node: ast.Call, operands: list[Value], function) -> Value:
    if rows.are_operands(operands):
        return rows.computed(t, node, operands, function)
    with t.operands_of(node):
        return function(operands)
