"""Memory that NumPy's functions make in a kernel: ``zeros``, ``ones``, ``full``, ``empty``.

Comes in: a shape that is known when compiling, and a type. Goes out: private memory, which is filled where the call
stands, each time that it is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.dialect import memory
from pykern.frontend import row_stores
from pykern.frontend.call_arguments import given_by_name, type_of
from pykern.frontend.casts import memory_type
from pykern.frontend.memory_ops import constant_shape
from pykern.frontend.values import (
    Array,
    Scalar,
    TupleValue,
    TypeValue,
    Value,
)
from pykern.types import f64, weak_int

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls


def filled(name: str) -> Callable:
    """The handler of ``np.zeros(3)`` and its like: private memory of f64 unless `dtype` says another type."""
    names = ("shape", "fill_value", "dtype") if name == "full" else ("shape", "dtype")

    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = given_by_name(t, node, names, args, keywords)
        if "shape" not in given or (name == "full") != ("fill_value" in given):
            raise t.type_error(node, f"`{name}` takes {', '.join(names)} in kernels",
                               f"write np.{name}({', '.join(('3', '1.0')[: len(names) - 1])}, np.float32)")  # fmt: skip
        dtype = type_of(t, node, given.get("dtype", TypeValue(f64)))
        shape = constant_shape(t, node, given["shape"], "private")
        made = Array(
            "private memory", dtype, memory.PrivateOp.create(shape, memory_type(dtype)), "private", shape
        )
        value = given.get("fill_value", Scalar(weak_int, const=int(name == "ones")))
        if name != "empty" and shape:
            row_stores.store(t, node, made, value)
        return made

    return create


def eye(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.eye(3)``: a matrix with ones on its diagonal."""
    given = given_by_name(t, node, ("N", "M", "k", "dtype"), args, keywords)
    if "N" not in given or "k" in given:
        raise t.type_error(
            node, "`eye` takes the number of rows, that of columns, and a dtype", "write np.eye(3)"
        )
    dtype = type_of(t, node, given.get("dtype", TypeValue(f64)))
    shape = constant_shape(t, node, TupleValue((given["N"], given.get("M", given["N"]))), "private")
    made = Array(
        "private memory", dtype, memory.PrivateOp.create(shape, memory_type(dtype)), "private", shape
    )
    if all(shape):
        row_stores.store(t, node, made, Scalar(weak_int, const=0))
    for k in range(min(shape)):
        place = Scalar(weak_int, const=k)
        row_stores.put(t, node, made, (place, place), Scalar(weak_int, const=1))
    return made
