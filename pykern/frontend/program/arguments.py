"""Arguments of the language's array functions: bound to names, and read as compile-time values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pykern.frontend.call_arguments import PYTHON_DTYPES
from pykern.frontend.program.tensors import Shape, strong
from pykern.frontend.program.tile_lengths import HasLength
from pykern.frontend.program.unknown_values import unknown
from pykern.frontend.program.values import Cell
from pykern.frontend.values import (
    ComplexValue,
    LanguageName,
    NoneValue,
    Scalar,
    Text,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.types import BY_NAME, DType

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def bind(
    t: ProgramTranslator, node: ast.AST, name: str, parameters: str, args: list[Value], keywords: dict
) -> dict[str, Value]:
    """Arguments by name. `parameters` are words; one that ends in ``=`` may be left out and is None then."""
    names = parameters.split()
    plain = [n.removesuffix("=") for n in names]
    if len(args) > len(plain):
        raise t.type_error(node, f"`{name}` takes {len(plain)} arguments, not {len(args)}",
                           f"it takes {', '.join(plain)}")  # fmt: skip
    given = dict(zip(plain, args, strict=False))
    for keyword, value in keywords.items():
        if keyword not in plain or keyword in given:
            raise t.type_error(node, f"`{name}` has no keyword `{keyword}` in array programs",
                               f"it takes {', '.join(plain)}")  # fmt: skip
        given[keyword] = value
    for parameter in names:
        if parameter not in given and not parameter.endswith("="):
            raise t.type_error(node, f"`{name}` needs the argument `{parameter}`",
                               f"it takes {', '.join(plain)}")  # fmt: skip
    return {n: given.get(n, NoneValue()) for n in plain}


def integer(t: ProgramTranslator, node: ast.AST, value: Value, what: str) -> int:
    """A compile-time integer."""
    if isinstance(value, Scalar) and value.is_const and isinstance(value.const, int):
        return int(value.const)
    raise unknown(t, node, [value], f"{what} is an integer known when compiling, not {describe(value)}",
                  "use constants, lengths of arrays, or a pk.static parameter")  # fmt: skip


def integers(t: ProgramTranslator, node: ast.AST, value: Value, what: str) -> tuple[int, ...]:
    """One compile-time integer, or a tuple of them."""
    items = value.items if isinstance(value, TupleValue) else (value,)
    return tuple(integer(t, node, item, what) for item in items)


def flag(t: ProgramTranslator, node: ast.AST, value: Value, what: str) -> bool:
    if isinstance(value, NoneValue):
        return False
    if isinstance(value, Scalar) and value.is_const:
        return bool(value.const)
    raise unknown(t, node, [value], f"{what} is True or False, known when compiling", None)


def shape(t: ProgramTranslator, node: ast.AST, value: Value) -> Shape:
    lengths = lengths_of(t, node, value)
    if any(n < 0 for n in lengths):
        raise t.type_error(node, f"a length is negative in the shape {lengths}")
    return lengths


def lengths_of(t: ProgramTranslator, node: ast.AST, value: Value) -> Shape:
    """The integers of a shape; a tile, or its length, stands for as many as it has."""
    items = value.items if isinstance(value, TupleValue) else (value,)
    return tuple(n.length if isinstance(n, HasLength) else integer(t, node, n, "a shape") for n in items)


def axis(t: ProgramTranslator, node: ast.AST, value: Value, rank: int) -> int:
    """One axis, counted from the end where negative."""
    number = integer(t, node, value, "an axis")
    if not -rank <= number < rank:
        known = f"axes are 0 to {rank - 1}, or from the end -{rank} to -1" if rank > 1 else "its axis is 0"
        raise t.type_error(
            node, f"axis {number} is not one of an array of {rank} dimension{'s' * (rank != 1)}", known
        )
    return number % rank


def axes(t: ProgramTranslator, node: ast.AST, value: Value, rank: int) -> tuple[int, ...]:
    """Axes in order; all where None is given."""
    if isinstance(value, NoneValue):
        return tuple(range(rank))
    items = value.items if isinstance(value, TupleValue) else (value,)
    chosen = [axis(t, node, item, rank) for item in items]
    if len(set(chosen)) != len(chosen):
        raise t.type_error(node, "an axis is given twice")
    return tuple(chosen)


def one_axis(t: ProgramTranslator, node: ast.AST, function: str, value: Value, rank: int) -> int:
    """The one axis that a function goes along."""
    found = axes(t, node, value, rank)
    if len(found) != 1:
        raise t.type_error(
            node, f"`{function}` goes along one axis, not {len(found)}", "give one axis, or none at all"
        )
    return found[0]


def dtype(t: ProgramTranslator, node: ast.AST, value: Value, default: DType) -> DType:
    """A dtype of fixed width; Python's int, float and bool mean NumPy's."""
    if isinstance(value, NoneValue):
        return strong(default)
    if isinstance(value, TypeValue) and value.dtype.kind == "c":
        raise t.type_error(node, "this function makes no complex array", "make a real one: x.astype(complex)")
    if isinstance(value, TypeValue) and not value.dtype.is_storage:
        return strong(value.dtype)
    if isinstance(value, Text) and (known := from_text(value.value)) is not None:
        return known
    if isinstance(value, LanguageName) and value.name in PYTHON_DTYPES:
        return PYTHON_DTYPES[value.name]
    raise t.type_error(
        node, f"a dtype is needed, not {describe(value)}", "write pk.f32, np.float32 or x.dtype"
    )


def from_text(name: str) -> DType | None:
    """The dtype of NumPy's name for it, as in ``x.astype("float32")``."""
    found = (
        d for d in BY_NAME.values() if not d.weak and not d.is_storage and name in (d.name, d.numpy.name)
    )
    return next(found, None)


def array(t: ProgramTranslator, node: ast.AST, value: Value) -> Cell:
    """An array; a number becomes one of rank 0, a tuple or list of numbers and arrays one of them all."""
    if is_sequence(value):
        return t.as_array(node, value)
    if isinstance(value, Cell):
        return value
    if isinstance(value, Scalar):
        return t.as_cell(value)
    hint = "make one array of them: pk.stack((a, b))" if isinstance(value, TupleValue) else None
    raise t.type_error(node, f"an array is needed here, not {describe(value)}", hint)


def is_sequence(value: Value) -> bool:
    """Whether it is a tuple or list that NumPy's functions take as an array."""
    plain = isinstance(value, TupleValue) and not isinstance(value, ComplexValue)
    return plain and bool(value.items) and not value.fields
