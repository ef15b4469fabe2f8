"""Complex arrays in programs: pairs of real arrays.

Comes in: parameters, values, attributes, parts to be written. Goes out: pairs, and the interleaved arrays that a
program returns. What is computed of each element is in `complex_numbers`; `complex_functions` are of whole arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlir import ir

from pykern.data.operator_functions import ARITHMETIC, COMPARISONS
from pykern.frontend.arithmetic import truth
from pykern.frontend.complex_numbers import (
    Calculator,
    Number,
    complex_type_of,
    constant_pair,
    pair,
)
from pykern.frontend.program import elementwise, indexing, shaping
from pykern.frontend.program.aliasing import check_fresh, current
from pykern.frontend.program.selections import Selection, is_same
from pykern.frontend.program.tensors import Extent, extract_slice, fill
from pykern.frontend.program.values import Cell, DictValue, parts
from pykern.frontend.values import (
    ComplexValue,
    Extension,
    Scalar,
    Text,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.types import COMPLEX, DType, bool_, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_SYMBOLS = {*ARITHMETIC.values(), *COMPARISONS.values(), "**", "~"}
METHODS = {
    "sum", "mean", "cumsum", "prod", "any", "all", "dot", "transpose", "swapaxes", "reshape", "ravel", "squeeze",
    "flatten", "copy", "repeat", "take", "diagonal", "trace", "conj", "conjugate", "astype", "item", "fill",
}  # fmt: skip


@dataclass(frozen=True)
class ComplexMethod(Extension):
    """``z.sum`` before it is called."""

    value: ComplexValue
    name: str

    @property
    def description(self) -> str:
        return f"the method `{self.name}` of {describe(self.value)}"


# -- arguments and results --------------------------------------------------------------------------


def bind(*given: Value) -> ComplexValue:
    """The value of a parameter: two numbers, or the array of the parts."""
    if len(given) == 2:
        return pair(*given)
    [whole] = given
    assert isinstance(whole, Cell)
    return pair(*(_part(whole, k) for k in range(2)))


def _part(whole: Cell, k: int) -> Cell:
    shape = whole.shape[:-1]
    ssa = extract_slice(whole.ssa, whole.dtype, [*(Extent(0, n) for n in shape), Extent(k, 1, kept=False)])
    return Cell(whole.dtype, shape, ssa, whole.name, parameter=whole.parameter, writes=whole.writes)


def interleaved(t: ProgramTranslator, node: ast.AST, real: Cell, imag: Cell) -> Cell:
    """Both parts in one array, side by side."""
    return shaping.stacked(t, node, TupleValue((real, imag)), Scalar(weak_int, const=-1))


def whole(t: ProgramTranslator, written: list[Cell], given: list[Cell]) -> list[Cell]:
    """The arrays of the caller that were written; of a complex one both parts, put together."""
    numbers = [cell.parameter for cell in given]
    found: dict[int | None, Cell] = {}
    for cell in written:
        if numbers.count(cell.parameter) == 1:
            found[cell.parameter] = cell
        elif cell.parameter not in found:
            real, imag = (other for other in given if other.parameter == cell.parameter)
            made = interleaved(t, t.frame.function.node, real, imag)
            made.parameter = cell.parameter
            found[cell.parameter] = made
    return list(found.values())


def result(t: ProgramTranslator, node: ast.AST, value: ComplexValue, results: list[ir.Value]) -> Any:
    """The form of a returned complex value."""
    kind = "array" if is_array(value) else "number"
    kind = "python" if isinstance(value.real, Scalar) and value.real.dtype.weak else kind
    real, imag = (t.as_cell(part) if isinstance(part, Scalar) else current(part) for part in value.items)
    assert isinstance(real, Cell) and isinstance(imag, Cell)
    for part in (real, imag):
        check_fresh(t, node, part)
    results.append(interleaved(t, node, real, imag).ssa)
    return {"array": len(results) - 1, "dtype": real.dtype.name, "complex": kind}


def is_array(value: ComplexValue) -> bool:
    return isinstance(value.real, Cell) and not value.real.is_scalar


# -- what is asked ----------------------------------------------------------------------------------


def holds_complex(value: Value) -> bool:
    if isinstance(value, ComplexValue):
        return True
    return isinstance(value, TupleValue | DictValue) and any(map(holds_complex, parts(value)))


def wanted_type(value: Value | None) -> DType | None:
    """The complex type that an argument `dtype` names."""
    if isinstance(value, TypeValue) and value.dtype.kind == "c":
        return value.dtype
    names = {f"complex{dtype.bits}": dtype for dtype in COMPLEX.values()}
    return names.get(value.value) if isinstance(value, Text) else None


def dtype_of(value: ComplexValue) -> DType:
    part = value.real.cell if isinstance(value.real, Selection) else value.real
    assert isinstance(part, Cell | Scalar)
    return complex_type_of(part.dtype)


def condition(t: ProgramTranslator, node: ast.AST, value: ComplexValue) -> Scalar:
    """Whether a number is other than 0."""
    differs = computed(t, node, "!=", value, constant_pair(0j))
    if isinstance(differs, Cell) and differs.shape:
        raise t.type_error(
            node, "the truth of a complex array is not one value", "write pk.any(z) or pk.all(z)"
        )
    return truth(t.as_scalar(node, differs))


def attribute(t: ProgramTranslator, node: ast.Attribute, value: ComplexValue) -> Value:
    if node.attr in value.fields:
        return value.items[value.fields.index(node.attr)]
    if node.attr == "dtype":
        return TypeValue(dtype_of(value))
    if node.attr == "T" and isinstance(value.real, Cell):
        return pair(*(t.cell_attribute(node, part) for part in value.items if isinstance(part, Cell)))
    if node.attr in ("shape", "ndim", "size") and isinstance(value.real, Cell):
        return t.cell_attribute(node, value.real)
    if node.attr in METHODS:
        return ComplexMethod(value, node.attr)
    raise t.type_error(node, f"{describe(value)} has no attribute `{node.attr}` in array programs",
                       f"there are real, imag, shape, dtype, ndim, size, T, {', '.join(sorted(METHODS))}")  # fmt: skip


def of_real(name: str, cell: Cell) -> Cell:
    """``x.real`` and ``x.imag`` of a real array."""
    return cell if name == "real" else zeros(cell)


def items(t: ProgramTranslator, node: ast.AST, value: ComplexValue) -> list[Value]:
    """The rows of an array."""
    return [pair(*row) for row in zip(*(t.items(node, part) for part in value.items), strict=True)]


# -- elements ---------------------------------------------------------------------------------------


def computed(t: ProgramTranslator, node: ast.AST, name: str, *operands: Value) -> Value:
    """An operator or a function of each element."""
    calculator = Calculator(t.fastmath)

    def function(numbers: list[Number]) -> Number:
        if name == "where":
            return calculator.where(numbers)
        if name in _SYMBOLS:
            return calculator.operator(name, *numbers)
        assert isinstance(numbers[0], tuple)
        return calculator.function(name, numbers[0])

    return each(t, node, operands, function)


def each(t: ProgramTranslator, node: ast.AST, operands: Sequence[Value], function: Any) -> Value:
    """A function of numbers, real or complex, on every element."""
    flat = [part for o in operands for part in (o.items if isinstance(o, ComplexValue) else (o,))]
    masks = [part.mask for part in flat if isinstance(part, Selection)]
    if any(not is_same(mask.ssa, masks[0].ssa) for mask in masks):
        raise t.type_error(node, "the elements that two masks select are put together",
                           "select by one mask, or choose from whole arrays with pk.where")  # fmt: skip

    def grouped(elements: list[Scalar]) -> Scalar | tuple[Scalar, ...]:
        given = iter(elements)
        numbers = [
            (next(given), next(given)) if isinstance(o, ComplexValue) else next(given) for o in operands
        ]
        return function(numbers)

    made = elementwise.apply(t, node, [p.cell if isinstance(p, Selection) else p for p in flat], grouped)
    results = list(made.items) if isinstance(made, TupleValue) else [made]
    if masks:
        results = [Selection(cell, masks[0]) for cell in results if isinstance(cell, Cell)]
    return pair(*results) if len(results) == 2 else results[0]


def cast(t: ProgramTranslator, node: ast.AST, value: Value, dtype: DType) -> Value:
    """A complex value of a complex type."""
    calculator = Calculator(t.fastmath)
    return each(t, node, [value], lambda numbers: calculator.converted(numbers[0], dtype.part))


# -- writes -----------------------------------------------------------------------------------------


def write(t: ProgramTranslator, target: ast.Subscript, base: ComplexValue, value: Value) -> None:
    """``z[part] = value``."""
    given = value.items if isinstance(value, ComplexValue) else (value, Scalar(weak_int, const=0))
    for part, new in zip(base.items, given, strict=True):
        if not isinstance(part, Cell):
            raise t.type_error(target, f"{describe(base)} cannot be written in parts", "write an array")
        indexing.write(t, target, part, new)


def update(t: ProgramTranslator, node: ast.AugAssign, held: ComplexValue, new: Value) -> None:
    """``z *= value`` of an array."""
    assert isinstance(new, ComplexValue)
    pairs = [(o, n) for o, n in zip(held.items, new.items, strict=True) if isinstance(o, Cell)]
    made = [(old, elementwise.in_type_of(t, node, old, part, old.shape).ssa) for old, part in pairs]
    for old, ssa in made:
        t.write(node, old, ssa)


def zeros(like: Cell) -> Cell:
    """Zeros of the shape and type of an array."""
    zero = Scalar(like.dtype, const=like.dtype != bool_ and 0)
    return Cell(like.dtype, like.shape, fill(zero, like.dtype, like.shape), is_scalar=like.is_scalar)
