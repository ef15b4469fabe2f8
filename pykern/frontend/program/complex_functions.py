"""Functions and methods of arrays on complex ones: by their parts.

Comes in: the name of a function, and values some of which are complex. Goes out: pairs, and real arrays. What moves or
adds elements is done to both parts, and products are sums of products of parts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pykern.data.operator_functions import ARITHMETIC, COMPARISONS
from pykern.frontend.complex_numbers import (
    FUNCTIONS,
    NAMES,
    Calculator,
    constant_pair,
    pair,
)
from pykern.frontend.program import elementwise, shaping
from pykern.frontend.program.summaries import of_singular_values
from pykern.frontend.program.tensors import Extent, extract_slice
from pykern.frontend.program.values import Cell
from pykern.frontend.values import (
    ComplexValue,
    NoneValue,
    Scalar,
    TupleValue,
    TypeValue,
    Value,
)
from pykern.types import weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

from pykern.frontend.program.complex_arrays import (
    ComplexMethod,
    cast,
    computed,
    dtype_of,
    each,
    holds_complex,
    of_real,
    wanted_type,
    zeros,
)
from pykern.frontend.program.complex_systems import SYSTEMS, solved

_BOTH = {
    "transpose", "swapaxes", "reshape", "ravel", "expand_dims", "squeeze", "broadcast_to", "flip", "concatenate",
    "stack", "roll", "take", "repeat", "numpy.tile", "moveaxis", "rot90", "fliplr", "flipud", "atleast_1d",
    "atleast_2d", "hstack", "vstack", "dstack", "column_stack", "split", "array_split", "hsplit", "vsplit", "diagonal",
    "diag",
    "triu", "tril", "flatten", "copy", "sum", "mean", "cumsum", "trace", "diff", "numpy.array", "numpy.asarray",
    "stop_gradient",
}  # fmt: skip
"""Functions that move or add elements: done to both parts."""
_PRODUCTS = {"dot", "matmul", "outer", "inner", "vdot", "tensordot", "kron", "einsum"}
_LIKE = {"zeros_like", "ones_like", "empty_like", "full_like"}
_MAKERS = {"zeros", "ones", "empty", "full", "eye", "numpy.array", "numpy.asarray", *_LIKE}
_OPERATORS = ARITHMETIC | COMPARISONS | {"pow": "**"}
_ANY = {"any", "all", "count_nonzero"}
_FROM_PARTS = {"len", "size", "shape", "ndim"}
_STRUCTURES = {"enumerate", "zip", "reversed", "unroll", "dict", "list", "tuple", "isinstance"}
"""Functions of tuples, which may hold complex values."""


# -- functions --------------------------------------------------------------------------------------


def concerns(name: str, args: list[Value], keywords: dict[str, Value]) -> bool:
    """Whether a call has to do with complex numbers."""
    given = (*args, *keywords.values())
    if name in _STRUCTURES:
        return False
    return name in NAMES or any(holds_complex(v) or wanted_type(v) is not None for v in given)


def apply(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """A function of the language on values some of which are complex."""
    if name in _MAKERS and (made := _made(t, node, name, args, keywords)) is not None:
        return made
    first = args[0] if args else NoneValue()
    if name in NAMES and len(args) == 1 and not isinstance(first, ComplexValue):
        if name == "conj" or (name == "real" and isinstance(first, Cell | Scalar)):
            return first
        if name == "imag" and isinstance(first, Cell):
            return of_real(name, first)
        first = each(t, node, [first], lambda numbers: Calculator(t.fastmath).pairs(numbers[0])[0])
        return first.real if name == "real" else computed(t, node, name, first)  # type: ignore[union-attr]
    if name in ("cast",) and len(args) == 2 and (dtype := wanted_type(args[1])) is not None:
        return cast(t, node, first, dtype)
    if name in _FROM_PARTS and isinstance(first, ComplexValue):
        return t.called_with_name(node, name, [first.real], keywords)
    if name in _ANY and isinstance(first, ComplexValue):
        return t.called_with_name(
            node, name, [computed(t, node, "!=", first, constant_pair(0j)), *args[1:]], keywords
        )
    if name == "norm" and isinstance(first, ComplexValue):
        size = computed(t, node, "abs", first)
        assert isinstance(size, Cell)
        if of_singular_values(t, node, [size, *args[1:]], keywords):
            raise t.type_error(node, "the singular values of a complex matrix are not available in array programs",
                               "give `ord` as 'fro', 1, -1, np.inf or -np.inf")  # fmt: skip
        return t.called_with_name(node, name, [size, *args[1:]], keywords)
    if name in FUNCTIONS and len(args) == 1 and not keywords and isinstance(first, ComplexValue):
        return computed(t, node, name, first)
    if name in _OPERATORS and len(args) == 2 and not keywords:
        return computed(t, node, _OPERATORS[name], *args)
    if name == "where" and len(args) == 3 and not keywords:
        return computed(t, node, name, *args)
    if name in _BOTH:
        if any(isinstance(v, TypeValue) and wanted_type(v) is None for v in keywords.values()):
            raise t.type_error(node, f"`{name}` of complex values is complex, and another `dtype` is asked for",
                               "take z.real first, or leave `dtype` out")  # fmt: skip
        return _joined(
            *(t.called_with_name(node, name, _parts_of(t, args, k), _named(t, keywords, k)) for k in (0, 1))
        )
    if name in _PRODUCTS:
        return _product(t, node, name, args, keywords)
    if name == "prod" and isinstance(first, ComplexValue) and len(args) == 1 and not keywords:
        return _all_multiplied(t, node, first)
    if name in SYSTEMS and len(args) == (2 if name == "linalg.solve" else 1) and not keywords:
        return solved(t, node, name, args)
    raise t.type_error(node, f"`{name}` is not available of complex values in array programs",
                       "write it with z.real and z.imag")  # fmt: skip


def method(t: ProgramTranslator, node: ast.Call, bound: ComplexMethod, args: list, keywords: dict) -> Value:
    """``z.sum(axis=0)``: the function with `z` first."""
    value, name = bound.value, {"conjugate": "conj"}.get(bound.name, bound.name)
    if name == "astype":
        given = [*args, *keywords.values()]
        if len(given) == 1 and (dtype := wanted_type(given[0])) is not None:
            return cast(t, node, value, dtype)
        raise t.type_error(node, "a complex array becomes no real one", "write z.real, z.imag or abs(z)")
    if name == "item" and not args:
        return pair(
            *(t.as_scalar(node, shaping.reshaped(t, node, p, ())) for p in value.items if isinstance(p, Cell))
        )
    if name == "fill" and len(args) == 1:
        given = args[0].items if isinstance(args[0], ComplexValue) else (args[0], Scalar(weak_int, const=0))
        for part, new in zip(value.items, given, strict=True):
            assert isinstance(part, Cell)
            t.write(node, part, elementwise.broadcast_to(t, node, new, part.dtype, part.shape).ssa)
        return NoneValue()
    if name in ("copy", "flatten"):
        halves = [Cell(p.dtype, p.shape, p.ssa) for p in value.items if isinstance(p, Cell)]
        return pair(*(shaping.reshaped(t, node, h, (-1,)) if name == "flatten" else h for h in halves))
    return apply(t, node, name, [value, *args], keywords)


def _joined(real: Value, imag: Value) -> Value:
    """The value of both parts; of tuples of arrays item by item."""
    if isinstance(real, TupleValue) and isinstance(imag, TupleValue):
        return TupleValue(tuple(map(_joined, real.items, imag.items)), real.name, real.fields)
    return pair(real, imag)


def _parts_of(t: ProgramTranslator, args: list[Value], k: int) -> list[Value]:
    """Part k of the complex arguments. In a tuple with complex items the imaginary parts of real ones are 0."""
    return [_part_of(t, a, k, inside=False) if holds_complex(a) else a for a in args]


def _named(t: ProgramTranslator, keywords: dict[str, Value], k: int) -> dict[str, Value]:
    real = {n: TypeValue(d.part) if (d := wanted_type(v)) is not None else v for n, v in keywords.items()}
    found = dict(zip(real, _parts_of(t, list(real.values()), k), strict=True))
    if "initial" in found:  # the imaginary part of a real one is 0
        found["initial"] = _part_of(t, real["initial"], k)
    return found


def _part_of(t: ProgramTranslator, value: Value, k: int, inside: bool = True) -> Value:
    if isinstance(value, ComplexValue):
        return value.items[k]
    if isinstance(value, TupleValue):
        made = tuple(_part_of(t, item, k) for item in value.items)
        return TupleValue(made, value.name, value.fields)
    if k == 0 or not inside:
        return value
    return zeros(value) if isinstance(value, Cell) else Scalar(weak_int, const=0)


def _made(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value | None:
    """A new array of a complex type that is named, or that of the array it is like; None where there is none."""
    named = {"dtype": keywords["dtype"]} if "dtype" in keywords else {}
    dtype = next((d for v in (*args, *named.values()) if (d := wanted_type(v)) is not None), None)
    like = name in _LIKE and args and isinstance(args[0], ComplexValue)
    if dtype is None and like and not named:
        assert isinstance(args[0], ComplexValue)
        dtype = dtype_of(args[0])
        keywords = {**keywords, "dtype": TypeValue(dtype)}
    if dtype is None and name == "full":
        made = each(t, node, [args[1]], lambda numbers: numbers[0])
        dtype = dtype_of(made) if isinstance(made, ComplexValue) else None
        keywords = {**keywords, "dtype": TypeValue(dtype)} if dtype is not None else keywords
    if dtype is None:
        return None
    real = [TypeValue(dtype.part) if wanted_type(a) is not None else a for a in args]
    named = {n: TypeValue(dtype.part) if wanted_type(v) is not None else v for n, v in keywords.items()}
    first = t.called_with_name(node, name, _parts_of(t, real, 0), named)
    holds = (
        real[1:] if name == "full_like" else real if name in ("full", "numpy.array", "numpy.asarray") else ()
    )
    if any(map(holds_complex, holds)):
        return pair(first, t.called_with_name(node, name, _parts_of(t, real, 1), named))
    assert isinstance(first, Cell)
    return pair(first, zeros(first))


def _product(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """The sum of the products of parts: i to the number of imaginary factors before each."""
    factors = [n for n, a in enumerate(args) if isinstance(a, ComplexValue)]
    if any(map(holds_complex, keywords.values())):
        raise t.type_error(node, f"`{name}` takes its arrays by their places here", "leave their names out")
    if name == "vdot" and factors[:1] == [0]:
        args = [computed(t, node, "conj", args[0]), *args[1:]]
    sums: list[Value | None] = [None, None]
    for choice in _choices(len(factors)):
        given = list(args)
        for place, k in zip(factors, choice, strict=True):
            given[place] = args[place].items[k]  # type: ignore[union-attr]
        made = t.called_with_name(node, name, given, keywords)
        turns, before = sum(choice), sums[sum(choice) % 2]
        op = ast.Sub() if turns & 2 else ast.Add()
        sums[turns % 2] = made if before is None else t.binary(node, op, before, made)
    assert sums[0] is not None and sums[1] is not None
    return pair(*sums)  # type: ignore[arg-type]


def _choices(count: int) -> Iterator[tuple[int, ...]]:
    """Every choice of real (0) and imaginary (1) parts of so many factors."""
    for number in range(1 << count):
        yield tuple(number >> place & 1 for place in range(count))


def _all_multiplied(t: ProgramTranslator, node: ast.Call, value: ComplexValue) -> Value:
    """The product of all elements, half with half."""
    flat = [shaping.reshaped(t, node, p, (-1,)) for p in value.items if isinstance(p, Cell)]
    length = flat[0].shape[0]
    found: Value = constant_pair(1 + 0j, flat[0].dtype)
    while length:
        if length % 2:
            found = computed(t, node, "*", found, pair(*(_slice(c, length - 1, 1, kept=False) for c in flat)))
        length //= 2
        if not length:
            break
        halves = [pair(*(_slice(c, first, length) for c in flat)) for first in (0, length)]
        made = computed(t, node, "*", *halves)
        assert isinstance(made, ComplexValue)
        flat = [c for c in made.items if isinstance(c, Cell)]
    return found


def _slice(cell: Cell, first: int, count: int, kept: bool = True) -> Cell:
    ssa = extract_slice(cell.ssa, cell.dtype, [Extent(first, count, kept=kept)])
    return Cell(cell.dtype, (count,) if kept else (), ssa, is_scalar=not kept)
