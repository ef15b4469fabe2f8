"""Reductions of a row in a kernel: ``x[i].sum()``, ``np.max(x[i])``, ``sum(x[i])``, ``a[i] @ b[j]``.

Comes in: the name of a reduction and a row of one dimension: an array, or a computed row. Goes out: the value of a
function of the language itself, a loop over the elements in their order, which is translated like a user's. Types are
NumPy's: small integers add up in 64 bits; f16 and bf16 add up in f32, and the result is rounded.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pykern.data.promotion import promote, sum_type
from pykern.data.source import Builtin, FunctionSource
from pykern.frontend import arithmetic, mathematics
from pykern.frontend.casts import convert
from pykern.frontend.rows import Row, Rows, check_fresh, computed, is_row
from pykern.frontend.values import Extension, FunctionValue, Scalar, TypeValue, Value, describe
from pykern.types import DType, bool_, f32, f64

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls
    from pykern.frontend.operations import Operations

_SUMMED = """\
def {name}(x, so_far):
    for k in loop_range(x.shape[0]):
        so_far = {taken_in}
    return so_far
"""
_EXTREMUM = """\
def {name}(x):
    so_far = x[0]
    for k in loop_range(1, x.shape[0]):
        so_far = {taken_in}
    return so_far
"""
_PLACE = """\
def {name}(x):
    best = x[0]
    place = 0
    for k in loop_range(1, x.shape[0]):
        value = x[k]
        if value {better} best or (value != value and best == best):
            best = value
            place = k
    return place
"""
_TEXTS = {
    "sum": _SUMMED.format(name="sum_of", taken_in="so_far + x[k]"),
    "prod": _SUMMED.format(name="prod_of", taken_in="so_far * x[k]"),
    "any": _SUMMED.format(name="any_of", taken_in="so_far | (x[k] != 0)"),
    "all": _SUMMED.format(name="all_of", taken_in="so_far & (x[k] != 0)"),
    "max": _EXTREMUM.format(name="max_of", taken_in="maximum(so_far, x[k])"),
    "min": _EXTREMUM.format(name="min_of", taken_in="minimum(so_far, x[k])"),
    "argmax": _PLACE.format(name="argmax_of", better=">"),
    "argmin": _PLACE.format(name="argmin_of", better="<"),
}
_STARTS: dict[str, object] = {"sum": 0, "prod": 1, "any": False, "all": True}


@dataclass(frozen=True)
class RowMethod(Extension):
    """``x[i].sum`` before it is called."""

    array: Rows
    name: str

    @property
    def description(self) -> str:
        return f"the method `{self.name}` of {describe(self.array)}"


def method(t: Calls, node: ast.Call, called: RowMethod, given: list[Value], keywords: dict) -> Value:
    """``x[i].sum()``, ``x[i].dot(y[i])``, ``x[i].astype(np.float32)``."""
    if called.name == "dot" and len(given) == 1 and not keywords:
        return dot(t, node, called.array, given[0])
    if called.name == "astype" and len(given) == 1 and isinstance(given[0], TypeValue) and not keywords:
        return t.converted(node, node, called.array, given[0].dtype)
    if called.name in METHODS:
        raise t.type_error(node, f"`{called.name}` of a row takes one argument", _WRITE[called.name])
    return call(t, node, called.name, called.array, given, keywords)


METHODS = ("dot", "astype")
"""Of rows, beside the reductions."""
_WRITE = {"dot": "write x[i].dot(y[i])", "astype": "write x[i].astype(np.float32)"}


def call(t: Calls, node: ast.Call, name: str, array: Rows, given: list[Value], keywords: dict) -> Value:
    """The reduction of all elements. Raises `KernelTypeError` for more than one dimension, and for other arguments."""
    if given or keywords:
        raise t.type_error(node, f"`{name}` of a row takes nothing else in kernels", f"write x[i].{name}()")
    if len(array.shape) != 1:
        raise t.type_error(node, f"`{name}` goes over one dimension, and this is {describe(array)}",
                           f"take a row, as in x[i].{name}(), and write a loop over the rows")  # fmt: skip
    if isinstance(array, Row):
        check_fresh(t, node, array)
    if name == "mean":
        total = _reduced(t, node, "sum", array)
        kind = array.dtype if array.dtype.is_float else f64
        total = convert(total, f64) if not total.dtype.is_float else total
        return convert(arithmetic.binary("/", total, t.length(array, 0)), kind)
    found = _reduced(t, node, name, array)
    if name in ("sum", "prod") and array.dtype.is_float:
        return convert(found, array.dtype.loaded)
    return found


def dot(t: Operations, node: ast.AST, left: Value, right: Value) -> Scalar:
    """``left @ right`` of two rows. Raises `KernelTypeError` for what has other dimensions than one."""
    if not (is_row(left) and is_row(right)):
        wrong = right if is_row(left) else left
        raise t.type_error(node, f"`@` takes two rows in kernels, not {describe(wrong)}",
                           "write a loop that adds products, or `@` in a @pk.jit program")  # fmt: skip
    if len(left.shape) != 1 or len(right.shape) != 1:
        wrong = left if len(left.shape) != 1 else right
        raise t.type_error(node, f"`@` takes rows of one dimension in kernels, not {describe(wrong)}",
                           "write a loop over the rows: o[i, k] = a[k] @ v; or `@` in a @pk.jit program")  # fmt: skip
    dtype = promote(left.dtype.loaded, right.dtype.loaded)
    return convert(_sum_of_products(t, node, left, right), dtype)


def norm(t: Operations, node: ast.AST, row: Rows) -> Scalar:
    """``np.linalg.norm(row)``: the square root of the sum of the squares."""
    if len(row.shape) != 1:
        raise t.type_error(
            node, f"`norm` goes over one dimension, and this is {describe(row)}", "take a row, as x[i]"
        )
    dtype = row.dtype.loaded if row.dtype.is_float else f64
    total = convert(_sum_of_products(t, node, row, row), f32 if dtype.bits < 32 else dtype)
    return convert(mathematics.apply("sqrt", [total], t.fastmath), dtype)  # type: ignore[arg-type]


def _sum_of_products(t: Operations, node: ast.AST, left: Rows, right: Rows) -> Scalar:
    """In the type that sums are kept in: of short floats each product, too."""

    def product(pair: list[Scalar]) -> Scalar:
        wide = [convert(v, f32) if v.dtype.is_float and v.dtype.bits < 32 else v for v in pair]
        return arithmetic.binary("*", *wide, t.fastmath)

    return _reduced(t, node, "sum", computed(t, node, [left, right], product))


def _reduced(t: Calls, node: ast.AST, name: str, array: Rows) -> Scalar:
    """In the type that sums are kept in."""
    names = tuple((n, Builtin(n)) for n in ("loop_range", "maximum", "minimum"))
    function = FunctionSource(f"{name}_of", f"<pykern.{name}>", 1, _TEXTS[name], names)
    arguments: list[Value] = [array]
    if name in _STARTS:
        kind = bool_ if name in ("any", "all") else _kept_in(array.dtype.loaded)
        arguments.append(Scalar(kind, const=float(_STARTS[name]) if kind.is_float else _STARTS[name]))  # type: ignore[arg-type]
    found = t.called_with(node, FunctionValue(function), arguments, {})
    assert isinstance(found, Scalar)
    return found


def _kept_in(dtype: DType) -> DType:
    return dtype if dtype.weak else sum_type(dtype)
