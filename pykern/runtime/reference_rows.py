"""Rows on the reference device: reductions, and arithmetic on all elements, in the order and types of compiled kernels.

Comes in: arrays of the reference device and numbers. Goes out: numbers, and a `ComputedRow` where a compiled kernel
would compute elements where they are read. Read next: `reference_array`, whose arrays are rows, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pykern.data.promotion import promote, sum_type
from pykern.errors import KernelTypeError
from pykern.runtime import reference, reference_mathematics
from pykern.runtime.reference_indices import inside, place_in, whole_index
from pykern.types import DType, f32, f64, from_numpy


class Rows:
    """What arrays in kernels and computed rows have in common: elements, `shape`, `dtype`, reductions, operators."""

    __slots__ = ()
    is_row_of_kernel = True
    shape: tuple[int, ...]
    dtype: Any

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of a row; NumPy's functions call the methods of these names, too."""
        return reduced("sum", self, (axis, dtype, out))

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return reduced("prod", self, (axis, dtype, out))

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return reduced("mean", self, (axis, dtype, out))

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return reduced("var", self, (axis, dtype, out))

    def std(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return reduced("std", self, (axis, dtype, out))

    def max(self, axis: Any = None, out: Any = None) -> Any:
        return reduced("max", self, (axis, out))

    def min(self, axis: Any = None, out: Any = None) -> Any:
        return reduced("min", self, (axis, out))

    def any(self, axis: Any = None, out: Any = None) -> Any:
        return reduced("any", self, (axis, out))

    def all(self, axis: Any = None, out: Any = None) -> Any:
        return reduced("all", self, (axis, out))

    def argmax(self, axis: Any = None, out: Any = None) -> Any:
        return reduced("argmax", self, (axis, out))

    def argmin(self, axis: Any = None, out: Any = None) -> Any:
        return reduced("argmin", self, (axis, out))

    def dot(self, other: Any) -> Any:
        return product(self, other)

    @property
    def T(self) -> Any:  # noqa: N802
        """The dimensions in the opposite order."""
        return transposed(self)

    def copy(self) -> ComputedRow:
        return copied(self)

    def astype(self, dtype: Any) -> ComputedRow:
        kind = dtype if isinstance(dtype, DType) else from_numpy(np.dtype(dtype))
        if kind is None:
            raise KernelTypeError(f"{dtype} is no type of kernels", hint="write x[i].astype(np.float32)")
        return each(lambda value: reference.cast(value, kind), (self,))

    def __matmul__(self, other: Any) -> Any:
        return product(self, other)

    def __neg__(self) -> ComputedRow:
        return each(operator.neg, (self,))

    def __pos__(self) -> ComputedRow:
        return each(operator.pos, (self,))

    def __abs__(self) -> ComputedRow:
        return each(abs, (self,))

    def __invert__(self) -> ComputedRow:
        return each(operator.invert, (self,))

    def __lt__(self, other: Any) -> ComputedRow:
        return each(operator.lt, (self, other))

    def __le__(self, other: Any) -> ComputedRow:
        return each(operator.le, (self, other))

    def __gt__(self, other: Any) -> ComputedRow:
        return each(operator.gt, (self, other))

    def __ge__(self, other: Any) -> ComputedRow:
        return each(operator.ge, (self, other))

    def __eq__(self, other: Any) -> Any:
        return each(operator.eq, (self, other))

    def __ne__(self, other: Any) -> Any:
        return each(operator.ne, (self, other))

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise KernelTypeError(f"a scalar is needed here, not {self!r}", hint="write x[i].any() or x[i].all()")


class ComputedRow(Rows):
    """Elements that were computed, or rows of them. The compiler has refused to write those that have several names."""

    __slots__ = ("_items", "dtype", "shape")

    def __init__(self, items: list[Any], shape: tuple[int, ...], dtype: DType) -> None:
        self._items, self.shape, self.dtype = items, shape, dtype

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def __getitem__(self, index: Any) -> Any:
        first, *rest = whole_index(index, self.ndim)
        if not isinstance(first, slice):
            found = self._items[place_in(first, len(self))]
            return found[tuple(rest)] if isinstance(found, ComputedRow) and rest else found
        parts = [self._items[k] for k in range(len(self))[inside(first, len(self))]]
        if self.ndim == 1:
            return ComputedRow(parts, (len(parts),), self.dtype)
        parts = [part[tuple(rest)] for part in parts]
        shape = parts[0].shape if parts and isinstance(parts[0], ComputedRow) else ()
        return ComputedRow(parts, (len(parts), *shape), self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        first, *rest = whole_index(index, self.ndim)
        if not isinstance(first, slice):
            place = place_in(first, len(self))
            if self.ndim > 1:
                self._items[place][tuple(rest)] = value
            else:
                self._items[place] = reference.cast(value, self.dtype)
            return
        places = list(range(len(self))[inside(first, len(self))])
        rank = sum(isinstance(part, slice) for part in (first, *rest))
        for number, place in enumerate(places):
            one = value[number] if _rank(value) == rank else value
            self[(place, *rest)] = one

    def __repr__(self) -> str:
        return f"<a computed row: {self.dtype.name}{list(self.shape)}>"


def copied(row: Any) -> ComputedRow:
    """The elements as they are now."""
    items = [row[place] for place in range(len(row))]
    if row.ndim > 1:
        items = [copied(part) for part in items]
    return ComputedRow(items, tuple(row.shape), row.dtype)


def transposed(row: Any) -> Any:
    """The dimensions in the opposite order."""
    if row.ndim < 2:
        return row
    shape = tuple(reversed(row.shape))

    def part(taken: tuple[int, ...]) -> Any:
        if len(taken) == len(shape):
            return row[taken[::-1]]
        items = [part((*taken, k)) for k in range(shape[len(taken)])]
        return ComputedRow(items, shape[len(taken) :], row.dtype.loaded)

    return part(())


def is_row(value: Any) -> bool:
    """Whether a value has elements in kernels: an array of at least one dimension, or a computed row."""
    return isinstance(value, Rows) and value.ndim > 0


def each(function: Callable[..., Any], operands: tuple[Any, ...]) -> ComputedRow:
    """The row of ``function`` of the elements. Operands of fewer dimensions are taken for each row of the others.

    Raises `KernelTypeError` for rows of different lengths.
    """
    operands = tuple(_of_one_type(tuple(v)) if isinstance(v, tuple | list) else v for v in operands)
    rank = max(map(_rank, operands))
    lengths = {len(operand) for operand in operands if _rank(operand) == rank}
    if len(lengths) > 1:
        first, second = sorted(lengths)[:2]
        raise KernelTypeError(f"rows of {first} and of {second} elements do not go together",
                              hint="give both the same length")  # fmt: skip
    (length,) = lengths

    def at(place: int) -> Any:
        parts = tuple(operand[place] if _rank(operand) == rank else operand for operand in operands)
        return function(*parts) if rank == 1 else each(function, parts)

    items = [at(place) for place in range(length)]
    sample = items[0] if items else None
    if isinstance(sample, ComputedRow):
        return ComputedRow(items, (length, *sample.shape), sample.dtype)
    dtype = reference.known_dtype(function(*map(_sample, operands)) if sample is None else sample)
    return ComputedRow(items, (length,) if rank == 1 else (length, *_inner(operands, rank)), dtype)


def _of_one_type(numbers: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tuple of numbers as NumPy takes it."""
    dtype = reference.known_dtype(numbers[0])
    for number in numbers[1:]:
        dtype = promote(dtype, reference.known_dtype(number))
    return tuple(reference.cast(number, dtype) for number in numbers)


def _rank(value: Any) -> int:
    return value.ndim if isinstance(value, Rows) else int(isinstance(value, tuple))


def _sample(value: Any) -> Any:
    """A number of the type of the elements."""
    if isinstance(value, Rows):
        return value.dtype.loaded.numpy.type(1)
    return value[0] if isinstance(value, tuple) else value


def _inner(operands: tuple[Any, ...], rank: int) -> tuple[int, ...]:
    return next(operand.shape[1:] for operand in operands if _rank(operand) == rank)


def product(left: Any, right: Any) -> Any:
    """``left @ right`` of rows of one or two dimensions."""
    for value in (left, right):
        if not is_row(value) or value.ndim > 2:
            raise KernelTypeError(f"`@` takes rows of one or two dimensions in kernels, not {value!r}",
                                  hint="write a loop over the rows, or `@` in a @pk.jit program")  # fmt: skip
    if left.ndim == 2:
        return rows_of([product(part, right) for part in left], left, right)
    if right.ndim == 2:
        return rows_of([product(left, part) for part in transposed(right)], left, right)
    dtype = promote(left.dtype.loaded, right.dtype.loaded)
    return reference.cast(_sum_of_products(left, right), dtype)


def rows_of(items: list[Any], *operands: Any) -> ComputedRow:
    """Numbers, or rows of them, of the type of all operands."""
    dtype = operands[0].dtype.loaded
    for operand in operands[1:]:
        dtype = promote(dtype, operand.dtype.loaded)
    shape = items[0].shape if items and isinstance(items[0], ComputedRow) else ()
    return ComputedRow(items, (len(items), *shape), dtype)


def norm(row: Any, axis: Any = None) -> Any:
    """The square root of the sum of the squares."""
    if not is_row(row):
        raise KernelTypeError(
            f"`norm` takes one row in kernels, not {row!r}", hint="write np.linalg.norm(x[i])"
        )
    if axis is not None and row.ndim > 1:
        return _along(norm, row, operator.index(axis) % row.ndim, ())
    dtype = row.dtype.loaded if row.dtype.is_float else f64
    wide = f32 if dtype.bits < 32 else dtype
    row = row if row.dtype.is_float else each(np.float64, (row,))
    return reference.cast(
        reference_mathematics.apply("sqrt", (reference.cast(_sum_of_products(row, row), wide),)), dtype
    )


def _sum_of_products(left: Any, right: Any) -> Any:
    def product(a: Any, b: Any) -> Any:
        if np.asarray(a).dtype.itemsize < 4 and left.dtype.is_float and right.dtype.is_float:
            a, b = np.float32(a), np.float32(b)
        return a * b

    with np.errstate(all="ignore"):
        return _total("sum", each(product, (left, right)))


def reduced(name: str, row: Any, others: tuple[Any, ...] = ()) -> Any:
    """The reduction `name` of all elements of an array of one dimension; `others` are further arguments, all None."""
    axis, *rest = others or (None,)
    if any(value is not None for value in rest):
        raise KernelTypeError(
            f"`{name}` of a row takes one axis, and nothing else, in kernels", hint=f"write x[i].{name}()"
        )
    if axis is not None and not -row.ndim <= axis < row.ndim:
        raise KernelTypeError(f"there is no axis {axis} of {row!r}", hint=f"write x[i].{name}()")
    if axis is not None and row.ndim > 1:
        return _along(lambda line: reduced(name, line), row, operator.index(axis) % row.ndim, ())
    if row.ndim != 1 and name in ("argmax", "argmin"):
        raise KernelTypeError(
            f"`{name}` goes over one dimension, and this is {row!r}",
            hint=f"take a row, as in x[i].{name}(), and write a loop over the rows",
        )
    if name in ("max", "min"):
        found, others = _elements(row)[0], _elements(row)[1:]
        for value in others:
            found = reference.extremum((found, value), f"{name}imum")
        return found
    if name in ("argmax", "argmin"):
        return _place(row, name == "argmax")
    if name in ("any", "all"):
        known = [bool(value != 0) for value in _elements(row)]
        return np.bool_(any(known) if name == "any" else all(known))
    held = row.dtype.loaded
    if name in ("mean", "var", "std"):
        found = _mean(row)
        if name != "mean":
            with np.errstate(all="ignore"):
                found = _mean(each(lambda value: (found - type(found)(value)) ** 2, (row,)))
        if name == "std":
            found = reference_mathematics.apply("sqrt", (found,))
        return held.numpy.type(found) if held.is_float else found
    return _total(name, row)


def _along(reduce: Callable[[Any], Any], row: Any, axis: int, place: tuple[int, ...]) -> Any:
    """The reductions along an axis, of the parts at `place` of the other dimensions."""
    others = [n for d, n in enumerate(row.shape) if d != axis]
    if len(place) == len(others):
        line = [row[(*place[:axis], k, *place[axis:])] for k in range(row.shape[axis])]
        return reduce(ComputedRow(line, (len(line),), row.dtype.loaded))
    items = [_along(reduce, row, axis, (*place, k)) for k in range(others[len(place)])]
    dtype = items[0].dtype if isinstance(items[0], ComputedRow) else reference.known_dtype(items[0])
    return ComputedRow(items, tuple(others[len(place) :]), dtype)


def _elements(row: Any) -> tuple[Any, ...]:
    """Of a row of any dimensions, the last of which runs fastest."""
    return tuple(row[place] for place in np.ndindex(row.shape))


def _mean(row: Any) -> Any:
    """In the type that sums are kept in, or f64."""
    total = _sum("sum", row)
    count = int(np.prod(row.shape))
    with np.errstate(all="ignore"):
        return total / type(total)(count) if row.dtype.loaded.is_float else np.float64(total) / count


def _place(row: Any, is_greatest: bool) -> int:
    best, place = row[0], 0
    for k in range(1, len(row)):
        value = row[k]
        is_better = value > best if is_greatest else value < best
        if is_better or (value != value and best == best):
            best, place = value, k
    return place


def _total(name: str, row: Any) -> Any:
    held = row.dtype.loaded
    total = _sum(name, row)
    return held.numpy.type(total) if held.is_float else total


def _sum(name: str, row: Any) -> Any:
    """In the type that sums are kept in."""
    held = row.dtype.loaded
    kind = (held if held.weak else sum_type(held)).numpy.type
    total = kind(name == "prod")
    for value in _elements(row):
        total = total * kind(value) if name == "prod" else total + kind(value)
    return total
