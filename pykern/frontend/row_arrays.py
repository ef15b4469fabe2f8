"""Rows that NumPy's functions make in a kernel: ``np.array([a, b, c])``, ``np.stack``, ``np.concatenate``, ``np.diag``.

Comes in: a list of numbers, or of rows, or a row. Goes out: a computed row, whose elements are copies. Memory is made
by `private_arrays`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.promotion import promote
from pykern.frontend import arithmetic, private_arrays, rows
from pykern.frontend.advice import instead_of_function
from pykern.frontend.call_arguments import type_of
from pykern.frontend.casts import convert
from pykern.frontend.rows import Row, Rows, is_row
from pykern.frontend.slices import transposed
from pykern.frontend.values import Scalar, TupleValue, TypeValue, Value, describe
from pykern.passes.analysis.cost_model.code_size import UNASKED_COPIES
from pykern.types import DType, weak_int

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls


def array(t: Calls, node: ast.Call) -> Value:
    """``np.array([a, b, c])``, ``np.array([[a, b], [c, d]])``, ``np.array([x[i], y[i]])``, ``np.array(x[i])``."""
    names, kind = ("object", "dtype"), None
    given = dict(zip(names, node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
    listed = given.get("object")
    if listed is None or given.keys() - set(names):
        raise t.type_error(node, "np.array takes a list of numbers in kernels", "write np.array([a, b, c])")
    if "dtype" in given:
        kind = type_of(t, node, t.expression(given["dtype"]))
    if not isinstance(listed, ast.List | ast.Tuple):
        return _of_row(t, node, t.expression(listed), kind)
    parts = _parts(t, listed)
    if any(map(is_row, parts)):
        return stacked(t, node, parts, kind)
    lines = [part.items if isinstance(part, TupleValue) else (part,) for part in parts]
    if len({len(line) for line in lines}) != 1 or not lines[0]:
        raise t.type_error(
            node, "the rows of np.array have different lengths", "give each row as many numbers"
        )
    shape = [len(lines), len(lines[0])] if isinstance(parts[0], TupleValue) else [len(lines)]
    return rows.of_numbers(t, node, [t.as_scalar(node, v) for line in lines for v in line], kind, shape)


def _parts(t: Calls, listed: ast.List | ast.Tuple) -> list[Value]:
    """What a list holds, lists in it as tuples."""
    return [
        TupleValue(tuple(_parts(t, item))) if isinstance(item, ast.List) else t.expression(item)
        for item in listed.elts
    ]


def _of_row(t: Calls, node: ast.Call, value: Value, kind: DType | None) -> Value:
    if not is_row(value) or ast.unparse(node.func).endswith("asarray"):
        name = ast.unparse(node.func)
        raise t.type_error(node, f"`{name}` takes a list of numbers in kernels, not {describe(value)}",
                           "write np.array([a, b, c]), or np.copy(x[i])")  # fmt: skip
    return rows.computed(t, node, [value], lambda one: convert(one[0], kind or one[0].dtype))


def stacked(t: Calls, node: ast.Call, parts: list[Value], kind: DType | None = None) -> Row:
    """Rows one below the other."""
    shape: list[Scalar] = []
    for part in parts:
        if not is_row(part):
            raise t.type_error(
                node, f"this list holds rows, and {describe(part)}", "give rows alone, or numbers alone"
            )
        if shape and len(part.shape) != len(shape):
            raise t.type_error(
                node, "the rows of this list have different dimensions", "give rows of one shape"
            )
        shape = rows.joined(t, node, shape, rows.lengths(t, part)) if shape else rows.lengths(t, part)
    dtype = kind or _common(parts)

    def element(t: Calls, node: ast.AST, operands: tuple[Value, ...], indices: tuple[Scalar, ...]) -> Scalar:
        number, *own = indices
        if number.is_const:
            return convert(rows.element_of(t, node, operands[number.const], tuple(own)), dtype)  # type: ignore[index]
        *first, found = (convert(rows.element_of(t, node, v, tuple(own)), dtype) for v in operands)
        for place in reversed(range(len(first))):
            here = arithmetic.binary("==", number, Scalar(weak_int, const=place))
            found = rows.where(here, first[place], found)
        return found

    return rows.formula(t, node, parts, element, [Scalar(weak_int, const=len(parts)), *shape])


def _common(parts: list[Value]) -> DType:
    dtypes = [part.dtype.loaded for part in parts if is_row(part)]
    dtype = dtypes[0]
    for other in dtypes[1:]:
        dtype = promote(dtype, other)
    return dtype


def _listed(t: Calls, node: ast.Call, takes_axis: bool = False) -> list[Value]:
    name = ast.unparse(node.func)
    if (
        len(node.args) != 1
        or (node.keywords and not takes_axis)
        or not isinstance(node.args[0], ast.List | ast.Tuple)
    ):
        raise t.type_error(node, f"`{name}` takes a list of rows in kernels", f"write {name}([x[i], y[i]])")
    return _parts(t, node.args[0])


def stack(t: Calls, node: ast.Call) -> Value:
    """``np.stack([x[i], y[i]])``, and of rows of one dimension with ``axis=1``."""
    parts = _listed(t, node, takes_axis=True)
    if not parts:
        raise t.type_error(node, "`stack` takes one row or more", "write np.stack([x[i], y[i]])")
    axis = next((k.value for k in node.keywords if k.arg == "axis"), None)
    along = t.scalar(axis) if axis is not None else Scalar(weak_int, const=0)
    found = stacked(t, node, parts)
    last = len(found.shape) - 1
    known = along.const if along.is_const and len(node.keywords) == (axis is not None) else None
    if known != 0 and not (last == 1 and known in (1, -1)):
        raise t.type_error(node, "`stack` goes along axis 0 in kernels, of rows of one dimension also along axis 1",
                           "write np.stack([x[i], y[i]], axis=1)")  # fmt: skip
    return transposed(t, node, found) if known else found  # type: ignore[return-value]


def concatenate(t: Calls, node: ast.Call) -> Value:
    """``np.concatenate([x[i, :2], y[i, 1:3]])``: of rows whose lengths are known."""
    parts = _listed(t, node)
    if not parts or not all(is_row(part) and len(part.shape) == 1 for part in parts):
        raise t.type_error(node, "`concatenate` takes rows of one dimension in kernels",
                           "write np.concatenate([x[i, :2], y[i, :1]])")  # fmt: skip
    lengths = [rows.lengths(t, part)[0] for part in parts]
    if not all(n.is_const for n in lengths) or sum(n.const for n in lengths) > UNASKED_COPIES:  # type: ignore[misc]
        raise t.type_error(node, "`concatenate` takes short rows whose lengths are known when compiling",
                           "say how long each is, as in x[i, :3]")  # fmt: skip
    dtype = _common(parts)
    for part in parts:
        if isinstance(part, Row):
            rows.check_fresh(t, node, part)
    numbers = [
        rows.element_of(t, node, part, (Scalar(weak_int, const=k),))
        for part, length in zip(parts, lengths, strict=True)
        for k in range(length.const)  # type: ignore[arg-type]
    ]
    return rows.of_numbers(t, node, numbers, dtype)


def copy(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.copy(x[i])``: the elements as they are now."""
    if len(args) != 1 or keywords or not is_row(args[0]):
        raise t.type_error(node, "`copy` takes one row", "write np.copy(x[i])")
    return rows.computed(t, node, [args[0]], lambda one: one[0])


def diagonal(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``np.diag``: the matrix with a row on its diagonal, or the diagonal of a matrix."""
    if len(args) != 1 or keywords or not is_row(args[0]) or len(args[0].shape) > 2:
        raise t.type_error(node, "`diag` takes one row, or one small matrix", "write np.diag(x[i])")
    row: Rows = args[0]
    shape = rows.lengths(t, row)
    if len(shape) == 2:
        length = rows.joined(t, node, shape[:1], shape[1:])
        line = rows.view(t, node, row, [], length, lambda _, own: (*own, *own))
        return rows.computed(t, node, [line], lambda one: one[0])

    def element(t: Calls, node: ast.AST, operands: tuple[Value, ...], indices: tuple[Scalar, ...]) -> Scalar:
        found = rows.element_of(t, node, operands[0], indices[:1])
        nil = Scalar(found.dtype, const=0.0 if found.dtype.is_float else 0)
        return rows.where(arithmetic.binary("==", *indices), found, nil)

    return rows.formula(t, node, [row], element, [*shape, *shape])


def like(name: str) -> Callable:
    """``np.zeros_like(x[i, :3])``: of a row whose lengths are known."""

    def create(t: Calls, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        if not args or not is_row(args[0]) or rows.known_count(rows.lengths(t, args[0])) is None:
            raise t.syntax_error(node, f"`{name}_like` takes a row of known lengths in kernels",
                                 instead_of_function(f"{name}_like"))  # fmt: skip
        shape = TupleValue(tuple(rows.lengths(t, args[0])))
        dtype = keywords.pop("dtype", TypeValue(args[0].dtype))
        return private_arrays.filled(name)(t, node, [shape, *args[1:]], {**keywords, "dtype": dtype})

    return create


OF_NODES: dict[str, Callable] = {
    **dict.fromkeys(("numpy.array", "numpy.asarray"), array),
    "stack": stack, "concatenate": concatenate,
}  # fmt: skip
