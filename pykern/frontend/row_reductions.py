"""Reductions of a row in a kernel: ``x[i].sum()``, ``np.max(x[i])``, ``sum(x[i])``, ``a[i] @ b[j]``.

Comes in: the name of a reduction and a row of one dimension: an array, or a computed row. Goes out: the value of a
function of the language itself, a loop over the elements in their order, which is translated like a user's. Types are
NumPy's: small integers add up in 64 bits; f16 and bf16 add up in f32, and the result is rounded.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pykern.data.promotion import promote, sum_type
from pykern.data.source import Builtin, FunctionSource
from pykern.frontend import arithmetic, mathematics
from pykern.frontend.call_arguments import type_of
from pykern.frontend.casts import convert
from pykern.frontend.rows import Row, Rows, check_fresh, computed, formula, is_row, lengths, view
from pykern.frontend.values import Extension, FunctionValue, NoneValue, Scalar, Value, describe
from pykern.types import DType, bool_, f32, f64

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls
    from pykern.frontend.operations import Operations

FILE = "<pykern."
"""How the names of the files begin that these functions are of."""
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
_TAKEN_IN = {
    "sum": "so_far + {element}", "prod": "so_far * {element}",
    "any": "so_far | ({element} != 0)", "all": "so_far & ({element} != 0)",
    "max": "maximum(so_far, {element})", "min": "minimum(so_far, {element})",
}  # fmt: skip
_BETTER = {"argmax": ">", "argmin": "<"}
_STARTS: dict[str, object] = {"sum": 0, "prod": 1, "any": False, "all": True}


def _text(name: str, rank: int) -> str:
    """The function ``{name}_of`` of elements with `rank` indices, the last of which runs fastest."""
    if name in _BETTER:
        return _PLACE.format(name=f"{name}_of", better=_BETTER[name])
    starts = name in _STARTS
    first = "1, " if rank == 1 and not starts else ""
    lines = [f"def {name}_of(x, so_far):" if starts else f"def {name}_of(x):"]
    if not starts:
        lines.append(f"    so_far = x[{', '.join('0' * rank)}]")
    for d in range(rank):
        lines.append(f"{'    ' * (d + 1)}for k{d} in loop_range({first}x.shape[{d}]):")
    element = f"x[{', '.join(f'k{d}' for d in range(rank))}]"
    lines.append(f"{'    ' * (rank + 1)}so_far = {_TAKEN_IN[name].format(element=element)}")
    return "\n".join([*lines, "    return so_far", ""])


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
        return t.binary(node, ast.MatMult(), called.array, given[0])  # type: ignore[attr-defined]
    if called.name == "astype" and len(given) == 1 and not keywords:
        return t.converted(node, node, called.array, type_of(t, node, given[0]))
    if called.name == "copy" and not given and not keywords:
        return computed(t, node, [called.array], lambda one: one[0])
    if called.name in METHODS:
        raise t.type_error(
            node,
            f"`{called.name}` of a row takes {'one' if called.name != 'copy' else 'no'} argument",
            _WRITE[called.name],
        )
    return call(t, node, called.name, called.array, given, keywords)


METHODS = ("dot", "astype", "copy")
"""Of rows, beside the reductions."""
_WRITE = {
    "dot": "write x[i].dot(y[i])",
    "copy": "write x[i].copy()",
    "astype": "write x[i].astype(np.float32)",
}


def call(t: Calls, node: ast.Call, name: str, array: Rows, given: list[Value], keywords: dict) -> Value:
    """The reduction of all elements. Raises `KernelTypeError` for the place of the greatest or least one in more than
    one dimension, and for other arguments."""
    axis = _axis(t, node, name, array, given, keywords)
    if axis is not None and len(array.shape) > 1:
        return _along(t, node, array, axis, lambda t, line: call(t, node, name, line, [], {}))
    if len(array.shape) != 1 and name in _BETTER:
        raise t.type_error(node, f"`{name}` goes over one dimension, and this is {describe(array)}",
                           f"take a row, as in x[i].{name}(), and write a loop over the rows")  # fmt: skip
    if isinstance(array, Row):
        check_fresh(t, node, array)
    if name in ("mean", "var", "std"):
        kind = array.dtype.loaded if array.dtype.is_float else f64
        found = _mean(t, node, array)
        if name != "mean":
            found = _mean(t, node, _squares(t, node, array, found))
        if name == "std":
            found = mathematics.apply("sqrt", [found], t.fastmath)  # type: ignore[assignment]
        return convert(found, kind)
    found = _reduced(t, node, name, array)
    if name in ("sum", "prod") and array.dtype.is_float:
        return convert(found, array.dtype.loaded)
    return found


def _axis(t: Calls, node: ast.Call, name: str, array: Rows, given: list[Value], keywords: dict) -> int | None:
    """The axis that is given, counted from the front."""
    written = [*given, *keywords.values()]
    if not written or (len(written) == 1 and isinstance(written[0], NoneValue)):
        return None
    axis = written[0]
    rank = len(array.shape)
    if (
        len(written) > 1
        or keywords.keys() - {"axis"}
        or not isinstance(axis, Scalar)
        or type(axis.const) is not int
    ):
        raise t.type_error(node, f"`{name}` of a row takes one axis, and nothing else, in kernels",
                           f"write x[i].{name}(), or x[i].{name}(axis=0)")  # fmt: skip
    if not -rank <= axis.const < rank:
        raise t.type_error(
            node, f"there is no axis {axis.const} of {describe(array)}", f"write x[i].{name}()"
        )
    return axis.const % rank


def _along(t: Calls, node: ast.Call, array: Rows, axis: int, reduce: Callable[[Calls, Rows], Value]) -> Row:
    """``a.sum(axis=0)``: a row of reductions."""
    shape = lengths(t, array)

    def place(taken: tuple[Value, ...], own: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        return (*taken[:axis], *own, *taken[axis:])  # type: ignore[return-value]

    def element(t: Calls, node: ast.Call, operands: tuple[Value, ...], indices: tuple[Scalar, ...]) -> Scalar:
        whole = operands[0]
        assert is_row(whole)
        found = reduce(t, view(t, node, whole, list(indices), [t.length(whole, axis)], place))
        assert isinstance(found, Scalar)
        return found

    return formula(t, node, [array], element, [*shape[:axis], *shape[axis + 1 :]])


def _mean(t: Calls, node: ast.AST, array: Rows) -> Scalar:
    """In the type that sums are kept in, or f64."""
    total = _reduced(t, node, "sum", array)
    total = convert(total, f64) if not total.dtype.is_float else total
    count = functools.reduce(lambda a, b: arithmetic.binary("*", a, b), lengths(t, array))
    return arithmetic.binary("/", total, count)


def _squares(t: Calls, node: ast.AST, array: Rows, mean: Scalar) -> Row:
    """Of what the elements differ from their mean by."""

    def square(one: list[Scalar]) -> Scalar:
        difference = arithmetic.binary("-", convert(one[0], mean.dtype), mean)
        return arithmetic.binary("*", difference, difference)

    return computed(t, node, [array], square)


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


def norm(t: Calls, node: ast.Call, row: Rows, given: list[Value], keywords: dict) -> Value:
    """``np.linalg.norm(row)``: the square root of the sum of the squares, of all elements or along an axis."""
    if given or keywords.keys() - {"axis"}:
        raise t.type_error(node, "`norm` takes a row and an axis in kernels", "write np.linalg.norm(x[i])")
    axis = _axis(t, node, "norm", row, given, keywords)
    if axis is not None and len(row.shape) > 1:
        return _along(t, node, row, axis, lambda t, line: norm(t, node, line, [], {}))
    dtype = row.dtype.loaded if row.dtype.is_float else f64
    row = row if row.dtype.is_float else computed(t, node, [row], lambda one: convert(one[0], f64))
    total = convert(_sum_of_products(t, node, row, row), f32 if dtype.bits < 32 else dtype)  # type: ignore[arg-type]
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
    function = FunctionSource(f"{name}_of", f"{FILE}{name}>", 1, _text(name, len(array.shape)), names)
    arguments: list[Value] = [array]
    if name in _STARTS:
        kind = bool_ if name in ("any", "all") else _kept_in(array.dtype.loaded)
        arguments.append(Scalar(kind, const=float(_STARTS[name]) if kind.is_float else _STARTS[name]))  # type: ignore[arg-type]
    found = t.called_with(node, FunctionValue(function), arguments, {})
    assert isinstance(found, Scalar)
    return found


def _kept_in(dtype: DType) -> DType:
    return dtype if dtype.weak else sum_type(dtype)
