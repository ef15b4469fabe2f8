"""What flows through branches and loops of an array program: scalars, and the contents of arrays.

Comes in: values of two paths. Goes out: leaves with one type, their SSA operands, and values made of the
results. The kernel frontend's `merging` does the same for scalars alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Union

from mlir import ir

from pykern.frontend import merging
from pykern.frontend.casts import convert, materialise, mlir_type, zero
from pykern.frontend.program.tensors import extract, fill, from_scalar, strong, tensor_type
from pykern.frontend.program.values import Cell, DictValue, GrowingList, parts
from pykern.frontend.values import Scalar, TupleValue, Value
from pykern.types import DType

Leaf = Union[Scalar, Cell]


@dataclass(frozen=True)
class LeafType:
    """The type a leaf flows in; `shape` is None for a scalar."""

    dtype: DType
    shape: tuple[int, ...] | None = None
    is_scalar: bool = False

    def mlir(self) -> ir.Type:
        return mlir_type(self.dtype) if self.shape is None else tensor_type(self.dtype, self.shape)

    def bind(self, ssa: ir.Value, name: str = "") -> Leaf:
        """A value that flowed in."""
        if self.shape is None:
            return Scalar(self.dtype, ssa)
        return Cell(self.dtype, self.shape, ssa, name, self.is_scalar)


def type_of(leaf: Leaf) -> LeafType:
    if isinstance(leaf, Scalar):
        return LeafType(leaf.dtype)
    return LeafType(leaf.dtype, leaf.shape, leaf.is_scalar)


def unify(a: LeafType, b: LeafType) -> LeafType | None:
    """The type for both, or None: arrays keep dtype and shape, numbers meet in a wider type."""
    if a.shape is None and b.shape is None:
        return LeafType(merging.unify(a.dtype, b.dtype))
    if a.shape == b.shape and a.dtype == b.dtype:
        return LeafType(a.dtype, a.shape, a.is_scalar and b.is_scalar)
    if a.shape in (None, ()) and b.shape in (None, ()) and _is_number(a) and _is_number(b):
        return LeafType(strong(merging.unify(a.dtype, b.dtype)), (), True)
    return None


def _is_number(a: LeafType) -> bool:
    return a.shape is None or a.is_scalar


def operand(leaf: Leaf, to: LeafType, contents: dict[Cell, ir.Value]) -> ir.Value:
    """The SSA value of a leaf in the type it flows in; `contents` is what arrays hold here."""
    if isinstance(leaf, Scalar):
        if to.shape is None:
            return materialise(convert(leaf, to.dtype))
        return from_scalar(convert(leaf, to.dtype), to.dtype)
    ssa = contents.get(leaf, leaf.ssa)
    if ssa is None:  # a path that has left the function: nobody reads it
        return fill(zero(leaf.dtype), leaf.dtype, leaf.shape)
    if leaf.dtype == to.dtype:
        return ssa
    return from_scalar(convert(extract(leaf.dtype, ssa), to.dtype), to.dtype)


def flows(value: Value | None) -> bool:
    """Whether a value is a tree of scalars and arrays."""
    if isinstance(value, TupleValue | DictValue):
        return all(map(flows, parts(value)))
    return isinstance(value, Scalar | Cell)


def leaves(value: Value) -> Iterator[Leaf]:
    if isinstance(value, TupleValue | DictValue):
        for item in parts(value):
            yield from leaves(item)
    else:
        assert isinstance(value, Scalar | Cell)
        yield value


def cells(value: Value | None) -> Iterator[Cell]:
    """The arrays in a value of any kind."""
    if isinstance(value, TupleValue | DictValue):
        for item in parts(value):
            yield from cells(item)
    elif isinstance(value, Cell):
        yield value
    elif isinstance(value, GrowingList):
        yield from (cell for cell, _ in value.seen)


def rebuild(form: Value, given: Iterator[Leaf]) -> Value:
    """A value of the form of `form` with other leaves."""
    if isinstance(form, TupleValue):
        return replace(form, items=tuple(rebuild(item, given) for item in form.items))
    if isinstance(form, DictValue):
        return replace(form, items=tuple((key, rebuild(item, given)) for key, item in form.items))
    return next(given)


def joined(a: Value, b: Value) -> Value:
    """The form of `a`, where paths have met or a loop goes round: a dict may be that of `b` as well."""
    if isinstance(a, TupleValue) and isinstance(b, TupleValue):
        items = tuple(joined(x, y) for x, y in zip(a.items, b.items, strict=True))
        return replace(a, items=items, origins=a.origins | b.origins)
    if isinstance(a, DictValue) and isinstance(b, DictValue):
        pairs = tuple((key, joined(x, y)) for (key, x), (_, y) in zip(a.items, b.items, strict=True))
        return replace(a, items=pairs, origins=a.origins | b.origins)
    return a


def zeros_like(value: Value) -> Value:
    """A value that no path reads."""
    return rebuild(
        value,
        iter(
            [
                zero(leaf.dtype)
                if isinstance(leaf, Scalar)
                else Cell(leaf.dtype, leaf.shape, None, "", leaf.is_scalar)  # type: ignore[arg-type]
                for leaf in leaves(value)
            ]
        ),
    )


def same(a: Value | None, b: Value | None) -> bool:
    """Whether two paths agree without anything in the IR, and on which dicts and lists there are."""
    return same_contents(a, b) and same_origins(a, b)


def same_contents(a: Value | None, b: Value | None) -> bool:
    """Whether two paths agree on values."""
    if isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return len(a.items) == len(b.items) and all(map(same_contents, a.items, b.items))
    if isinstance(a, DictValue) and isinstance(b, DictValue):
        pairs = zip(a.items, b.items, strict=False)
        return len(a.items) == len(b.items) and all(
            x[0] == y[0] and same_contents(x[1], y[1]) for x, y in pairs
        )
    if isinstance(a, Cell) or isinstance(b, Cell):
        return a is b
    return merging.same(a, b)


def same_origins(a: Value | None, b: Value | None) -> bool:
    """Whether the dicts and lists in two values of one form may be the same ones."""
    if isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return a.origins == b.origins and all(map(same_origins, a.items, b.items))
    if isinstance(a, DictValue) and isinstance(b, DictValue):
        pairs = zip(a.items, b.items, strict=True)
        return a.origins == b.origins and all(same_origins(x, y) for (_, x), (_, y) in pairs)
    return True


def common_types(a: Value, b: Value) -> list[LeafType] | None:
    """The types in which two values of one form meet, leaf by leaf; None where the forms differ."""
    if isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return _of_items(a.items, b.items)
    if isinstance(a, DictValue) and isinstance(b, DictValue):
        if [key for key, _ in a.items] != [key for key, _ in b.items]:
            return None
        return _of_items(tuple(v for _, v in a.items), tuple(v for _, v in b.items))
    if not isinstance(a, Scalar | Cell) or not isinstance(b, Scalar | Cell):
        return None
    met = unify(type_of(a), type_of(b))
    return None if met is None else [met]


def _of_items(a: tuple[Value, ...], b: tuple[Value, ...]) -> list[LeafType] | None:
    if len(a) != len(b):
        return None
    types: list[LeafType] = []
    for x, y in zip(a, b, strict=True):
        met = common_types(x, y)
        if met is None:
            return None
        types += met
    return types
