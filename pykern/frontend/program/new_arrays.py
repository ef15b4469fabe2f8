"""New arrays: zeros, ones, full, empty, their `_like`s, arange, eye, copy."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.frontend import arithmetic
from pykern.frontend.casts import convert
from pykern.frontend.program import arguments
from pykern.frontend.program.tensors import elementwise, empty, fill, loop_index
from pykern.frontend.program.unknown_values import unknown
from pykern.frontend.program.values import Cell
from pykern.frontend.values import NoneValue, Scalar, Value, describe
from pykern.types import DType, f64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_ZERO, _ONE = Scalar(weak_int, const=0), Scalar(weak_int, const=1)


def _filled(name: str, value: Scalar | None) -> Callable:
    def create(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "shape dtype=", args, keywords)
        shape = arguments.shape(t, node, given["shape"])
        return _array(value, arguments.dtype(t, node, given["dtype"], f64), shape)

    return create


def _filled_like(name: str, value: Scalar | None) -> Callable:
    def create(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "x dtype=", args, keywords)
        x = arguments.array(t, node, given["x"])
        return _array(value, arguments.dtype(t, node, given["dtype"], x.dtype), x.shape)

    return create


def _array(value: Scalar | None, dtype: DType, shape: tuple[int, ...]) -> Cell:
    return Cell(dtype, shape, empty(dtype, shape) if value is None else fill(value, dtype, shape))


def _full(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "full", "shape value= dtype= fill_value=", args, keywords)
    value = _number(t, node, given)
    dtype = arguments.dtype(t, node, given["dtype"], value.dtype)
    with t.operands_of(node):
        return _array(arithmetic.element(value, dtype), dtype, arguments.shape(t, node, given["shape"]))


def _full_like(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "full_like", "x value= dtype= fill_value=", args, keywords)
    x = arguments.array(t, node, given["x"])
    dtype = arguments.dtype(t, node, given["dtype"], x.dtype)
    with t.operands_of(node):
        return _array(arithmetic.element(_number(t, node, given), dtype), dtype, x.shape)


def _number(t: ProgramTranslator, node: ast.AST, given: dict[str, Value]) -> Scalar:
    """The value to fill with, under our name for it or NumPy's."""
    both = [given[n] for n in ("value", "fill_value") if not isinstance(given[n], NoneValue)]
    if len(both) != 1:
        raise t.type_error(node, "one value to fill with is needed")
    return t.as_scalar(node, both[0])


def _arange(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "arange", "start stop= step= dtype=", args, keywords)
    start, stop, step = (given[n] for n in ("start", "stop", "step"))
    if isinstance(stop, NoneValue):
        start, stop = _ZERO, start
    bounds = [_ONE if isinstance(b, NoneValue) else b for b in (start, stop, step)]
    known = [_constant(t, node, b) for b in bounds]
    if known[2] == 0:
        raise t.type_error(node, "the step of arange is not zero")
    count = max(0, -int(-((known[1] - known[0]) / known[2]) // 1))
    natural = f64 if any(isinstance(k, float) for k in known) else weak_int
    dtype = arguments.dtype(t, node, given["dtype"], natural)
    # NumPy takes the difference of the first two, in the type of the result
    first = Scalar(dtype, const=dtype.numpy.type(known[0]).item())
    second = Scalar(dtype, const=dtype.numpy.type(known[0] + known[2]).item())

    def body(_: list[Scalar]) -> list[Scalar]:
        place = convert(loop_index(0), dtype)
        delta = arithmetic.binary("-", second, first)
        return [convert(arithmetic.binary("+", first, arithmetic.binary("*", place, delta)), dtype)]

    [(_, ssa)] = elementwise((count,), [], body)
    return Cell(dtype, (count,), ssa)


def _constant(t: ProgramTranslator, node: ast.AST, value: Value) -> int | float:
    if isinstance(value, Scalar) and isinstance(value.const, int | float):
        return value.const
    raise unknown(t, node, [value], f"the bounds of arange are known when compiling, not {describe(value)}",
                  "they decide the shape: use constants, lengths, or pk.static parameters")  # fmt: skip


def _eye(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "eye", "n m= dtype=", args, keywords)
    rows = arguments.integer(t, node, given["n"], "a length")
    square = isinstance(given["m"], NoneValue)
    columns = rows if square else arguments.integer(t, node, given["m"], "a length")
    dtype = arguments.dtype(t, node, given["dtype"], f64)

    def body(_: list[Scalar]) -> list[Scalar]:
        i, j = loop_index(0), loop_index(1)
        return [convert(arithmetic.binary("==", i, j), dtype)]

    [(_, ssa)] = elementwise((rows, columns), [], body)
    return Cell(dtype, (rows, columns), ssa)


def _copy(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    x = arguments.array(t, node, arguments.bind(t, node, "copy", "x", args, keywords)["x"])
    return Cell(x.dtype, x.shape, x.ssa)


HANDLERS: dict[str, Callable] = {
    "zeros": _filled("zeros", _ZERO), "ones": _filled("ones", _ONE), "empty": _filled("empty", None),
    "zeros_like": _filled_like("zeros_like", _ZERO), "ones_like": _filled_like("ones_like", _ONE),
    "empty_like": _filled_like("empty_like", None), "full": _full, "full_like": _full_like,
    "arange": _arange, "eye": _eye, "copy": _copy,
}  # fmt: skip
