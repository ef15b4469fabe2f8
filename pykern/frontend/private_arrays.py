"""Memory that a kernel makes: ``pk.shared``, ``pk.private``, and NumPy's ``zeros``, ``ones``, ``full``, ``empty``.

Comes in: a shape that is known when compiling, and a type. Goes out: an `Array`; what NumPy fills is private memory
that is filled where the call stands, each time that it is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.dialect import memory
from pykern.errors import LaunchError
from pykern.frontend import row_stores
from pykern.frontend.casts import memory_type
from pykern.frontend.values import (
    Array,
    LanguageName,
    NoneValue,
    Scalar,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.types import DType, bool_, f64, i64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls


def buffer(made: type[memory.BufferOp], space: str) -> Callable:
    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = t.given(node, ("shape", "dtype"), args, keywords)
        if set(given) != {"shape", "dtype"} or not isinstance(given["dtype"], TypeValue):
            wrong = given.get("dtype")
            what = f", and this is {describe(wrong)}" if wrong is not None else ""
            written = ast.unparse(node.args[0]) if node.args else "(16, 16)"
            raise t.type_error(
                node, f"pk.{space} takes a shape and a dtype{what}", f"write pk.{space}({written}, pk.f32)"
            )
        dtype = given["dtype"].dtype
        if dtype.weak:
            raise t.type_error(
                node, f"pk.{space} takes a dtype of fixed width, not {dtype.name}", "write pk.i64"
            )
        if made is memory.SharedOp and _is_sized_at_launch(given["shape"]):
            return _shared_of_launch(t, node, dtype)
        shape = _constant_shape(t, node, given["shape"], space)
        buffer = made.create(shape, memory_type(dtype))
        return Array(f"pk.{space} memory", dtype, buffer, space, shape)

    return create


def _is_sized_at_launch(shape: Value) -> bool:
    if isinstance(shape, TupleValue) and len(shape.items) == 1:
        shape = shape.items[0]
    return isinstance(shape, NoneValue) or (
        isinstance(shape, Scalar) and shape.is_const and shape.const == -1
    )


def _shared_of_launch(t: Calls, node: ast.Call, dtype: DType) -> Value:
    """``pk.shared(None, dtype)``: as many elements as fit in the launch's `shared_bytes`."""
    if t.shared_bytes is None:
        raise LaunchError(
            f"`{t.source.function.name}` has a shared array without a length, and is launched without shared_bytes",
            t.span(node),
            f"say how many bytes: shared_bytes=64 * {dtype.itemsize}",
            t.call_notes(),
        )
    buffer = memory.DynamicSharedOp.create(t.shared_bytes, memory_type(dtype))
    return Array("pk.shared memory", dtype, buffer, "shared", (None,))


def _constant_shape(t: Calls, node: ast.Call, value: Value, space: str) -> tuple[int, ...]:
    items = value.items if isinstance(value, TupleValue) else (value,)
    shape: list[int] = []
    for item in items:
        length = t.as_scalar(node.args[0] if node.args else node, item)
        if not length.is_const or not isinstance(length.const, int) or length.const < 0:
            raise t.type_error(node, f"the shape of pk.{space} must be known at compile time",
                               "use constants, captured values, or a pk.static parameter")  # fmt: skip
        shape.append(length.const)
    return tuple(shape)


_PYTHON = {"int": TypeValue(i64), "float": TypeValue(f64), "bool": TypeValue(bool_)}


def filled(name: str) -> Callable:
    """The handler of ``np.zeros(3)`` and its like: private memory of f64 unless `dtype` says another type."""
    names = ("shape", "fill_value", "dtype") if name == "full" else ("shape", "dtype")

    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = t.given(node, names, args, keywords)
        if "shape" not in given or (name == "full") != ("fill_value" in given):
            raise t.type_error(node, f"`{name}` takes {', '.join(names)} in kernels",
                               f"write np.{name}({', '.join(('3', '1.0')[: len(names) - 1])}, np.float32)")  # fmt: skip
        dtype = type_of(t, node, given.get("dtype", TypeValue(f64)))
        shape = _constant_shape(t, node, given["shape"], "private")
        made = Array(
            "private memory", dtype, memory.PrivateOp.create(shape, memory_type(dtype)), "private", shape
        )
        value = given.get("fill_value", Scalar(weak_int, const=int(name == "ones")))
        if name != "empty" and shape:
            row_stores.store(t, node, made, value)
        return made

    return create


def type_of(t: Calls, node: ast.Call, value: Value) -> DType:
    """The type of elements that `value` says. Raises `KernelTypeError` where it says none."""
    if isinstance(value, LanguageName):
        value = _PYTHON.get(value.name, value)
    if not isinstance(value, TypeValue):
        raise t.type_error(node, f"dtype is a type, not {describe(value)}", "write dtype=np.float32")
    return value.dtype
