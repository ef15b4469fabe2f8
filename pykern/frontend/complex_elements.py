"""Complex numbers in kernels: elements of complex arrays, operators and functions of numbers.

Comes in: a subscript or a call, and pairs. Goes out: loads and stores of both parts, and pairs. A complex array is the
real array of its parts, with one more dimension of length 2.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from pykern.errors import INDICES
from pykern.frontend.casts import convert, materialise
from pykern.frontend.complex_numbers import FUNCTIONS, Calculator, Number, complex_type_of, pair
from pykern.frontend.values import (
    Array,
    ComplexValue,
    Extension,
    Scalar,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.types import DType, weak_int

if TYPE_CHECKING:
    from pykern.frontend.elements import Elements
    from pykern.frontend.translation import Translation


@dataclass(frozen=True)
class ComplexArray(Extension):
    """A complex array of a kernel; `parts` is the memory of its parts."""

    parts: Array

    @property
    def rank(self) -> int:
        return len(self.parts.shape) - 1

    @property
    def description(self) -> str:
        return f"the complex array `{self.parts.name}`"


def bind(*given: Value) -> Value:
    """The value of a parameter: two numbers, or the array of the parts."""
    if len(given) == 2:
        return pair(*given)
    assert isinstance(given[0], Array)
    return ComplexArray(given[0])


# -- memory -----------------------------------------------------------------------------------------


def load(t: Elements, node: ast.Subscript, array: ComplexArray) -> ComplexValue:
    """``z[i]``."""
    return _loaded(t, node, array, _places(t, node, array))


def store(t: Elements, node: ast.Subscript, array: ComplexArray, value: Value) -> None:
    """``z[i] = value``."""
    _store(t, node, array, _places(t, node, array), value)


def update(t: Elements, node: ast.Subscript, array: ComplexArray, make: Callable[[Value], Value]) -> None:
    """``z[i] += value``."""
    places = _places(t, node, array)
    _store(t, node, array, places, make(_loaded(t, node, array, places)))


def _loaded(
    t: Elements, node: ast.Subscript, array: ComplexArray, places: list[list[ir.Value]]
) -> ComplexValue:
    return pair(*(t.load(node, array.parts, place) for place in places))


def _store(
    t: Elements, node: ast.Subscript, array: ComplexArray, places: list[list[ir.Value]], value: Value
) -> None:
    number = value.items if isinstance(value, ComplexValue) else (value, Scalar(weak_int, const=0))
    for place, part in zip(places, number, strict=True):
        t.store(node, array.parts, place, part)


def _places(t: Elements, node: ast.Subscript, array: ComplexArray) -> list[list[ir.Value]]:
    """The indices of both parts of an element."""
    _, indices = t.subscript(node, array.parts)
    if len(indices) != array.rank:
        raise t.type_error(node, f"{array.description} has {array.rank} dimensions, and {len(indices)} are indexed",
                           "kernels read and write single elements of complex arrays", INDICES)  # fmt: skip
    return [[*indices, materialise(convert(Scalar(weak_int, const=k), weak_int))] for k in range(2)]


def attribute(t: Elements, node: ast.Attribute, array: ComplexArray) -> Value:
    shape = t.array_attribute(ast.copy_location(ast.Attribute(node.value, "shape"), node), array.parts)
    assert isinstance(shape, TupleValue)
    if node.attr == "shape":
        return TupleValue(shape.items[:-1])
    if node.attr == "ndim":
        return Scalar(weak_int, const=array.rank)
    if node.attr == "dtype":
        return TypeValue(complex_type_of(array.parts.dtype))
    hint = (
        f"write {array.parts.name}[i].{node.attr}"
        if node.attr in ("real", "imag")
        else "there are shape, ndim, dtype"
    )
    raise t.type_error(node, f"{array.description} has no attribute `{node.attr}` in kernels", hint)


# -- numbers ----------------------------------------------------------------------------------------


def computed(
    t: Translation, node: ast.AST, function: Callable[[Calculator, list[Number]], Number], *given: Value
) -> Value:
    """A function of numbers, some of which are complex."""
    numbers: list[Number] = []
    for value in given:
        if isinstance(value, ComplexValue):
            numbers.append((t.as_scalar(node, value.real), t.as_scalar(node, value.imag)))
        else:
            numbers.append(t.as_scalar(node, value))
    with t.operands_of(node):
        made = function(Calculator(t.fastmath), numbers)
    return pair(*made) if isinstance(made, tuple) else made


def operator(t: Translation, node: ast.AST, symbol: str, *operands: Value) -> Value:
    """An operator of which an operand is complex."""
    return computed(t, node, lambda c, n: c.operator(symbol, *n), *operands)


def cast(t: Translation, node: ast.AST, values: Sequence[Value], dtype: DType) -> Value:
    """``complex(x, y)``, ``np.complex64(z)``."""
    if len(values) == 1:
        return computed(t, node, lambda c, n: c.converted(n[0], dtype.part), *values)
    if len(values) != 2 or any(isinstance(v, ComplexValue) for v in values):
        raise t.type_error(
            node, "a complex number is made of one number, or of two real ones", "write complex(x, y)"
        )
    parts = [t.as_scalar(node, v) for v in values]
    return pair(*(convert(part, dtype.part) for part in parts))


def call(t: Translation, node: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
    """A function of numbers, some of which are complex."""
    if name == "where" and len(args) == 3 and not keywords:
        return computed(t, node, Calculator.where, *args)
    if name == "pow" and len(args) == 2 and not keywords:
        return operator(t, node, "**", *args)
    if name in FUNCTIONS and len(args) == 1 and not keywords:
        return computed(t, node, lambda c, n: c.function(name, *c.pairs(n[0])), *args)
    raise t.type_error(node, f"`{name}` is not available of {describe(args[0]) if args else 'complex numbers'}",
                       f"there are {', '.join(sorted(FUNCTIONS))}, where and pow")  # fmt: skip
