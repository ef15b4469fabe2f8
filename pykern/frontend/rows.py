"""Arithmetic on rows in a kernel: ``x[j] - x[i]``, ``np.sqrt(v[i])``, ``0.5 * (a[i] + b[i])``.

Comes in: operands, of which at least one is an array of one or more dimensions: a row, or private or shared memory.
Goes out: a `Row`. Its elements are computed where they are read, so it needs no memory, and lengths may be those of the
launch. Reading one after an array that it is computed from was written is an error, see `array_writes`.
Read next: `row_stores`, which keeps a row in memory.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeGuard, Union

from mlir import ir

from pykern.data.promotion import promote
from pykern.data.source import KernelSource
from pykern.dialect.reports import AssertOp
from pykern.errors import CHANGED_KIND
from pykern.frontend import arithmetic, mathematics
from pykern.frontend.advice import scalar_from
from pykern.frontend.array_writes import Origin
from pykern.frontend.casts import convert, materialise
from pykern.frontend.values import Array, Extension, OperandError, Scalar, TupleValue, Value, describe
from pykern.types import DType, f64, i64, weak_float, weak_int

if TYPE_CHECKING:
    from pykern.frontend.elements import Elements

LENGTHS = "rows have as many elements as each other"
"""What `debug=True` asserts."""


@dataclass(frozen=True, eq=False)
class Row(Extension):
    """Elements ``function(operands)``: `shape` has a length for each dimension, `dtype` is that of the elements."""

    text: str
    operands: tuple[Value, ...]
    function: Callable[[list[Scalar]], Scalar]
    shape: tuple[Scalar, ...]
    dtype: DType
    origin: Origin

    @property
    def description(self) -> str:
        dims = ", ".join(str(d.const) if d.is_const else "?" for d in self.shape)
        return f"the computed row `{self.text}`: {self.dtype.name}[{dims}]"

    @property
    def instead_of_scalar(self) -> str | None:
        """What to write where a number is needed."""
        for operand in self.operands:
            if isinstance(operand, Array) and operand.space == "global" and not operand.outer:
                return scalar_from(operand)
            if isinstance(operand, Row) and (hint := operand.instead_of_scalar) is not None:
                return hint
        return "take one element, as in d[0], or reduce it, as in d.sum()"


Rows = Union[Array, Row]


def is_row(value: object) -> TypeGuard[Rows]:
    """Whether a value has elements: an array of at least one dimension, or a computed row."""
    return isinstance(value, Array | Row) and len(value.shape) > 0


def are_operands(values: list[Value]) -> bool:
    """Whether an operation on these is one on rows: numbers and tuples of numbers may stand beside a row."""
    return any(map(is_row, values)) and all(
        isinstance(v, Scalar) or is_row(v) or (isinstance(v, TupleValue) and _is_flat(v)) for v in values
    )


def has_tuple(value: Value) -> bool:
    """Whether elements are those of a tuple, which has them at constant places alone."""
    return isinstance(value, TupleValue) or (isinstance(value, Row) and any(map(has_tuple, value.operands)))


def computed(
    t: Elements, node: ast.AST, operands: list[Value], function: Callable[[list[Scalar]], Scalar]
) -> Row:
    """The row of ``function`` of the elements. Operands of fewer dimensions are taken for each row of the others.

    Raises `KernelTypeError` for known lengths that differ, and where `function` refuses the elements.
    """
    for operand in operands:
        if isinstance(operand, Row):
            check_fresh(t, node, operand)
    shape = _common_shape(t, node, operands)
    arrays = [array for operand in operands for array in _arrays(operand)]
    unique = tuple({id(array): array for array in arrays}.values())
    text = _text(node)
    row = Row(text, tuple(operands), function, shape, weak_int, t.array_writes.origin(unique))
    return replace(row, dtype=_element_type(t, node, row))


def _text(node: ast.AST) -> str:
    """What is computed, as it is written."""
    if isinstance(node, ast.AugAssign):
        node = ast.BinOp(node.target, node.op, node.value)
    return ast.unparse(node)


def item(t: Elements, node: ast.expr, row: Row, index: Scalar) -> Value:
    """The element, or the row of fewer dimensions, at one place of the first dimension."""
    check_fresh(t, node, row)
    return _item(t, node, row, index)


def check_fresh(t: Elements, node: ast.AST, row: Row) -> None:
    """Raise `KernelTypeError` where an array that the row is computed from has been written since."""
    if t.array_writes.is_stale(row.origin, t.span(node), row.text):
        raise t.type_error(node, f"`{row.text}` is computed where it is read, and what it is computed from was "
                           "written in between", _KEEP, CHANGED_KIND)  # fmt: skip


_KEEP = "read it before the write, keep it in t = np.zeros(3, np.float32) with t[:] = ..., or loop over the elements"


def _item(t: Elements, node: ast.expr, row: Row, index: Scalar) -> Value:
    parts = [part(t, node, operand, len(row.shape), index) for operand in row.operands]
    if len(row.shape) > 1:
        return replace(row, operands=tuple(parts), shape=row.shape[1:])
    with t.operands_of(node):
        return row.function([p for p in parts if isinstance(p, Scalar)])


def part(t: Elements, node: ast.expr, operand: Value, rank: int, index: Scalar) -> Value:
    """What of an operand the item of a row of `rank` dimensions is computed from: nothing is taken of one of fewer."""
    if _rank(operand) < rank:
        return operand
    if isinstance(operand, Array):
        return t.item(node, operand, index)
    if isinstance(operand, Row):
        return _item(t, node, operand, index)
    assert isinstance(operand, TupleValue)
    return _chosen(operand, index)


def _chosen(items: TupleValue, index: Scalar) -> Value:
    """The item at a place that need not be known before the kernel runs."""
    if index.is_const:
        return items.items[index.const]  # type: ignore[index]
    found = items.items[-1]
    for place in reversed(range(len(items.items) - 1)):
        here = arithmetic.binary("==", index, Scalar(weak_int, const=place))
        chosen = mathematics.apply("where", [here, items.items[place], found], False)  # type: ignore[list-item]
        assert isinstance(chosen, Scalar)
        found = chosen
    return found


def _rank(value: Value) -> int:
    if isinstance(value, Array | Row):
        return len(value.shape)
    return int(isinstance(value, TupleValue))


def _is_flat(value: TupleValue) -> bool:
    return bool(value.items) and not value.fields and all(isinstance(part, Scalar) for part in value.items)


def _arrays(value: Value) -> tuple[ir.Value, ...]:
    if isinstance(value, Array):
        return (value.ssa,)
    return value.origin.arrays if isinstance(value, Row) else ()


def lengths(t: Elements, value: Value) -> list[Scalar]:
    """The length of each dimension; a number has none."""
    if isinstance(value, TupleValue):
        return [Scalar(weak_int, const=len(value.items))]
    return [t.length(value, d) for d in range(len(value.shape))] if isinstance(value, Array | Row) else []


def _common_shape(t: Elements, node: ast.AST, operands: list[Value]) -> tuple[Scalar, ...]:
    shape: list[Scalar] = []
    for operand in operands:
        shape = joined(t, node, shape, lengths(t, operand))
    return tuple(shape)


def joined(t: Elements, node: ast.AST, first: list[Scalar], second: list[Scalar]) -> list[Scalar]:
    """Lengths that two shapes share, from the last dimension on. Raises `KernelTypeError` where known ones differ."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    lead = len(longer) - len(shorter)
    return [
        *longer[:lead],
        *(_same_length(t, node, a, b) for a, b in zip(longer[lead:], shorter, strict=True)),
    ]


def _same_length(t: Elements, node: ast.AST, a: Scalar, b: Scalar) -> Scalar:
    if a.is_const and b.is_const:
        if a.const != b.const:
            raise t.type_error(node, f"rows of {a.const} and of {b.const} elements do not go together",
                               "give both the same length")  # fmt: skip
        return a
    if isinstance(t.source, KernelSource) and t.source.options.debug:
        AssertOp.create(materialise(arithmetic.binary("==", a, b)), LENGTHS)
    return a if a.is_const else b if b.is_const else a


def _element_type(t: Elements, node: ast.AST, row: Row) -> DType:
    """The type of the elements: one is computed, and nothing is left of it."""
    scratch = ir.Operation.create("scf.execute_region", regions=1)
    place = node if isinstance(node, ast.expr) else ast.Name("row", ast.Load())
    try:
        with ir.InsertionPoint(scratch.regions[0].blocks.append()):
            element: Value = row
            while isinstance(element, Row):
                element = _item(t, place, element, Scalar(weak_int, const=0))
            if not isinstance(element, Scalar):
                raise OperandError(f"elements of rows are numbers, not {describe(element)}")
            return element.dtype
    finally:
        scratch.erase()


def of_numbers(t: Elements, node: ast.AST, numbers: list[Scalar], dtype: DType | None = None) -> Row:
    """The row of these numbers, in `dtype` or in their common type; Python's numbers are i64 and f64 alone."""
    if dtype is None:
        dtype = numbers[0].dtype
        for number in numbers[1:]:
            dtype = promote(dtype, number.dtype)
        dtype = {weak_int: i64, weak_float: f64}.get(dtype, dtype)
    converted = TupleValue(tuple(convert(number, dtype) for number in numbers))
    return computed(t, node, [converted], lambda one: one[0])
