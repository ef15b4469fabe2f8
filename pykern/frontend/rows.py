"""Arithmetic on rows in a kernel: ``x[j] - x[i]``, ``np.sqrt(v[i])``, ``0.5 * (a[i] + b[i])``.

Comes in: operands, of which at least one is an array of one or more dimensions: a row, or private or shared memory.
Goes out: a `Row`. A short one whose lengths are known is computed here, and is a `ShortRow` of values. The elements of
others are computed where they are read, so they need no memory, and lengths may be those of the launch. Reading one
after an array that it is computed from was written is an error, see `array_writes`.
Read next: `row_stores`, which keeps a row in memory; `slices`, which are rows, too.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeGuard, Union

from mlir import ir

from pykern.data.launch_bounds import LENGTHS
from pykern.data.promotion import promote
from pykern.data.source import KernelSource
from pykern.dialect.reports import AssertOp
from pykern.errors import CHANGED_KIND
from pykern.frontend import arithmetic, mathematics
from pykern.frontend.advice import scalar_from
from pykern.frontend.array_writes import Origin
from pykern.frontend.casts import convert, materialise
from pykern.frontend.chosen_lengths import alternatives
from pykern.frontend.values import Array, Extension, OperandError, Scalar, TupleValue, Value, describe
from pykern.passes.analysis.cost_model.lengths import SHORT_ROW_OF_VALUES
from pykern.types import DType, f64, i64, weak_float, weak_int

if TYPE_CHECKING:
    from pykern.frontend.elements import Elements


@dataclass(frozen=True, eq=False)
class Row(Extension):
    """Elements ``element(operands, indices)``: `shape` has a length for each dimension that is not indexed yet, `dtype`
    is that of the elements, `indices` are those of the dimensions before. `is_elementwise`: an element is computed from
    those of the operands at its own place."""

    text: str
    operands: tuple[Value, ...]
    element: Callable[[Elements, ast.AST, tuple[Value, ...], tuple[Scalar, ...]], Scalar]
    shape: tuple[Scalar, ...]
    dtype: DType
    origin: Origin
    indices: tuple[Scalar, ...] = ()
    is_elementwise: bool = False

    @property
    def description(self) -> str:
        return f"the computed row {self.shown}"

    @property
    def shown(self) -> str:
        """What is written, with types and lengths."""
        dims = ", ".join(str(d.const) if d.is_const else "?" for d in self.shape)
        return f"`{self.text}`: {self.dtype.name}[{dims}]"

    @property
    def instead_of_scalar(self) -> str | None:
        """What to write where a number is needed."""
        for operand in self.operands:
            if isinstance(operand, Array) and operand.space == "global" and not operand.outer:
                return scalar_from(operand)
            if isinstance(operand, Row) and (hint := operand.instead_of_scalar) is not None:
                return hint
        return "take one element, as in d[0], or reduce it, as in d.sum()"


@dataclass(frozen=True, eq=False)
class ShortRow(Row):
    """A row of known lengths whose elements are values: its operand is a tuple of them, of tuples in more dimensions.
    `is_shared`: another name may mean the same row, so that it cannot be updated in place."""

    is_shared: bool = False


@dataclass(frozen=True, eq=False)
class View(Row):
    """Elements of its first operand at other places: a slice, or a transpose. Where that is an array, the elements are
    what the array holds when they are read. `place` gives its indices, of the other operands and an element's own."""

    place: Place = lambda _, indices: indices

    @property
    def description(self) -> str:
        return f"the row {self.shown}"

    @property
    def instead_of_scalar(self) -> str | None:
        return f"take one element, as in {self.text}[0], or reduce it, as in {self.text}.sum()"


Place = Callable[[tuple[Value, ...], tuple[Scalar, ...]], tuple[Scalar, ...]]
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
    operands = [_of_one_type(v) if isinstance(v, TupleValue) else v for v in operands]
    shape: list[Scalar] = []
    for operand in operands:
        shape = joined(t, node, shape, lengths(t, operand))

    def element(
        t: Elements, node: ast.AST, operands: tuple[Value, ...], indices: tuple[Scalar, ...]
    ) -> Scalar:
        found = [element_of(t, node, operand, indices) for operand in operands]
        with t.operands_of(node):
            return function(found)

    return formula(t, node, operands, element, shape, is_elementwise=True)


def formula(
    t: Elements,
    node: ast.AST,
    operands: list[Value],
    element: Callable,
    shape: list[Scalar],
    is_elementwise: bool = False,
) -> Row:
    """The row whose elements ``element`` gives. It keeps no values but `operands`: they may have come out of a branch
    or a loop when elements are computed."""
    for operand in operands:
        if isinstance(operand, Row):
            check_fresh(t, node, operand)
    arrays = {id(array): array for operand in operands for array in arrays_of(operand)}
    origin = t.array_writes.origin(tuple(arrays.values()))
    row = Row(text_of(node), tuple(operands), element, tuple(shape), weak_int, origin, (), is_elementwise)
    if (count := known_count(shape)) is not None and 0 < count <= SHORT_ROW_OF_VALUES:
        return values_of(t, node, row)
    return replace(row, dtype=element_type(t, node, row))


def values_of(t: Elements, node: ast.AST, row: Rows, shape: tuple[Scalar, ...] | None = None) -> ShortRow:
    """The elements of a row of known lengths, computed here."""
    known = [length.const for length in (row.shape if shape is None else shape)]  # type: ignore[union-attr]
    found = [
        element_of(t, node, row, tuple(Scalar(weak_int, const=k) for k in place))
        for place in itertools.product(*(range(n) for n in known))  # type: ignore[arg-type]
    ]
    return short_row(t, row.text if isinstance(row, Row) else row.name, found, known)  # type: ignore[arg-type]


def short_row(
    t: Elements, text: str, numbers: list[Scalar], shape: list[int], is_shared: bool = False
) -> ShortRow:
    """The row of these numbers, the last dimension first."""
    lengths = tuple(Scalar(weak_int, const=n) for n in shape)
    origin = t.array_writes.origin(())
    operands = (nested(iter(numbers), shape),)
    return ShortRow(text, operands, _of_tuple, lengths, numbers[0].dtype, origin, is_shared=is_shared)


def nested(numbers: Iterator[Scalar], shape: list[int]) -> TupleValue:
    """Numbers in order as a tuple, of tuples in more dimensions."""
    inner = shape[1:]
    return TupleValue(
        tuple(nested(numbers, inner) if inner else next(numbers) for _ in range(shape[0])),
    )


def _of_tuple(t: Elements, node: ast.AST, operands: tuple[Value, ...], indices: tuple[Scalar, ...]) -> Scalar:
    return element_of(t, node, operands[0], indices)


def known_count(shape: list[Scalar] | tuple[Scalar, ...]) -> int | None:
    """How many elements there are, where all lengths are known."""
    return math.prod(d.const for d in shape) if all(d.is_const for d in shape) else None  # type: ignore[misc]


def text_of(node: ast.AST) -> str:
    """What is computed, as it is written."""
    if isinstance(node, ast.AugAssign):
        node = ast.BinOp(node.target, node.op, node.value)
    return ast.unparse(node)


def item(t: Elements, node: ast.expr, row: Row, index: Scalar) -> Value:
    """The element, or the row of fewer dimensions, at one place of the first dimension."""
    check_fresh(t, node, row)
    if len(row.shape) > 1 and isinstance(row, ShortRow):
        return view(t, node, row, [index], list(row.shape[1:]), lambda taken, own: (*taken, *own))  # type: ignore[arg-type, return-value]
    if len(row.shape) > 1:
        return replace(row, shape=row.shape[1:], indices=(*row.indices, index))
    return row.element(t, node, row.operands, (*row.indices, index))


def view(
    t: Elements, node: ast.AST, base: Rows, scalars: list[Value], shape: list[Scalar], place: Place
) -> View:
    """The elements of `base` whose indices `place` makes of `scalars` and of an element's own indices."""
    if isinstance(base, Row):
        check_fresh(t, node, base)

    def element(
        t: Elements, node: ast.AST, operands: tuple[Value, ...], indices: tuple[Scalar, ...]
    ) -> Scalar:
        return element_of(t, node, operands[0], place(operands[1:], indices))

    origin = base.origin if isinstance(base, Row) else t.array_writes.origin((base.ssa,))
    return View(text_of(node), (base, *scalars), element, tuple(shape), base.dtype, origin, place=place)


def check_fresh(t: Elements, node: ast.AST, row: Row) -> None:
    """Raise `KernelTypeError` where an array that the row is computed from has been written since."""
    if not shows_memory(row) and t.array_writes.is_stale(row.origin, t.span(node), row.text):
        raise t.type_error(node, f"`{row.text}` is computed where it is read, and what it is computed from was "
                           "written in between", _KEEP, CHANGED_KIND)  # fmt: skip


_KEEP = "read it before the write, keep it in t = np.zeros(3, np.float32) with t[:] = ..., or loop over the elements"


def shows_memory(row: Value) -> bool:
    """Whether elements are what an array holds."""
    return isinstance(row, Array) or (isinstance(row, View) and shows_memory(row.operands[0]))


def element_of(t: Elements, node: ast.AST, value: Value, indices: tuple[Scalar, ...]) -> Scalar:
    """The element at a place, of what has fewer dimensions than indices by the last of them."""
    taken = indices[len(indices) - rank_of(value) :]
    if isinstance(value, Array):
        return t.load(node, value, [*value.outer, *(materialise(convert(i, weak_int)) for i in taken)])
    if isinstance(value, Row):
        return value.element(t, node, value.operands, (*value.indices, *taken))
    if isinstance(value, TupleValue):
        return _chosen(value, taken)
    assert isinstance(value, Scalar)
    return value


def _chosen(value: Value, indices: tuple[Scalar, ...]) -> Scalar:
    """The item at a place that need not be known before the kernel runs."""
    if not indices:
        assert isinstance(value, Scalar)
        return value
    assert isinstance(value, TupleValue)
    index, *rest = indices
    if index.is_const:
        return _chosen(value.items[index.const], tuple(rest))  # type: ignore[index]
    *first, found = (_chosen(part, tuple(rest)) for part in value.items)
    for place in reversed(range(len(first))):
        here = arithmetic.binary("==", index, Scalar(weak_int, const=place))
        found = where(here, first[place], found)
    return found


def where(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """`a` or `b`."""
    chosen = mathematics.apply("where", [condition, a, b], False)
    assert isinstance(chosen, Scalar)
    return chosen


def rank_of(value: Value) -> int:
    """How many indices an element has."""
    if isinstance(value, Array | Row):
        return len(value.shape)
    return 1 + rank_of(value.items[0]) if isinstance(value, TupleValue) else 0


def _is_flat(value: TupleValue) -> bool:
    return bool(value.items) and not value.fields and all(isinstance(part, Scalar) for part in value.items)


def _of_one_type(value: TupleValue) -> TupleValue:
    """A tuple of numbers as NumPy takes it: all of one type."""
    if not _is_flat(value):
        return value
    dtype = common_type(value.items)  # type: ignore[arg-type]
    return TupleValue(tuple(convert(number, dtype) for number in value.items))  # type: ignore[arg-type]


def common_type(numbers: tuple[Scalar, ...] | list[Scalar]) -> DType:
    """The type that holds all."""
    dtype = numbers[0].dtype
    for number in numbers[1:]:
        dtype = promote(dtype, number.dtype)
    return dtype


def arrays_of(value: Value) -> tuple[ir.Value, ...]:
    """The arrays that elements are computed from."""
    if isinstance(value, Array):
        return (value.ssa,)
    return tuple(a for o in value.operands for a in arrays_of(o)) if isinstance(value, Row) else ()


def places_of(row: ShortRow) -> list[Scalar]:
    """The indices of the first dimension."""
    return [Scalar(weak_int, const=k) for k in range(row.shape[0].const)]  # type: ignore[arg-type]


def lengths(t: Elements, value: Value) -> list[Scalar]:
    """The length of each dimension; a number has none."""
    if isinstance(value, TupleValue):
        return [Scalar(weak_int, const=len(value.items)), *lengths(t, value.items[0])]
    return [t.length(value, d) for d in range(len(value.shape))] if isinstance(value, Array | Row) else []


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
    is_debug = isinstance(t.source, KernelSource) and t.source.options.debug
    if (is_debug or t.checks_lengths) and not (a.ssa is not None and b.ssa is not None and a.ssa == b.ssa):
        for first, second in itertools.product(alternatives(a), alternatives(b)):
            equal = materialise(arithmetic.binary("==", first, second))
            AssertOp.create(equal, LENGTHS, before_launch=not is_debug)
    return a if a.is_const else b if b.is_const else a


def check_index(t: Elements, row: Row, index: Scalar, length: Scalar) -> None:
    """Of values, which no memory holds: whether an index that is known only when this runs lies inside."""
    is_debug = isinstance(t.source, KernelSource) and t.source.options.debug
    if index.is_const or not (is_debug or t.checks_lengths) or not has_tuple(row):
        return
    index = convert(index, weak_int)
    inside = arithmetic.binary(
        "&",
        arithmetic.binary(">=", index, Scalar(weak_int, const=0)),
        arithmetic.binary("<", index, length),
    )
    message = f"the index of `{row.text}` is inside" if is_debug else row.text
    AssertOp.create(materialise(inside), message, before_launch=not is_debug)


def element_type(t: Elements, node: ast.AST, row: Row) -> DType:
    """The type of the elements: one is computed, and nothing is left of it."""
    scratch = ir.Operation.create("scf.execute_region", regions=1)
    try:
        with ir.InsertionPoint(scratch.regions[0].blocks.append()):
            first = tuple(Scalar(weak_int, const=0) for _ in row.shape)
            element = element_of(t, node, row, first)
            if not isinstance(element, Scalar):
                raise OperandError(f"elements of rows are numbers, not {describe(element)}")
            return element.dtype
    finally:
        scratch.erase()


def of_numbers(t: Elements, node: ast.AST, numbers: list[Scalar], dtype: DType | None = None,
               shape: list[int] | None = None) -> Row:  # fmt: skip
    """The row of these numbers, in `dtype` or in their common type; Python's numbers are i64 and f64 alone."""
    if dtype is None:
        dtype = common_type(numbers)
        dtype = {weak_int: i64, weak_float: f64}.get(dtype, dtype)
    converted = [convert(number, dtype) for number in numbers]
    return short_row(t, text_of(node), converted, shape or [len(numbers)])
