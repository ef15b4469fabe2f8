"""Calls of the language's names and of arrays' methods in an array program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykern.data.operator_functions import UNARY
from pykern.data.promotion import sum_type
from pykern.dialect.differentiation import StopGradientOp
from pykern.frontend import complex_numbers, language_ops, mathematics, philox, unrolling
from pykern.frontend.advice import instead_in_program
from pykern.frontend.casts import convert, materialise
from pykern.frontend.program import (
    arguments,
    atomics,
    complex_arrays,
    complex_functions,
    contractions,
    derivative_calls,
    diagonals,
    einsum,
    elementwise,
    factorizations,
    fourier,
    gradients,
    linear_algebra,
    new_arrays,
    numerics,
    operators,
    outputs,
    padding,
    rearranging,
    reductions,
    scans,
    selections,
    shaping,
    sorting,
    stacking,
    structures,
    summaries,
    tiles,
    ufunc_methods,
    windows,
)
from pykern.frontend.program.selections import Selection
from pykern.frontend.program.unknown_values import unknown
from pykern.frontend.program.values import BoundMethod, Cell, DictValue, parts
from pykern.frontend.values import (
    LanguageName,
    NoneValue,
    RangeValue,
    Scalar,
    TupleValue,
    Value,
    describe,
)
from pykern.types import BY_NAME, bool_, f32, weak_int

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

METHODS = {
    *reductions.NAMES, *scans.NAMES, "dot", "transpose", "swapaxes", "reshape", "ravel", "squeeze", "copy",
    "flatten", "astype", "item", "clip", "round", "fill", "repeat", "take", "diagonal", "trace", "argsort",
    "sort", "partition", "argpartition",
}  # fmt: skip
_COUNTS = ("popcount", "clz", "numpy.bitwise_count")


def known_names() -> list[str]:
    """The functions that array programs know."""
    tables = (
        reductions.NAMES,
        scans.NAMES,
        contractions.NAMES,
        HANDLERS,
        mathematics.NAMES,
        complex_numbers.NAMES,
    )
    of_numpy = {"norm", "size", "shape", "ndim", *operators.HANDLERS, *UNARY}  # by its own names alone
    names = {name for table in tables for name in table if "." not in name and name not in of_numpy}
    return sorted(names | {"range", "min", "max"})


def call(t: ProgramTranslator, node: ast.Call, name: str) -> Value:
    """The value of ``name(...)``."""
    if name in ("range", "loop_range"):
        return _range(t, node, name)
    args, keywords = t.arguments(node)
    return apply(t, node, name, args, keywords)


def apply(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """A name of the language on values."""
    args, keywords = outputs.named(name, args, keywords)
    if "where" in keywords and name not in (*reductions.NAMES, *scans.NAMES):
        return _masked(t, node, name, args, dict(keywords))
    if "out" in keywords and name not in structures.NAMES:
        found = apply(t, node, name, args, {k: v for k, v in keywords.items() if k != "out"})
        return outputs.written(t, node, found, keywords["out"])
    if complex_functions.concerns(name.removeprefix(_OF_PYTHON), args, keywords):
        return complex_functions.apply(t, node, name.removeprefix(_OF_PYTHON), args, keywords)
    if any(isinstance(a, Selection) for a in args):
        return selections.call(t, node, name.removeprefix(_OF_PYTHON), args, keywords)
    if name.startswith(_OF_PYTHON):
        name = name.removeprefix(_OF_PYTHON)
        _check_python(t, node, name, args)
    elif name in (*reductions.NAMES, *scans.NAMES, "min", "max"):
        args = [_stacked(t, node, name, value) for value in args[:1]] + args[1:]
    if name in ("min", "max"):
        return _extremum(t, node, name, args, keywords)
    if name in reductions.NAMES:
        if name == "sum" and len(args) == 1 and isinstance(args[0], TupleValue):
            return _python_sum(t, node, args[0].items)
        return reductions.call(t, node, name, args, keywords)
    if name in scans.NAMES:
        return scans.call(t, node, name, args, keywords)
    if name in contractions.NAMES:
        return contractions.call(t, node, name, args, keywords)
    if name in structures.NAMES:
        return structures.call(t, node, name, args, keywords)
    if name in gradients.NAMES:
        return gradients.make(t, node, name, args, keywords)
    if name in derivative_calls.HANDLERS:
        return derivative_calls.HANDLERS[name](t, node, args, keywords)
    if name in HANDLERS:
        return HANDLERS[name](t, node, args, keywords)
    if name in mathematics.NAMES or name in mathematics.OF_NUMPY:
        return _mathematics(t, node, name, args, keywords)
    if name in language_ops.CASTS:
        return _python_cast(t, node, name, args)
    hint = (
        instead_in_program(name) or "write a kernel for what one work-item does, and call it with an ndrange"
    )
    if name in language_ops.POSITIONS:
        hint = "this is for kernels: write @pk.kernel above the function, not @pk.jit, and launch it with ndrange=n"
    if name == "print":
        hint = 'return the value; or run the program as Python, where it prints: with pk.device("python")'
    raise t.syntax_error(node, f"`{name}` is not available in array programs", hint)


def method(t: ProgramTranslator, node: ast.Call, bound: BoundMethod, args: list, keywords: dict) -> Value:
    """``x.sum(axis=0)``: the function with `x` first."""
    cell = bound.cell
    if bound.name in ("flatten", "copy"):
        flat = bound.name == "flatten"
        copied = Cell(cell.dtype, cell.shape, cell.ssa)
        return shaping.reshaped(t, node, copied, (-1,)) if flat else copied
    if bound.name == "astype":
        given = arguments.bind(t, node, "astype", "dtype", args, keywords)
        if (dtype := complex_arrays.wanted_type(given["dtype"])) is not None:
            return complex_arrays.cast(t, node, cell, dtype)
        return elementwise.cast(t, node, cell, arguments.dtype(t, node, given["dtype"], cell.dtype))
    if bound.name == "item":
        if cell.size != 1:
            raise t.type_error(node, f"{cell.description} has {cell.size} elements, and `item` is of one",
                               "index it, as in x[0, 0]")  # fmt: skip
        return t.as_scalar(node, shaping.reshaped(t, node, cell, ()))
    if bound.name == "fill":
        given = arguments.bind(t, node, "fill", "value", args, keywords)
        t.write(node, cell, elementwise.broadcast_to(t, node, given["value"], cell.dtype, cell.shape).ssa)
        return NoneValue()
    name = {"clip": "clamp"}.get(bound.name, bound.name)
    found = apply(t, node, name, [cell, *args], keywords)
    if name not in ("sort", "partition"):
        return found
    t.write(node, cell, arguments.array(t, node, found).ssa)  # in place, as NumPy's methods
    return NoneValue()


def _range(t: ProgramTranslator, node: ast.Call, name: str) -> Value:
    """``range`` of known bounds is unrolled, but for some long ones; ``pk.range`` never is."""
    made = t.range_value(node)
    known = all(b.is_const for b in (made.start, made.stop, made.step))
    return RangeValue(made.start, made.stop, made.step, unroll=known and name == "range", is_asked=False)


def _mathematics(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    if keywords:
        raise t.type_error(node, f"`{name}` takes no keyword `{next(iter(keywords))}` in array programs")

    def function(elements: list[Scalar]) -> Scalar | tuple[Scalar, ...]:
        result = mathematics.apply(name, elements, t.fastmath)
        if name in _COUNTS and isinstance(result, Scalar) and any(isinstance(a, Cell) for a in args):
            return convert(result, BY_NAME["u8"])  # NumPy counts bits in bytes
        return result

    return elementwise.apply(t, node, args, function)


def _masked(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """``np.divide(a, b, out=c, where=m)``: `c` keeps its elements where `m` is false."""
    mask, out = keywords.pop("where"), keywords.pop("out", NoneValue())
    outputs.check_mask(t, node, name, mask, out)
    found = apply(t, node, name, args, keywords)
    return outputs.written(t, node, apply(t, node, "where", [mask, found, out], {}), out)


_OF_PYTHON = "builtins."
"""What names of Python's own functions begin with, where NumPy's of the name mean something else."""


def _check_python(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value]) -> None:
    """Refuse what Python's `sum`, `min` and `max` do otherwise than NumPy's."""
    first = args[0] if args else None
    if not isinstance(first, Cell) or not first.shape:
        return
    if name == "sum" and (len(args) > 1 or len(first.shape) > 1):
        raise t.type_error(node, "Python's `sum` adds the rows of an array to a start",
                           "write x.sum(axis=0) for rows, x.sum() for all elements; add the start")  # fmt: skip
    if name != "sum" and len(args) > 1:
        raise t.type_error(node, f"Python's `{name}` chooses among numbers, and this is {first.description}",
                           f"write pk.{name}imum(a, b) of arrays, x.{name}(axis=0) along an axis")  # fmt: skip


def _stacked(t: ProgramTranslator, node: ast.Call, name: str, value: Value) -> Value:
    """A tuple or list of arrays as NumPy's functions take it: one array. A few numbers are added as they are, where
    their sum has their type."""
    if not isinstance(value, TupleValue) or not value.items:
        return value
    if name not in ("sum", "min", "max") or any(_is_summed_wide(name, v) for v in value.items):
        return shaping.stacked(t, node, value)
    return value


def _is_summed_wide(name: str, value: Value) -> bool:
    """Whether it is an array with axes, or a number of a type that NumPy sums in a wider one."""
    if isinstance(value, Cell) and value.shape:
        return True
    if name != "sum" or not isinstance(value, Cell | Scalar):
        return False
    return not value.dtype.weak and sum_type(value.dtype) != value.dtype


def _extremum(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    """NumPy's reduction of an array; Python's choice among numbers."""
    if len(args) == 1 and isinstance(args[0], TupleValue) and not keywords:
        args = list(args[0].items)
    if args and isinstance(args[0], Cell) and (len(args) == 1 or args[0].shape or keywords):
        return reductions.call(t, node, name, args, keywords)
    if any(isinstance(a, Cell) and a.shape for a in args):
        raise t.type_error(node, f"`{name}` chooses among numbers", f"write pk.{name}imum(a, b) for arrays")
    return _mathematics(t, node, f"{name}imum", args, keywords)


def _python_sum(t: ProgramTranslator, node: ast.Call, items: tuple[Value, ...]) -> Value:
    """``sum((a, b))``: Python's sum over a tuple of numbers or arrays."""
    total: Value = Scalar(weak_int, const=0)
    for item in items:
        total = t.binary(node, ast.Add(), total, item)
    return total


def _python_cast(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value]) -> Value:
    """``float(x)`` of a number."""
    if len(args) != 1:
        raise t.type_error(node, f"`{name}` takes one value")
    return convert(t.as_scalar(node, args[0]), language_ops.CASTS[name])


def _conversion(name: str, function: Callable[..., Value]) -> Callable:
    """``pk.cast(x, dtype)`` and what is like it."""

    def call(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        given = arguments.bind(t, node, name, "x dtype", args, keywords)
        return function(t, node, given["x"], arguments.dtype(t, node, given["dtype"], weak_int))

    return call


def _where(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "where", "condition a b", args, keywords)
    a, b = (arguments.array(t, node, v) if arguments.is_sequence(v) else v for v in (given["a"], given["b"]))
    for operand in (a, b):
        if not isinstance(operand, Scalar | Cell):
            raise t.type_error(node, f"`where` chooses between arrays or numbers, not {describe(operand)}")

    def choose(elements: list[Scalar]) -> Scalar:
        result = mathematics.apply("where", elements, t.fastmath)
        assert isinstance(result, Scalar)
        return result

    return elementwise.apply(t, node, [given["condition"], a, b], choose)


def _random(name: str) -> Callable:
    def apply(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
        wanted = arguments.dtype(t, node, keywords.pop("dtype", NoneValue()), f32)
        if keywords or len(args) < 2:
            raise t.type_error(node, f"pk.{name} takes a seed, counters and a dtype",
                               f"write pk.{name}(seed, pk.arange(n))")  # fmt: skip
        return elementwise.apply(t, node, args, lambda e: philox.draw(name, e[0], e[1:], wanted, t.fastmath))

    return apply


def _stop_gradient(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    value = arguments.bind(t, node, "stop_gradient", "x", args, keywords)["x"]
    if isinstance(value, TupleValue):
        return TupleValue(
            tuple(_stop_gradient(t, node, [v], {}) for v in value.items), value.name, value.fields
        )
    if isinstance(value, Scalar):
        return Scalar(value.dtype, StopGradientOp.create(materialise(value)))
    cell = arguments.array(t, node, value)
    return cell.view(Cell(cell.dtype, cell.shape, StopGradientOp.create(cell.ssa), is_scalar=cell.is_scalar))


def _length(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    value = arguments.bind(t, node, "len", "x", args, keywords)["x"]
    if isinstance(value, TupleValue | DictValue):
        return Scalar(weak_int, const=len(value.items))
    if not isinstance(value, Cell) or not value.shape:
        raise t.type_error(node, f"len takes an array or a tuple, not {describe(value)}")
    return Scalar(weak_int, const=value.shape[0])


def _enumerate(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "enumerate", "items start=", args, keywords)
    start = given["start"]
    first = 0 if isinstance(start, NoneValue) else arguments.integer(t, node, start, "the start")
    items = t.items(node, given["items"])
    return TupleValue(tuple(TupleValue((Scalar(weak_int, const=first + k), v)) for k, v in enumerate(items)))


def _zip(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    strict = arguments.flag(t, node, keywords.get("strict", NoneValue()), "`strict`")
    columns = [t.items(node, a) for a in args]
    if strict and len({len(column) for column in columns}) > 1:
        raise t.type_error(node, f"zip runs over {' and '.join(str(len(c)) for c in columns)} items")
    return TupleValue(tuple(TupleValue(row) for row in zip(*columns, strict=False)))


def _reversed(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    value = arguments.bind(t, node, "reversed", "items", args, keywords)["items"]
    if not isinstance(value, RangeValue) or not value.unroll:
        return TupleValue(tuple(reversed(t.items(node, value))))
    numbers = unrolling.constant_values(value)[::-1]
    bounds = (Scalar(weak_int, const=number) for number in (numbers.start, numbers.stop, numbers.step))
    return RangeValue(*bounds, unroll=True, is_asked=value.is_asked)


def _unroll(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    value = arguments.bind(t, node, "unroll", "items", args, keywords)["items"]
    if isinstance(value, RangeValue):
        return RangeValue(value.start, value.stop, value.step, unroll=True)
    return TupleValue(tuple(t.items(node, value)))


def _static(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    value = arguments.bind(t, node, "static", "value", args, keywords)["value"]
    if isinstance(value, Cell) or (isinstance(value, Scalar) and not value.is_const):
        raise unknown(t, node, [value], "pk.static takes a value that is known at compile time",
                      "pass it as a `name: pk.static` parameter")  # fmt: skip
    return value


_NUMBERS = {"bool": bool, "float": float, "int": int}


def _is_instance(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    """``isinstance(x, tuple)``, `list` or `dict`: structures are known when compiling. ``isinstance(x, pk.static)``:
    whether `x` is; what is may be asked for Python's types of numbers, too."""
    given = arguments.bind(t, node, "isinstance", "x kind", args, keywords)
    value, kind = given["x"], given["kind"]
    name = kind.name if isinstance(kind, LanguageName) else ""
    if name in structures.NAMES:
        return Scalar(bool_, const=structures.kind(value) == name)
    if name == "static":
        return Scalar(bool_, const=_is_known(value))
    if name in _NUMBERS and _is_known(value):
        return Scalar(bool_, const=isinstance(value, Scalar) and isinstance(value.const, _NUMBERS[name]))
    raise t.type_error(node, "isinstance asks for tuple, list or dict in array programs",
                       "types of numbers are known when compiling: compare x.dtype == pk.f32")  # fmt: skip


def _is_known(value: Value) -> bool:
    """Whether a value is known when compiling."""
    if isinstance(value, TupleValue | DictValue):
        return all(_is_known(part) for part in parts(value))
    return not isinstance(value, Cell) and not (isinstance(value, Scalar) and not value.is_const)


HANDLERS: dict[str, Callable] = {
    **shaping.HANDLERS, **new_arrays.HANDLERS, **tiles.HANDLERS, **operators.HANDLERS, **rearranging.HANDLERS,
    **stacking.HANDLERS, **diagonals.HANDLERS, **summaries.HANDLERS, **einsum.HANDLERS, **numerics.HANDLERS,
    **ufunc_methods.HANDLERS, **atomics.HANDLERS, **padding.HANDLERS,
    **sorting.HANDLERS, **windows.HANDLERS, **linear_algebra.HANDLERS, **fourier.HANDLERS,
    **factorizations.HANDLERS,
    "cast": _conversion("cast", elementwise.cast), "bitcast": _conversion("bitcast", elementwise.bitcast),
    "where": _where, "stop_gradient": _stop_gradient, "len": _length,
    "enumerate": _enumerate, "zip": _zip, "reversed": _reversed, "unroll": _unroll, "static": _static,
    "isinstance": _is_instance,
    **{name: _random(name) for name in philox.NAMES},
}  # fmt: skip
