"""Calls of the language that reach memory: `pk.shared`, `pk.private`, the barrier, atomics.

Each handler takes the translator, the call node, its positional values and keywords.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir

from pykern.dialect import atomics, memory
from pykern.errors import LaunchError
from pykern.frontend import arithmetic
from pykern.frontend.casts import materialise, memory_type
from pykern.frontend.values import (
    Array,
    NoneValue,
    Scalar,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.types import DType, bool_

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls
from pykern.frontend.call_arguments import given_by_name

ATOMICS = {
    "atomic_add": "add", "atomic_sub": "sub", "atomic_min": "min", "atomic_max": "max",
    "atomic_and_": "and", "atomic_or_": "or", "atomic_xor": "xor", "atomic_exchange": "exchange",
}  # fmt: skip


def buffer(made: type[memory.BufferOp], space: str) -> Callable:
    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = given_by_name(t, node, ("shape", "dtype"), args, keywords)
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
        shape = constant_shape(t, node, given["shape"], space)
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


def constant_shape(t: Calls, node: ast.Call, value: Value, space: str) -> tuple[int, ...]:
    items = value.items if isinstance(value, TupleValue) else (value,)
    shape: list[int] = []
    for item in items:
        length = t.as_scalar(node.args[0] if node.args else node, item)
        if not length.is_const or not isinstance(length.const, int) or length.const < 0:
            raise t.type_error(node, f"the shape of pk.{space} must be known at compile time",
                               "use constants, captured values, or a pk.static parameter")  # fmt: skip
        shape.append(length.const)
    return tuple(shape)


def barrier(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    if args or keywords:
        raise t.type_error(node, "pk.barrier takes no arguments: all of a group meet", "write pk.barrier()")
    memory.BarrierOp.create()
    t.note_array_write(None)
    return NoneValue()


def _element(t: Calls, node: ast.Call, args: list[Value], count: int) -> tuple[Array, list[ir.Value]]:
    if len(args) != count or not isinstance(args[0], Array):
        raise t.type_error(node, f"an atomic takes an array, an index and {count - 2} more",
                           "write pk.atomic_add(x, i, value) or pk.atomic_add(x, (i, j), value)")  # fmt: skip
    array = args[0]
    items = args[1].items if isinstance(args[1], TupleValue) else (args[1],)
    if len(items) != len(array.shape):
        raise t.type_error(
            node.args[1],
            f"{describe(array)} has {len(array.shape)} dimensions, {len(items)} given",
            "give the index as a tuple: pk.atomic_add(x, (i, j), value)",
        )
    if array.dtype.is_storage:
        raise t.type_error(node, f"atomics are not available for {array.dtype.name}", "use pk.f32")
    if not array.writes:
        raise t.type_error(node, f"`{array.name}` is annotated pk.In: the kernel may not write it",
                           "annotate it pk.InOut")  # fmt: skip
    return array, [*array.outer, *(t.index(node.args[1], v, array, d, node) for d, v in enumerate(items))]


def atomic(t: Calls, node: ast.Call, kind: str, args: list[Value]) -> Value:
    array, indices = _element(t, node, args, 3)
    dtype = array.dtype
    if dtype == bool_ or (dtype.is_float and kind in ("and", "or", "xor")):
        raise t.type_error(node, f"atomic `{kind}` is not available for {dtype.name}",
                           "use an array of pk.i32 or pk.u32")  # fmt: skip
    if dtype.kind == "u" and kind in ("min", "max"):
        kind = "u" + kind
    with t.operands_of(node):
        value = materialise(arithmetic.element(t.as_scalar(node.args[2], args[2]), dtype))
    old = Scalar(dtype, atomics.AtomicRmwOp.create(kind, value, array.ssa, indices))
    t.note_array_write(array.ssa)
    return old


def compare_exchange(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    array, indices = _element(t, node, args, 4)
    if array.dtype == bool_:
        raise t.type_error(node, "atomics are not available for bool", "use pk.i32")
    with t.operands_of(node):
        expected, desired = (
            materialise(arithmetic.element(t.as_scalar(node, v), array.dtype)) for v in args[2:]
        )
    old = Scalar(array.dtype, atomics.AtomicCasOp.create(expected, desired, array.ssa, indices))
    t.note_array_write(array.ssa)
    return old
